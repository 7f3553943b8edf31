"""Prints the row of an Envoy in interface.c: the functions that it exports to modules.

    python3 integrations/envoy/interface.py ENVOY..."""

import re
import subprocess
import sys


def fnv1a(name):
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    return hashed


for envoy in sys.argv[1:]:
    symbols = subprocess.run(["nm", "-D", "--defined-only", envoy], capture_output=True, text=True, check=True).stdout
    names = re.findall(r" (envoy_dynamic_module_callback_\w+)$", symbols, re.M)
    version = subprocess.run([envoy, "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"/(\d+\.\d+)\.\d+/", version).group(1)
    print(f'{{"{release}", …, {len(names)}, UINT64_C(0x{sum(map(fnv1a, names)) % 2**64:016x})}}')

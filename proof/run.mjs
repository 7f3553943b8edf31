// The exports of the WebAssembly module, on each sample, in slices of the sizes of main.c: prints the sums as main.c does.
// node run.mjs MODULE SAMPLE...
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const CUTS = [1, 7, 64, 1 << 20];
const [path, ...samples] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(path));

// What cannot be reached is not imported: a panic would be.
const imports = WebAssembly.Module.imports(module);
if (imports.length > 0) throw new Error(`it imports ${imports.map(({ name }) => name).join(', ')}`);

const { exports } = new WebAssembly.Instance(module);
const drives = Object.keys(exports).filter((name) => name.startsWith('proof_')).sort();
if (drives.length === 0) throw new Error('it exports no drive');

// The samples are put behind all that the module has.
const PAGE = 65536;
const start = exports.memory.grow(1) * PAGE;
let end = start + PAGE;

for (const sample of samples) {
  const bytes = readFileSync(sample);
  while (start + bytes.length > end) {
    exports.memory.grow(1);
    end += PAGE;
  }
  new Uint8Array(exports.memory.buffer).set(bytes, start);
  console.log(`sum ${basename(sample)}`);
  for (const name of drives) {
    let sum = 0n;
    for (const cut of CUTS) {
      // An i64 comes with its sign.
      const said = BigInt.asUintN(64, exports[name](start, bytes.length, cut));
      sum = BigInt.asUintN(64, (sum ^ said) * 0x100_0000_01b3n);
    }
    console.log(`sum ${name} ${sum.toString(16).padStart(16, '0')}`);
  }
}

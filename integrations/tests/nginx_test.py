"""Runs Debian's nginx with the module in front of upstream.py, and the cases of nginx_cases.py.

    python3 nginx_test.py MODULE FOLDER [CASE...]   MODULE is the shared library, FOLDER is for logs and temporary files; `alone` is
                                                    every case that one process of nginx can pass

DELTAWIRE_COMMAND names the command `deltawire`, DELTAWIRE_CORPUS the recordings (optional). WRAP, if set, is put before nginx's command:
valgrind. Prints `ok CASE: …` for each case."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from client import Connection, free_ports
from expect import numbers

HERE = Path(__file__).resolve().parent
FACTS = (
    "prompt_tokens completion_tokens cached_tokens reasoning_tokens total_tokens events output_chars ttft_ms output_ms max_gap_ms model protocol "
    "finish_reason verdict complete error quirks ended_by cached"
).split()

CONFIG = """
load_module {module};
pid {folder}/nginx.pid;
error_log {folder}/error.log info;
user {user};
worker_processes {workers};
worker_shutdown_timeout 20s;
daemon off;
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {folder}/temp/body;
    proxy_temp_path {folder}/temp/proxy;
    fastcgi_temp_path {folder}/temp/fastcgi;
    uwsgi_temp_path {folder}/temp/uwsgi;
    scgi_temp_path {folder}/temp/scgi;
    proxy_cache_path {folder}/temp/cache keys_zone=cache:1m;
    log_format facts escape=json '{{"id":"$http_x_id","uri":"$request_uri","status":"$status",{facts}}}';
    map $llm_prompt_tokens $has_usage {{ default 1; "" 0; }}
    access_log {folder}/access.log facts;
    log_subrequest on;
    access_log {folder}/usage.log facts if=$has_usage;
    sendfile on;
    keepalive_requests 1000000;
    upstream bodies {{ server 127.0.0.1:{upstream}; keepalive 64; }}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Accept-Encoding identity;
    deltawire on;
    deltawire_hide_usage $http_x_hide_usage;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        listen 127.0.0.1:{port2} http2;
        listen 127.0.0.1:{port3} sndbuf=64k;
        location /body/ {{ proxy_pass http://bodies; }}
        location /raw/ {{ proxy_buffering off; rewrite ^/raw/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /disk/ {{
            proxy_buffer_size 4k; proxy_buffers 2 4k; proxy_busy_buffers_size 4k;
            rewrite ^/disk/(.*)$ /$1 break; proxy_pass http://bodies;
        }}
        location /memory/ {{ proxy_max_temp_file_size 0; rewrite ^/memory/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /gzip/ {{ gzip on; gzip_types *; gzip_min_length 1; rewrite ^/gzip/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /large/ {{ deltawire_max_event 2m; rewrite ^/large/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /small/ {{ deltawire_max_event 64k; rewrite ^/small/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /off/ {{ deltawire off; rewrite ^/off/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /plain/ {{ deltawire_types text/plain; rewrite ^/plain/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /any/ {{ deltawire_types *; rewrite ^/any/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /trailer/ {{ add_trailer x-tokens $llm_completion_tokens; rewrite ^/trailer/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /cache/ {{
            proxy_cache cache; proxy_cache_valid 200 1m; proxy_cache_key $uri; add_header x-cache $upstream_cache_status;
            proxy_force_ranges on; rewrite ^/cache/(.*)$ /$1 break; proxy_pass http://bodies;
        }}
        location /mirror/ {{ mirror /mirrored; rewrite ^/mirror/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location = /mirrored {{ internal; proxy_pass http://bodies/body/samples/usage.sse; }}
        location /auth/ {{ auth_request /allowed; rewrite ^/auth/(.*)$ /$1 break; proxy_pass http://bodies; }}
        location /refused/ {{ auth_request /forbidden; proxy_pass http://bodies; }}
        location = /allowed {{ internal; proxy_pass http://bodies/body/samples/usage.sse; }}
        location = /forbidden {{ internal; return 403; }}
        location /fallback/ {{
            proxy_intercept_errors on; error_page 503 = /body/samples/content.sse;
            rewrite ^/fallback/(.*)$ /$1 break; proxy_pass http://bodies;
        }}
        location /dead/ {{ proxy_pass http://127.0.0.1:{dead}; }}
        location /accel/ {{ rewrite ^ /redirects/ break; proxy_pass http://127.0.0.1:{port}; }}
        location /redirects/ {{
            deltawire off; access_log off; default_type text/event-stream;
            add_header X-Accel-Redirect $arg_to; return 200 'data: {{"object":"chat.completion.chunk","usage":{{"prompt_tokens":999}}}}\n\n';
        }}
        location = /local {{ default_type application/json; return 200 '{{"object":"chat.completion","usage":{{"prompt_tokens":5}},"choices":[]}}'; }}
        location /file/ {{ default_type text/event-stream; types {{ }} alias {samples}/; }}
    }}
}}
"""


class Nginx:
    """A running nginx, and the upstream behind it."""

    def __init__(self, module, folder, workers=2, wrap=()):
        self.folder = Path(folder).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "temp").mkdir(parents=True)
        self.module = self.folder / "module.so"
        shutil.copy(module, self.module)
        self.port, self.port2, self.port3, self.dead = free_ports(4)
        self.upstream = subprocess.Popen([sys.executable, "-B", HERE / "upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.upstream_port = int(self.upstream.stdout.readline())
        self.write_config(workers=workers)
        self.wrap, self.lines, self.at, self.lock = list(wrap), {}, 0, threading.Lock()
        single = ["-g", "master_process off;"] if wrap else []
        self.process = subprocess.Popen([*self.wrap, "nginx", "-c", self.config, "-e", self.folder / "error.log", *single])
        self.wait_for_port()

    def write_config(self, name="nginx.conf", workers=2, change=("", "")):
        text = CONFIG.format(
            module=self.module, folder=self.folder, upstream=self.upstream_port, port=self.port, port2=self.port2, port3=self.port3, dead=self.dead, workers=workers,
            samples=HERE.parents[1] / "samples", user="root" if os.getuid() == 0 else "nobody", facts=",".join(f'"{fact}":"$llm_{fact}"' for fact in FACTS),
        )
        assert change[0] in text
        self.config = self.folder / "nginx.conf"
        path = self.folder / name
        path.write_text(text.replace(*change, 1) if change[0] else text)
        return path

    def wait_for_port(self):
        deadline = time.monotonic() + (60 if self.wrap else 10)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise SystemExit("nginx does not start:\n" + self.errors()) from None
                time.sleep(0.05)

    def errors(self):
        path = self.folder / "error.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def workers(self):
        """Returns the processes of the workers."""
        found = []
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                text = status.read_text()
                if f"\nPPid:\t{self.process.pid}\n" in text and "shutting down" not in (status.parent / "cmdline").read_text():
                    found.append(int(status.parent.name))
            except OSError:
                continue
        return found

    @staticmethod
    def new_id():
        return os.urandom(8).hex()

    def log_of(self, identity, timeout=10):
        """Returns the lines of the access log of one request, as soon as there is one."""
        deadline = time.monotonic() + timeout
        while True:
            with self.lock:
                self.read_log()
                if identity in self.lines:
                    return list(self.lines[identity])
            assert time.monotonic() < deadline, f"no log line of {identity}"
            time.sleep(0.01)

    def read_log(self):
        with open(self.folder / "access.log", "rb") as log:
            log.seek(self.at)
            data = log.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.at += len(whole)
        for line in whole.splitlines():
            entry = json.loads(line)
            self.lines.setdefault(entry["id"], []).append(entry)

    def get(self, path, headers=(), connection=None, **how):
        """Returns the response, and the facts of the one line in the access log."""
        identity = self.new_id()
        used = connection or Connection(self.port)
        response = used.get(path, {**dict(headers), "x-id": identity}, **how)
        if connection is None:
            used.close()
        return response, identity

    def facts(self, identity):
        lines = self.log_of(identity)
        assert len(lines) == 1, lines
        return numbers(lines[0])

    def fetch(self, path, headers=(), connection=None, **how):
        response, identity = self.get(path, headers, connection, **how)
        return response, self.facts(identity)

    def stop(self):
        """Ends nginx as its service does, and returns what in its log must not be there."""
        self.process.send_signal(signal.SIGQUIT)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.upstream.stdin.close()
            self.upstream.wait(10)
        bad = [line for line in self.errors().splitlines() if any(word in line for word in ("[emerg]", "[alert]", "[crit]", "signal 11", "signal 6"))]
        if self.process.returncode != 0:
            bad.append(f"nginx ended with {self.process.returncode}")
        return bad


def main():
    import nginx_cases

    module, folder, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    if os.getuid() != 0:
        os.environ["PATH"] += ":/usr/sbin"
    wrap = os.environ.get("WRAP", "").split()
    nginx = Nginx(module, folder, wrap=wrap)
    try:
        for case in nginx_cases.CASES:
            if only and case.__name__ not in only and not ("alone" in only and case not in nginx_cases.NOT_ALONE):
                continue
            began = time.monotonic()
            said = case(nginx)
            print(f"ok {case.__name__}: {said} ({time.monotonic() - began:.1f} s)", flush=True)
    finally:
        bad = nginx.stop()
    assert not bad, "\n".join(bad[:20])


if __name__ == "__main__":
    main()

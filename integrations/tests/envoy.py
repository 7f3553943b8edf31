"""Stock Envoy with the module, in front of upstream.py, on loopback."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from client import free_ports

HERE = Path(__file__).resolve().parent
V3 = "type.googleapis.com/envoy.extensions"
MODELS = ["gpt-4o", "llama3-8b-8192", "m1"]


def start_upstream():
    """Returns the process and its port."""
    process = subprocess.Popen([sys.executable, "-B", HERE / "upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def address(port):
    return {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}


def cluster(name, port, http2=False):
    options = {"http2_protocol_options": {}} if http2 else {"http_protocol_options": {"enable_trailers": True}}
    return {
        "name": name, "type": "STATIC", "connect_timeout": "2s",
        "circuit_breakers": {"thresholds": [{"max_connections": 4096, "max_requests": 4096, "max_pending_requests": 4096}]},
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [{"endpoint": address(port)}]}]},
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": f"{V3}.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": options}},
    }


def module(options=None):
    """The filter. `options` is what `filter_config` has: a dict, or a text."""
    config = {"@type": f"{V3}.filters.http.dynamic_modules.v3.DynamicModuleFilter", "dynamic_module_config": {"name": "deltawire_envoy"}, "filter_name": "deltawire"}
    if isinstance(options, dict):
        config["filter_config"] = {"@type": "type.googleapis.com/google.protobuf.Struct", "value": options}
    elif options is not None:
        config["filter_config"] = {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": options}
    return {"name": "deltawire", "typed_config": config}


COMPRESSOR = {"name": "compressor", "typed_config": {
    "@type": f"{V3}.filters.http.compressor.v3.Compressor",
    "compressor_library": {"name": "gzip", "typed_config": {"@type": f"{V3}.compression.gzip.compressor.v3.Gzip"}}}}


def listener(name, port, filters, log, routes, internal=()):
    manager = {
        "@type": f"{V3}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": name,
        "http_protocol_options": {"enable_trailers": True},
        "upgrade_configs": [{"upgrade_type": "websocket"}, {"upgrade_type": "CONNECT"}],
        "route_config": {"name": name, "internal_only_headers": list(internal), "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
        "http_filters": [*filters, {"name": "router", "typed_config": {"@type": f"{V3}.filters.http.router.v3.Router"}}],
    }
    if log:
        form = {"id": "%REQ(x-case)%", "status": "%RESPONSE_CODE%", "details": "%RESPONSE_CODE_DETAILS%", "protocol": "%PROTOCOL%",
                "facts": "%DYNAMIC_METADATA(deltawire)%", "peer": "%DYNAMIC_METADATA(peer)%"}
        manager["access_log"] = [{"name": "file", "typed_config": {
            "@type": f"{V3}.access_loggers.file.v3.FileAccessLog", "path": str(log), "log_format": {"json_format": form}}}]
    return {"name": name, **address(port), "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}]}


def routes(target):
    """Routes to the cluster. What a path begins with selects what is tried."""
    to = {"cluster": target, "timeout": "60s"}
    redirect = {"max_internal_redirects": 2, "redirect_response_codes": [302]}
    return [
        {"match": {"connect_matcher": {}}, "route": {**to, "upgrade_configs": [{"upgrade_type": "CONNECT", "connect_config": {}}]}},
        {"match": {"prefix": "/local"}, "direct_response": {"status": 200, "body": {"inline_string": "data: {}\n\n"}},
         "response_headers_to_add": [{"header": {"key": "content-type", "value": "text/event-stream"}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}]},
        {"match": {"prefix": "/nowhere"}, "route": {"cluster": "nowhere"}},
        {"match": {"prefix": "/http2/"}, "route": {**to, "cluster": "upstream_http2"}},
        {"match": {"prefix": "/redirect/"}, "route": {**to, "internal_redirect_policy": redirect}},
        {"match": {"prefix": "/retry/"}, "route": {**to, "retry_policy": {"retry_on": "5xx,reset", "num_retries": 3}}},
        {"match": {"prefix": "/late/"}, "route": {**to, "timeout": "0.5s"}},
        {"match": {"prefix": "/"}, "route": to},
    ]


class Envoy:
    """A running Envoy. `main` has the module with the options of the tests, `small` with others; `front` is one without it that speaks
    HTTP/2 to `main`, and `back` one that `main` speaks HTTP/2 to."""

    def __init__(self, binary, library, upstream, work, concurrency=2, filters=None):
        self.work = Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.main, self.small, self.front, self.back, self.admin, nowhere = free_ports(6)
        self.log = self.work / "access.log"
        self.log.unlink(missing_ok=True)
        self.read = 0
        self.lines = {}
        self.reading = threading.Lock()
        main = filters if filters is not None else [module({"models": MODELS, "hide_usage": "x-hide-usage"})]
        small = [COMPRESSOR, module(json.dumps({"max_event": 4096, "content_types": ["text/event-stream", "text/plain"], "hide_usage": "x-hide-usage"}))]
        config = {
            "admin": address(self.admin),
            "static_resources": {
                "listeners": [
                    listener("main", self.main, main, self.log, routes("upstream")),
                    listener("small", self.small, small if filters is None else [], self.log, routes("upstream"), ["x-hide-usage"]),
                    listener("front", self.front, [], None, routes("main_http2")[-1:]),
                    listener("back", self.back, [], None, routes("upstream")[-1:]),
                ],
                "clusters": [
                    cluster("upstream", upstream), cluster("nowhere", nowhere),
                    cluster("main_http2", self.main, True), cluster("upstream_http2", self.back, True),
                ],
            },
        }
        self.process, self.said = run(binary, library, config, self.work, concurrency)
        deadline = time.monotonic() + 30
        while True:
            try:
                if self.ask("/ready").startswith("LIVE"):
                    break
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Envoy did not start:\n{self.said.read_text()[-3000:]}")
            time.sleep(0.05)

    def ask(self, path, method="GET"):
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.admin}{path}", method=method), timeout=10) as answer:
            return answer.read().decode()

    def logged(self, case, timeout=10):
        """Returns the only line of the access log with this case."""
        deadline = time.monotonic() + timeout
        while case not in self.lines:
            self.read_log()
            if case in self.lines:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"no line in the access log for {case}")
            time.sleep(0.02)
        line = self.lines[case]
        assert len(line) == 1, f"{len(line)} lines for {case}"
        return line[0]

    def facts(self, case):
        return self.logged(case)["facts"] or {}

    def read_log(self):
        with self.reading:
            if not self.log.exists():
                return
            with self.log.open("rb") as log:
                log.seek(self.read)
                data = log.read()
            data = data[: data.rfind(b"\n") + 1]
            self.read += len(data)
            for line in data.splitlines():
                line = json.loads(line)
                self.lines.setdefault(line["id"], []).append(line)

    def rss(self):
        """Resident memory, in KiB."""
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text()).group(1))

    def seconds(self):
        """Processor time so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def alive(self):
        assert self.process.poll() is None, f"Envoy ended with {self.process.returncode}:\n{self.said.read_text()[-3000:]}"

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


def run(binary, library, config, work, concurrency=1):
    """Starts Envoy with the library in the folder `library`, and a configuration or the file of one. Returns the process, and the file of
    what it says."""
    path, said = config, work / "envoy.log"
    if isinstance(config, dict):
        path = work / "envoy.json"
        path.write_text(json.dumps(config))
    arguments = [binary, "-c", path, "--concurrency", str(concurrency), "--use-dynamic-base-id", "--file-flush-interval-msec", "50", "-l", "warning",
                 "--drain-time-s", "2", "--parent-shutdown-time-s", "3"]
    environment = {**os.environ, "ENVOY_DYNAMIC_MODULES_SEARCH_PATH": str(library)}
    with said.open("wb") as log:
        return subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment), said

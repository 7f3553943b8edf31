"""An HTTP/1.1 server on loopback that serves bodies as servers of models do, and as they fail.

    python3 upstream.py [PORT]      prints its port, and serves until its standard input is closed

The path names a body of bodies.py: /body/streams/NAME.sse. The query says how to serve it; all are optional:

    chunk=N      bytes a write, each in its own segment and its own HTTP chunk (16384)
    frame=WORD   chunked (the default), length (content-length), close (until the connection is closed)
    cut=N        only the first N bytes
    end=WORD     ok (the HTTP message ends as it should, also after a cut; the default), close (the connection is closed
                 before the message ends), reset (it is reset)
    hold=MS      waits before `end`
    pause=MS     waits after each write
    wait=MS      waits before the head
    type=TYPE    the content type, instead of the one that belongs to the file's name
    encoding=W   gzip compresses the body; another word is only said
    trailers=1   a trailer `x-checksum: 1` (with frame=chunked)
    status=N     the status; 302 has a location, the rest of the query `location=PATH`
    fails=N&id=W the first N requests with this id fail: 503, or with failby=reset a reset after half of the body
"""

import gzip
import os
import socket
import socketserver
import struct
import sys
import threading
import time
from urllib.parse import parse_qsl, unquote, urlsplit

from bodies import bodies, content_type

BODIES = bodies()
REASONS = {200: "OK", 204: "No Content", 206: "Partial Content", 302: "Found", 304: "Not Modified", 503: "Service Unavailable"}
failed = {}
lock = threading.Lock()


class Broken(Exception):
    """The client closed the connection, or the server does."""


class Handler(socketserver.BaseRequestHandler):
    def setup(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def handle(self):
        try:
            while self.serve():
                pass
        except (Broken, ConnectionError, TimeoutError):
            pass

    def read_until(self, end):
        while end not in self.buffer:
            data = self.request.recv(65536)
            if not data:
                raise Broken
            self.buffer += data
        head, self.buffer = self.buffer.split(end, 1)
        return head

    def read_exactly(self, size):
        while len(self.buffer) < size:
            data = self.request.recv(65536)
            if not data:
                raise Broken
            self.buffer += data
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def serve(self):
        """Answers one request. Returns whether the connection stays open."""
        lines = self.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        if headers.get("upgrade"):
            return self.echo(headers)
        if "chunked" in headers.get("transfer-encoding", ""):
            while size := int(self.read_until(b"\r\n").split(b";")[0], 16):
                self.read_exactly(size + 2)
            self.read_until(b"\r\n")
        else:
            self.read_exactly(int(headers.get("content-length", "0")))
        url = urlsplit(target)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        name = unquote(url.path).removeprefix("/")
        name = name.split("body/", 1)[-1]
        if name not in BODIES:
            self.request.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            return True
        return self.answer(method, name, query, headers)

    def echo(self, headers):
        """Switches protocols, then sends a whole body of an event stream, which nobody should read, and what comes."""
        self.request.sendall(f"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: {headers['upgrade']}\r\n\r\n".encode())
        self.request.sendall(BODIES["samples/usage.sse"])
        while data := self.buffer or self.request.recv(65536):
            self.buffer = b""
            self.request.sendall(data)
        return False

    def answer(self, method, name, query, headers):
        body = BODIES[name]
        status = int(query.get("status", "200"))
        end = query.get("end", "ok")
        cut = min(int(query.get("cut", len(body))), len(body))
        extra = []
        if int(query.get("fails", "0")) > 0:
            with lock:
                failed[query["id"]] = failed.get(query["id"], 0) + 1
                fails = failed[query["id"]] <= int(query["fails"])
            if fails and query.get("failby") == "reset":
                cut, end = len(body) // 2, "reset"
            elif fails:
                status = 503
        body = body[:cut]
        if query.get("encoding"):
            extra.append(f"content-encoding: {query['encoding']}")
            if query["encoding"] == "gzip":
                body = gzip.compress(body)
        if "location" in query:
            extra.append(f"location: {query['location']}")
        time.sleep(int(query.get("wait", "0")) / 1000)
        frame = query.get("frame", "chunked")
        empty = method == "HEAD" or status in (204, 304)
        if empty and status == 204:
            pass
        elif frame == "chunked":
            extra.append("transfer-encoding: chunked")
            if query.get("trailers"):
                extra.append("trailer: x-checksum")
        elif frame == "length":
            extra.append(f"content-length: {len(body) if end == 'ok' else len(body) + 1000}")
        else:
            extra.append("connection: close")
        head = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", f"content-type: {query.get('type', content_type(name))}", *extra]
        self.request.sendall("\r\n".join([*head, "", ""]).encode("latin-1"))
        if empty:
            return True
        self.send_body(body, int(query.get("chunk", "16384")), frame == "chunked", int(query.get("pause", "0")) / 1000)
        time.sleep(int(query.get("hold", "0")) / 1000)
        if end == "reset":
            # With a time of 0, closing sends a reset.
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.request.close()
            raise Broken
        if end == "close" or frame == "close":
            return False
        if frame == "chunked":
            self.request.sendall(b"0\r\nx-checksum: 1\r\n\r\n" if query.get("trailers") else b"0\r\n\r\n")
        return headers.get("connection", "") != "close"

    def send_body(self, body, chunk, chunked, pause):
        for at in range(0, len(body), chunk):
            piece = body[at : at + chunk]
            self.request.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            if pause:
                time.sleep(pause)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024


def main():
    with Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()
        os._exit(0)


if __name__ == "__main__":
    main()

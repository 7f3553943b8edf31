#!/usr/bin/env python3
"""A loopback HTTP/1.1 server that serves recorded streams the unkind way.

server.py FILE...: prints its port, serves /NAME (the file's last path component) until standard input is closed.

The query says how (all optional, all seeded, so that a failure can be repeated):

  flush=whole    one chunk                    flush=utf8    chunks end inside each character that is not ASCII
  flush=bytes    a byte each                  flush=crlf    chunks end after each CR, and between the two LFs of an event
  flush=lines    a line each                  flush=midline chunks end somewhere inside each line
  flush=random   1 to `max` bytes (64)        seed=N        for random and midline
  tcp=1          the bytes of the chunked coding are themselves sent in odd pieces: a chunk's size line is cut too
  frame=length   Content-Length instead of chunks; frame=close: neither, the connection is closed at the end
  cut=event      the connection is closed in mid-event, between two chunks, at `at` bytes of the body (default: half)
  cut=chunk      the same inside a chunk: its size line promised more
  cut=body       the body ends there as if that were all of it: a last chunk comes
  gzip=ask       Content-Encoding: gzip if the request accepts it; gzip=force: even if not
  stall=N        before the chunk N it waits until /release is asked for (10 seconds at most)
  status=N       the status; a body that is no event stream has type application/json
"""
import gzip
import os
import random
import socket
import sys
import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


def flushes(body, how, seed, most):
    """Returns the ends of the chunks: rising offsets into body, the last of which is its length."""
    rng = random.Random(seed)
    ends = set()
    if how == "bytes":
        ends.update(range(1, len(body)))
    elif how == "lines":
        ends.update(i + 1 for i, byte in enumerate(body) if byte == 0x0A)
    elif how == "utf8":
        ends.update(i for i, byte in enumerate(body) if byte & 0xC0 == 0x80)
    elif how == "crlf":
        ends.update(i + 1 for i, byte in enumerate(body) if byte == 0x0D or body[i : i + 2] == b"\n\n")
    elif how == "midline":
        start = 0
        for line in body.splitlines(keepends=True):
            if len(line) > 1:
                ends.add(start + rng.randrange(1, len(line)))
            start += len(line)
    elif how == "random":
        at = 0
        while at < len(body):
            at += rng.randint(1, most)
            ends.add(min(at, len(body)))
    elif how != "whole":
        raise ValueError(how)
    ends.add(len(body))
    ends.discard(0)
    return sorted(ends)


@lru_cache(4)
def wire(body, frame, cut, how, tcp, alone):
    """Yields the pieces that are written to the socket."""
    pieces, start = [], 0
    for end in flushes(body, *how):
        piece = body[start:end]
        start = end
        if frame == "chunked" and piece:
            promise = len(piece) + 1 if cut == "chunk" and end == len(body) else len(piece)
            piece = b"%x\r\n%s" % (promise, piece) + (b"\r\n" if promise == len(piece) else b"")
        pieces.append(piece)
    if frame == "chunked" and cut in (None, "body"):
        pieces.append(b"0\r\n\r\n")
    if tcp:
        raw = b"".join(pieces)
        ends = [0] + flushes(raw, "random", how[1] + 1, 23)
        pieces = [raw[a:b] for a, b in zip(ends, ends[1:])]
    # A system call for each byte of a large body would take too long.
    group = 1 if alone else 1 + len(pieces) // 4000
    return [b"".join(pieces[nth : nth + group]) for nth in range(0, len(pieces), group)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.requests = 0

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.posted = len(self.rfile.read(length))
        self.answer()

    def do_GET(self):
        self.posted = 0
        self.answer()

    def answer(self):
        self.requests += 1
        url = urlsplit(self.path)
        ask = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if url.path == "/release":
            self.server.released.set()
        body = self.server.bodies.get(unquote(url.path).lstrip("/"))
        if body is None:
            body, ask = b'{"error":{"message":"no such stream","code":404}}', {"status": "404"}
        seed = int(ask.get("seed", 1))
        stream = not body.lstrip().startswith((b"{", b"["))
        pack = ask.get("gzip") == "force" or (ask.get("gzip") and "gzip" in self.headers.get("Accept-Encoding", ""))
        if pack:
            body = gzip.compress(body, mtime=0)
        promised = len(body)
        cut = ask.get("cut")
        if cut:
            body = body[: int(ask.get("at", len(body) // 2))]
        frame = ask.get("frame", "chunked")

        self.send_response(int(ask.get("status", 200)))
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Request", str(self.requests))
        self.send_header("X-Posted", str(self.posted))
        if pack:
            self.send_header("Content-Encoding", "gzip")
        if frame == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif frame == "length":
            self.send_header("Content-Length", str(len(body) if cut == "body" else promised))
        else:
            self.send_header("Connection", "close")
        self.end_headers()

        stall = int(ask.get("stall", -1))
        if stall >= 0:
            self.server.released.clear()
        how = (ask.get("flush", "whole"), seed, int(ask.get("max", 64)))
        for nth, piece in enumerate(wire(body, frame, cut, how, "tcp" in ask, stall >= 0)):
            if nth == stall:
                self.server.released.wait(10)
            self.wfile.write(piece)
        if frame == "close" or cut in ("event", "chunk"):
            self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    bodies = {}
    released = threading.Event()

    def handle_error(self, request, client_address):
        # Clients that close the connection are part of the tests.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve(bodies):
    """Starts a server for these bodies by name, in a thread, and returns its port."""
    server = Server(("127.0.0.1", 0), Handler)
    server.bodies = bodies
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def load(paths):
    bodies = {}
    for path in paths:
        with open(path, "rb") as file:
            bodies[os.path.basename(path)] = file.read()
    return bodies


if __name__ == "__main__":
    print(serve(load(sys.argv[1:])), flush=True)
    sys.stdin.buffer.read()

"""A client of HTTP/1.1 that sees the bytes: how a body arrived, whether its message ended, its trailers."""

import socket
import threading
from queue import Empty, Queue


class Response:
    def __init__(self, status, headers):
        self.status, self.headers = status, headers
        self.body = b""
        self.trailers = {}
        # Whether the HTTP message came to its end.
        self.whole = False
        # The lengths of the body after each read.
        self.reads = []


class Connection:
    """A connection that is used again as long as the server keeps it."""

    def __init__(self, port, timeout=20):
        self.port, self.timeout = port, timeout
        self.socket = None
        self.buffer = b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.buffer = None, b""

    def receive(self):
        data = self.socket.recv(1 << 18)
        self.buffer += data
        return bool(data)

    def line(self):
        while b"\r\n" not in self.buffer:
            if not self.receive():
                raise EOFError
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def headers(self):
        found = {}
        while line := self.line():
            name, value = line.decode("latin-1").split(":", 1)
            found[name.strip().lower()] = value.strip()
        return found

    def send(self, path, headers=(), method="GET"):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), self.timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", *(f"{name}: {value}" for name, value in dict(headers).items()), "", ""]
        self.socket.sendall("\r\n".join(lines).encode("latin-1"))

    def head(self):
        status = int(self.line().split(b" ")[1])
        return Response(status, self.headers())

    def get(self, path, headers=(), method="GET", leave_after=None):
        """Returns the response. With `leave_after` it closes the connection when it has that many bytes of the body."""
        try:
            self.send(path, headers, method)
            response = self.head()
        except (ConnectionError, EOFError):
            # The server closed a connection that it kept until now.
            self.close()
            self.send(path, headers, method)
            response = self.head()
        try:
            self.body(response, method, leave_after)
        except (EOFError, ConnectionError):
            self.close()
        if not response.whole or response.headers.get("connection") == "close":
            self.close()
        return response

    def body(self, response, method, leave_after):
        def add(data):
            if data:
                response.body += data
                response.reads.append(len(response.body))
            if leave_after is not None and len(response.body) >= leave_after:
                raise EOFError

        coding, length = response.headers.get("transfer-encoding", ""), response.headers.get("content-length")
        if method == "HEAD" or response.status in (204, 304):
            pass
        elif "chunked" in coding:
            while size := int(self.line().split(b";")[0], 16):
                while size:
                    if not self.buffer and not self.receive():
                        raise EOFError
                    data, self.buffer = self.buffer[:size], self.buffer[size:]
                    size -= len(data)
                    add(data)
                self.line()
            response.trailers = self.headers()
        elif length is not None:
            left = int(length)
            while left:
                if not self.buffer and not self.receive():
                    raise EOFError
                data, self.buffer = self.buffer[:left], self.buffer[left:]
                left -= len(data)
                add(data)
        else:
            while self.buffer or self.receive():
                data, self.buffer = self.buffer, b""
                add(data)
            response.headers["connection"] = "close"
        response.whole = True


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def parallel(work, items, threads=8):
    """Calls work(item) for each item, in some threads. Returns the answers; raises the first exception."""
    queue, answers, errors = Queue(), [], []
    for item in items:
        queue.put(item)

    def run():
        try:
            while not errors:
                answers.append(work(queue.get_nowait()))
        except Empty:
            pass
        except BaseException as error:  # is raised again in the caller's thread
            errors.append(error)

    all_threads = [threading.Thread(target=run) for _ in range(threads)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    if errors:
        raise errors[0]
    return answers

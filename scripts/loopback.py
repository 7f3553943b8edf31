"""A server on this machine."""
import http.server
import threading


def serve(answer):
    """Answers each request with what `answer(path, body)` returns, a status and a body: bytes of an event stream, or a text of JSON.
    Returns the server's address."""

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            status, body = answer(self.path, self.rfile.read(int(self.headers.get("content-length", 0))))
            is_stream = isinstance(body, bytes)
            body = body if is_stream else body.encode()
            self.send_response(status)
            self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"

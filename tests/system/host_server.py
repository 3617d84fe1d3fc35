"""A web server on the host: on its loopback, which guests of a user network reach through the
gateway, or on an address of its own."""

import hashlib
import http.server
import random
import threading


class HostServer:
    """GET answers with `data`; POST with the checksum of what came. `halfway`, if set, is called
    once in the middle of an answer, so that a test can do something to a transfer in progress."""

    def __init__(self, size, address="127.0.0.1"):
        self.data = random.Random(1).randbytes(size)
        self.checksum = hashlib.sha256(self.data).hexdigest()
        self.received_checksum = None
        self.halfway = None
        self._server = http.server.ThreadingHTTPServer((address, 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self._server.server_address[1]

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self._begin(len(owner.data))
                middle = len(owner.data) // 2
                self.wfile.write(owner.data[:middle])
                halfway, owner.halfway = owner.halfway, None
                if halfway:
                    halfway()
                self.wfile.write(owner.data[middle:])

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.received_checksum = hashlib.sha256(body).hexdigest()
                self._begin(0)

            def _begin(self, size):
                self.send_response(200)
                self.send_header("Content-Length", str(size))
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler

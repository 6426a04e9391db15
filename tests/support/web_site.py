"""A web server for tests: what it answers is given path by path, and what it was asked is kept."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """What is at a path."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/plain"})


@dataclass(frozen=True)
class Asked:
    """A request. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class WebSite:
    """The server, on loopback; a context manager. A path without an answer is held for ever."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.asked: list[Asked] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(answers))
        self.port = self._server.server_address[1]

    def __enter__(self) -> WebSite:
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.01])
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self, answers: Mapping[str, Answer]) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(int(headers.get("content-length", 0)))
                site.asked.append(Asked(self.command, self.path, headers, body))
                if self.path not in answers:
                    site._closing.wait()
                    return
                answer = answers[self.path]
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            do_POST = do_GET  # noqa: N815 - as the base class wants it.

            def log_message(self, *args: object) -> None:
                """Says nothing."""

        return Handler

# SPDX-License-Identifier: Apache-2.0
"""A server between a client and a real one: it hands everything on, but for what a test has it lie about."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

DROPPED = ("transfer-encoding", "connection", "content-length", "date", "server")


@dataclass
class Told:
    """What the real server answered; a test changes it."""

    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: bytes
    lost: bool = False  # the connection breaks before the client hears of it

    def change(self, *names: str, to: Any) -> None:
        """Change a field of the JSON, if it is there."""
        data = found = json.loads(self.body)
        for name in names[:-1]:
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, dict) and names[-1] in found:
            found[names[-1]] = to
            self.body = json.dumps(data).encode()


@dataclass
class Between:
    """Where it listens, and the requests that came."""

    base: str
    seen: list[tuple[str, str, bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.base}/patients"


@contextmanager
def between(real: str, lie: Callable[[Told], None]) -> Iterator[Between]:
    """Listen, hand requests on to ``real``, and let ``lie`` change what comes back."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _hand_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            made.seen.append((self.command, self.path, body))
            headers = {name: item for name, item in self.headers.items() if name.lower() != "host"}
            found = httpx.request(
                self.command, f"{real}{self.path}", content=body, headers=headers, timeout=300
            )
            kept = {name: item for name, item in found.headers.items() if name not in DROPPED}
            told = Told(self.command, self.path, found.status_code, kept, found.content)
            lie(told)
            if told.lost:
                self.close_connection = True
                return
            self.send_response(told.status)
            for name, item in {**told.headers, "Content-Length": str(len(told.body))}.items():
                self.send_header(name, item)
            self.end_headers()
            self.wfile.write(told.body)

        do_GET = do_POST = do_PUT = do_DELETE = _hand_on  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Between(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

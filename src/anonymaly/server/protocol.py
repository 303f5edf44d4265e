# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 for clients that are slow on purpose: a request's head must arrive in time."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from anonymaly.server.headers import HEADERS
from anonymaly.server.problems import Problem


class TimedProtocol(H11Protocol):
    """uvicorn's protocol, which waits for ever for the rest of a head; this one does not."""

    head_seconds: ClassVar[float] = 15.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Take what came; stop the clock when the head of a request is whole."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self._timer is None and not self.transport.is_closing():
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP as all errors are answered; the words are not repeated."""
        problem = Problem(400, "is not a request in HTTP/1.1", next_step="Use a library for HTTP.").response()
        more = {**HEADERS, "Connection": "close"}
        headers = [*problem.raw_headers, *((name.encode(), text.encode()) for name, text in more.items())]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=bytes(problem.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _begin(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self._too_slow)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.abort()

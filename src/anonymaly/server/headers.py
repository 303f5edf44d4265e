# SPDX-License-Identifier: Apache-2.0
"""What is around every request: headers on everything, a line in the log, no error that gets out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anonymaly.server.counting import RequestCounts
from anonymaly.server.logs import fields
from anonymaly.server.problems import Problem, internal

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SEND_SECONDS = 60.0  # that a client may take for each part of an answer
logger = logging.getLogger(__name__)


class Outermost:
    """Adds headers, writes the log, and turns what should not happen into one constant answer."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self.app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                # A page has some of its own, for browsers.
                for name, value in (HEADERS | scope["state"].get("headers", {})).items():
                    headers[name] = value
                if has_body(scope) and "read" not in scope["state"]:
                    # What is not read of a body is not waited for either.
                    headers["Connection"] = "close"
            # Whoever does not take what they asked for is not waited for.
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        scope.setdefault("state", {})
        try:
            await self.app(scope, receive, sending)
        except Problem as problem:
            if not status:
                await _response(scope, problem)(scope, receive, sending)
        except TimeoutError:
            raise ConnectionAbortedError("a client was too slow") from None
        except Exception as error:
            # Its class and place only: its words may quote a question.
            logger.error("%s in %s", type(error).__name__, _place(error))
            if status:
                raise ConnectionAbortedError("an answer broke off") from None
            await _response(scope, internal())(scope, receive, sending)
        finally:
            state: dict[str, Any] = scope["state"]
            caller = state.get("caller")
            template = state.get("template", "-")
            person = "-" if caller is None else caller.person
            # What is no route has no method either: both may be anything.
            method = "-" if template == "-" else scope["method"]
            said = fields("request", method=method, route=template, status=status, analyst=person)
            logger.info("%s %s %d %s", method, template, status, person, extra=said)
            self._counts.add(method, template, status)


def _response(scope: Scope, problem: Problem) -> Response:
    """Return a problem as JSON, or as a page where the console shows one."""
    page: Callable[[Problem], Response] | None = scope["state"].get("problem_page")
    return problem.response() if page is None else page(problem)


def has_body(scope: Scope) -> bool:
    """Say whether a request announced a body."""
    names = dict(scope["headers"])
    return b"transfer-encoding" in names or names.get(b"content-length", b"0") != b"0"


def _place(error: BaseException) -> str:
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "-" if step is None else f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}"

# SPDX-License-Identifier: Apache-2.0
"""The gate: what every request passes before its route sees it, the cheapest checks first.

Size by the headers, key, rate, role, then the body: its size, depth and form. Whoever has no valid key learns
nothing but that, whatever they ask for; what a role may not do is not there for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anonymaly.server.headers import has_body
from anonymaly.server.limits import read_body, read_json, refuse_by_headers, refuse_depth
from anonymaly.server.permissions import PERMISSIONS, Permission
from anonymaly.server.problems import Problem, unauthorized, unknown
from anonymaly.server.services import Services

SHORT = 1 << 14  # bytes, read in about a tenth of a millisecond


class Admission:
    """Lets a request through to its route, or ends it with a problem."""

    def __init__(self, app: ASGIApp, services: Services, routes: Sequence[APIRoute]) -> None:
        self.app = app
        self._services = services
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        services = self._services
        limits = services.settings.limits
        refuse_by_headers(scope, limits)
        route, others = self._find(scope)
        if route is not None and (permission := permission_of(route)).anyone:
            scope["state"]["template"] = route.path
            await self.app(scope, _nothing_more(receive), send)
            return
        caller = await run_in_threadpool(services.authenticator.find, scope["headers"])
        if caller is None:
            raise unauthorized()
        scope["state"]["caller"] = caller
        services.rates.refuse_beyond(caller.key.id)
        if route is None:
            allowed = sorted(
                method
                for other in others
                if permission_of(other).anyone or caller.role in permission_of(other).roles
                for method in other.methods or ()
            )
            if allowed:
                raise _another_method(", ".join(allowed))
            raise unknown()
        scope["state"]["template"] = route.path
        if caller.role not in permission.roles:
            raise unknown()
        if not all(str(value).isprintable() for value in route.matches(scope)[1]["path_params"].values()):
            raise unknown()
        if not has_body(scope):
            await self.app(scope, _nothing_more(receive), send)
            return
        body = await read_body(receive, limits)
        if body is None:
            return
        scope["state"]["read"] = True
        if body:
            _refuse_other_types(scope)
            refuse_depth(body, limits.depth)
            # To have a thread read a short one takes longer than to read it.
            short = len(body) <= SHORT
            scope["state"]["json"] = read_json(body) if short else await run_in_threadpool(read_json, body)
        await self.app(scope, _again(body, receive), send)

    def _find(self, scope: Scope) -> tuple[APIRoute | None, list[APIRoute]]:
        """Return the route of a request, and those of its path for other methods."""
        others = []
        for route in self._routes:
            match, _ = route.matches(scope)
            if match is Match.FULL:
                return route, []
            if match is Match.PARTIAL:
                others.append(route)
        return None, others


def permission_of(route: APIRoute) -> Permission:
    """Return who may use a route; an error at the start if nobody said."""
    return PERMISSIONS[str(route.operation_id)]


def _refuse_other_types(scope: Scope) -> None:
    given = [value for name, value in scope["headers"] if name == b"content-type"]
    if len(given) == 1 and given[0].partition(b";")[0].strip().lower() == b"application/json":
        return
    raise Problem(
        415,
        "must be JSON",
        field="Content-Type",
        next_step="Send the header 'Content-Type: application/json'.",
    )


def _another_method(allowed: str) -> Problem:
    return Problem(
        405, f"takes only {allowed}", next_step="Look at /v1/openapi.json.", headers={"Allow": allowed}
    )


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a way to receive a body that was read before, and then what is said of the connection."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _nothing_more(receive: Receive) -> Receive:
    return _again(b"", receive)

# SPDX-License-Identifier: Apache-2.0
"""What the server is, what it can do, and who calls."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.looking import visible_tables
from anonymaly.server.replies import reply
from anonymaly.server.routes.route import Reply, Route
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.shown import moment
from anonymaly.version import __version__


class About(Reply):
    """The server."""

    name: str
    version: str


class Me(Reply):
    """The caller."""

    person: str
    role: str
    key: str
    expires_at: str | None
    tables: list[str]


def about() -> Response:
    """Say what this is."""
    return reply({"name": "anonymaly", "version": __version__})


def openapi(request: Request) -> Response:
    """Return this document."""
    return reply(request.app.openapi())


def me(request: Request) -> Response:
    """Say who calls, and which tables they may see."""
    services, caller = services_of(request), caller_of(request)
    return reply(
        {
            "person": caller.person,
            "role": caller.role,
            "key": caller.key.id,
            "expires_at": moment(caller.expires_at),
            "tables": visible_tables(services, caller),
        }
    )


ROUTES = (
    Route("GET", "/v1", about, About),
    Route("GET", "/v1/openapi.json", openapi, dict[str, Any]),
    Route("GET", "/v1/me", me, Me),
)

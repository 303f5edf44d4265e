# SPDX-License-Identifier: Apache-2.0
"""Tables: what is declared of them, and what the caller may spend."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.looking import table_of, visible_tables
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Page, Reply, Route
from anonymaly.server.services import caller_of, services_of, view


class TableReply(Reply):
    """A table as the caller may see it."""

    name: str
    declaration: dict[str, Any]
    adjacency: str
    questions: list[str]
    slots: dict[str, float]
    ready: bool
    paused: bool
    own: dict[str, Any] | None
    account: dict[str, Any] | None


def list_tables(request: Request, after: route.After = None, limit: route.Most = 50) -> Response:
    """List the tables that the caller may see."""
    services, caller = services_of(request), caller_of(request)
    seen = [name for name in visible_tables(services, caller) if after is None or name > after]
    return reply(route.page([{"name": name} for name in seen], seen, after, limit))


def get_table(request: Request, table: route.Table) -> Response:
    """Return what is declared of a table, and what the caller may spend."""
    return reply(table_of(view(services_of(request), caller_of(request), table)))


ROUTES = (
    Route("GET", "/v1/tables", list_tables, Page),
    Route("GET", "/v1/tables/{table}", get_table, TableReply),
)

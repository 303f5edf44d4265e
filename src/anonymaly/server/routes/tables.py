# SPDX-License-Identifier: Apache-2.0
"""Tables: what is declared of them, and what the caller may spend."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from anonymaly.errors import Refused
from anonymaly.server import shown
from anonymaly.server.published import list_tables as published_tables
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Page, Reply, Route
from anonymaly.server.services import View, caller_of, is_visible, services_of, view


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
    seen = [
        table.name
        for table in published_tables(services.state)
        if (after is None or table.name > after) and is_visible(services, caller, table)
    ]
    return reply(route.page([{"name": name} for name in seen], seen, after, limit))


def get_table(request: Request, table: route.Table) -> Response:
    """Return what is declared of a table, and what the caller may spend."""
    return reply(_table(view(services_of(request), caller_of(request), table)))


def _table(seen: View) -> dict[str, Any]:
    table, account = seen.table, seen.account
    return {
        "name": table.name,
        "declaration": table.plain,
        "adjacency": table.declaration.adjacency,
        "questions": list(table.questions),
        "slots": {name: table.slot(name) for name in table.questions},
        "ready": table.ready,
        "paused": seen.paused,
        "version": table.version,
        "own": _own(seen),
        "account": None if account is None else shown.account(account.to_dict()),
    }


def _own(seen: View) -> dict[str, Any] | None:
    """Return the caller's own limit as it stands, or as it stood when the grant ended."""
    if seen.grant is None:
        return None
    try:
        return shown.own(seen.allowance() or seen.grant)
    except Refused:
        return shown.own(seen.grant)


ROUTES = (
    Route("GET", "/v1/tables", list_tables, Page),
    Route("GET", "/v1/tables/{table}", get_table, TableReply),
)

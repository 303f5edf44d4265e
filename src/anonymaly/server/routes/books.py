# SPDX-License-Identifier: Apache-2.0
"""The account book: the statement, entries, and whether they verify."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.looking import statement_of
from anonymaly.server.problems import unknown
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Page, Reply, Route
from anonymaly.server.services import caller_of, services_of, view

LARGEST_ENTRY = 2**53


class VerificationReply(Reply):
    """What a check of the whole ledger found."""

    ok: bool
    entries: int
    problems: list[str]


def get_statement(request: Request, table: route.Table) -> Response:
    """Return what was spent and what is promised; an analyst's own charges for an analyst."""
    return reply(statement_of(services_of(request), caller_of(request), table))


def list_entries(
    request: Request,
    table: route.Table,
    after: Annotated[int, Query(ge=0, le=LARGEST_ENTRY, description="The number of the last entry seen")] = 0,
    limit: route.Most = 50,
) -> Response:
    """List the ledger's entries about a table, and about the ledger itself, oldest first."""
    services = services_of(request)
    ledger = services.ledgers.of(view(services, caller_of(request), table).table)
    found = [] if ledger is None else [item for item in ledger.entries(table) if item.seq > after]
    more = str(found[limit - 1].seq) if len(found) > limit else None
    return reply({"items": [item.to_dict() for item in found[:limit]], "next": more})


def verify_ledger(request: Request, table: route.Table) -> Response:
    """Check the whole ledger: every link of its chain, and every sum."""
    services = services_of(request)
    seen = view(services, caller_of(request), table)
    with services.ledgers.anew(seen.table) as ledger:
        if ledger is None:
            raise unknown()
        return reply(ledger.verify().to_dict())


ROUTES = (
    Route("GET", "/v1/tables/{table}/statement", get_statement, dict[str, Any]),
    Route("GET", "/v1/tables/{table}/ledger", list_entries, Page),
    Route("GET", "/v1/tables/{table}/ledger/verification", verify_ledger, VerificationReply),
)

# SPDX-License-Identifier: Apache-2.0
"""Grants: who may ask what of a table, for how much; ε is decimal text outside and nano-ε inside."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano
from anonymaly.server import shown
from anonymaly.server.problems import unknown
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Body, Epsilon, Name, Page, Reason, Reply, Route
from anonymaly.server.services import caller_of, services_of, view
from anonymaly.server.submitting import carry_out

Analyst = Annotated[str, Path(description="The analyst's name, as their keys have it")]
MOST_NAMED = 100


class PeriodBody(Body):
    """What may be spent in each period."""

    epsilon: Epsilon
    every: Literal["day", "week", "month", "year"]
    start: Annotated[str, Field(alias="from", min_length=10, max_length=10, description="A day: 2026-01-31")]


class GrantBody(Body):
    """What is granted. What is left out is not limited, except for rules: only those named may be cited."""

    total: Epsilon
    period: PeriodBody | None = None
    question_limit: Epsilon | None = None
    until: Annotated[str, Field(min_length=10, max_length=40, description="A moment in ISO 8601")] | None = (
        None
    )
    questions: Annotated[list[Name], Field(max_length=MOST_NAMED)] | None = None
    rules: (
        Annotated[
            dict[Name, int | bool | None],
            Field(max_length=MOST_NAMED, description='Rule → how many questions; "any": true for all others'),
        ]
        | None
    ) = None
    overcommit: bool = False
    reason: Reason


class GrantReply(Reply):
    """A grant."""

    analyst: str
    standing: bool


def list_grants(
    request: Request, table: route.Table, after: route.After = None, limit: route.Most = 50
) -> Response:
    """List the newest grant of each analyst, revoked ones among them."""
    services = services_of(request)
    found = services.ledgers.grants(view(services, caller_of(request), table).table)
    items = [shown.grant(item) for item in found]
    return reply(route.page(items, [item.analyst for item in found], after, limit))


def get_grant(request: Request, table: route.Table, analyst: Analyst) -> Response:
    """Return the newest grant of an analyst."""
    services = services_of(request)
    seen = view(services, caller_of(request), table)
    found = [item for item in services.ledgers.grants(seen.table) if item.analyst == analyst]
    if not found:
        raise unknown()
    return reply(shown.grant(found[0]))


async def put_grant(request: Request, table: route.Table, analyst: Analyst, body: GrantBody) -> Response:
    """Grant an analyst questions; it takes the place of an earlier grant."""
    services, caller = services_of(request), caller_of(request)
    seen = await run_in_threadpool(view, services, caller, table)
    # The limit follows from the terms, in the ledger: computed here, from what is spent, it would renew a
    # period whenever the same grant is sent again.
    payload = {"analyst": analyst, "limit": None, "terms": _terms(body), "reason": body.reason}
    return await carry_out(request, "grant", seen.table, payload)


async def delete_grant(
    request: Request,
    table: route.Table,
    analyst: Analyst,
    reason: Annotated[str, Query(min_length=1, max_length=2000, description="Why; it is kept for good.")],
) -> Response:
    """Revoke an analyst's grant; what was charged stands."""
    services, caller = services_of(request), caller_of(request)
    seen = await run_in_threadpool(view, services, caller, table)
    return await carry_out(request, "revoke", seen.table, {"analyst": analyst, "reason": reason})


def _terms(body: GrantBody) -> dict[str, Any]:
    terms: dict[str, Any] = {"terms": 1, "total": to_nano(body.total, field="total", largest=LARGEST_TOTAL)}
    if body.period is not None:
        epsilon = to_nano(body.period.epsilon, field="period.epsilon", largest=LARGEST_TOTAL)
        terms["period"] = {"epsilon": epsilon, "every": body.period.every, "from": body.period.start}
    if body.question_limit is not None:
        terms["question_limit"] = to_nano(body.question_limit, field="question_limit")
    named = {"until": body.until, "questions": body.questions, "rules": body.rules}
    terms |= {name: item for name, item in named.items() if item is not None}
    return terms | ({"overcommit": True} if body.overcommit else {})


ROUTES = (
    Route("GET", "/v1/tables/{table}/grants", list_grants, Page),
    Route("GET", "/v1/tables/{table}/grants/{analyst}", get_grant, GrantReply),
    Route("PUT", "/v1/tables/{table}/grants/{analyst}", put_grant, JobReply, 200, (202,)),
    Route("DELETE", "/v1/tables/{table}/grants/{analyst}", delete_grant, JobReply, 200, (202,)),
)

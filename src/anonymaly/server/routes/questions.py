# SPDX-License-Identifier: Apache-2.0
"""Questions: preview, plan, rehearse, ask."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.ask.answer import Previews
from anonymaly.server import asking
from anonymaly.server.problems import Problem
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Body, Reply, Route
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.submitting import answer_with, preferred_wait

MOST_QUESTIONS = 100  # in one preview
LARGEST_WHOLE = 2**53
Question = Annotated[
    dict[str, Any],
    Field(description="What `Query.to_dict` returns, such as {'question': 'count', 'epsilon': '0.1'}"),
]
Whole = Annotated[int, Field(ge=0, le=LARGEST_WHOLE)]
Prefer = Annotated[
    str | None, Header(max_length=200, description="wait=N: answer when it is released, if in time")
]
IdempotencyKey = Annotated[
    str,
    Header(
        min_length=8,
        max_length=200,
        description="A text of your own: the same question with it is asked once",
    ),
]


class PreviewBody(Body):
    """One question, or several."""

    query: Question | None = None
    queries: Annotated[list[Question], Field(min_length=1, max_length=MOST_QUESTIONS)] | None = None
    repeat: Whole = 0


class PlanBody(Body):
    """A question, and the largest error that will do."""

    query: Question
    for_error: float | int | str | None = None


class RehearseBody(Body):
    """A question, and how many rows are invented."""

    query: Question
    rows: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    seed: Whole | None = None


class AskBody(Body):
    """A question; `repeat` pays for a fresh draw."""

    query: Question
    repeat: Whole = 0


class JobReply(Reply):
    """A job: running until its release, then done, refused or failed."""

    job: str
    state: str


def preview(request: Request, table: route.Table, body: PreviewBody) -> Response:
    """Say what questions would cost and promise; nothing is spent."""
    if (body.query is None) == (body.queries is None):
        raise Problem(422, "needs either query or queries", field="query", next_step="Give one of the two.")
    services, caller = services_of(request), caller_of(request)
    if body.query is not None:
        return reply(asking.previews(services, caller, table, [body.query])[0].to_dict())
    return reply(Previews(asking.previews(services, caller, table, body.queries or ())).to_dict())


def plan(request: Request, table: route.Table, body: PlanBody) -> Response:
    """Say which ε gives a wanted error; nothing is spent."""
    found = asking.plan(services_of(request), caller_of(request), table, body.query, body.for_error)
    return reply({**found.to_dict(), "query": found.query.to_dict()})


async def rehearse(
    request: Request, table: route.Table, body: RehearseBody, prefer: Prefer = None
) -> Response:
    """Answer a question from invented rows: free, and without reading the table."""
    services, caller = services_of(request), caller_of(request)
    job = await run_in_threadpool(
        asking.rehearse, services, caller, table, body.query, rows=body.rows, seed=body.seed
    )
    return await answer_with(services, caller, job, preferred_wait(prefer, services.settings.limits.wait))


async def ask(
    request: Request,
    table: route.Table,
    body: AskBody,
    idempotency_key: IdempotencyKey,
    prefer: Prefer = None,
) -> Response:
    """Charge the caller and answer the question, at its slot."""
    services, caller = services_of(request), caller_of(request)
    job, again = await run_in_threadpool(
        asking.ask, services, caller, table, body.query, idempotency_key=idempotency_key, repeat=body.repeat
    )
    seconds = preferred_wait(prefer, services.settings.limits.wait)
    return await answer_with(services, caller, job, seconds, again=again)


ROUTES = (
    Route("POST", "/v1/tables/{table}/preview", preview, dict[str, Any]),
    Route("POST", "/v1/tables/{table}/plan", plan, dict[str, Any]),
    Route("POST", "/v1/tables/{table}/rehearse", rehearse, JobReply, 202, (200,)),
    Route("POST", "/v1/tables/{table}/ask", ask, JobReply, 202, (200,)),
)

# SPDX-License-Identifier: Apache-2.0
"""Questions: preview, plan, rehearse, ask."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.ask.acceptance import accept, permit_of, rule_of
from anonymaly.ask.answer import Previews
from anonymaly.ask.binding import Binding
from anonymaly.ask.query import Query
from anonymaly.ask.seen import plan_for, preview_for
from anonymaly.server.jobs import Job, find_same
from anonymaly.server.problems import Problem
from anonymaly.server.released import asked_before
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Body, Reply, Route
from anonymaly.server.services import Services, View, caller_of, services_of, view
from anonymaly.server.slots import SHORTEST
from anonymaly.server.submitting import (
    answer_with,
    preferred_wait,
    refuse_if_busy,
    request_digest,
    stored_idempotency,
    submit,
)

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
    with services.at_once.of(caller.person):
        seen = view(services, caller, table)
        declaration, own = seen.table.declaration, seen.allowance()
        if body.query is not None:
            return reply(preview_for(declaration, _query(body.query, seen), own).to_dict())
        asked = [_query(item, seen) for item in body.queries or ()]
        return reply(Previews(tuple(preview_for(declaration, item, own) for item in asked)).to_dict())


def plan(request: Request, table: route.Table, body: PlanBody) -> Response:
    """Say which ε gives a wanted error; nothing is spent."""
    services, caller = services_of(request), caller_of(request)
    with services.at_once.of(caller.person):
        seen = view(services, caller, table)
        query = _query(body.query, seen)
        found = plan_for(seen.table.declaration, query, body.for_error, seen.allowance())
        return reply({**found.to_dict(), "query": found.query.to_dict()})


async def rehearse(
    request: Request, table: route.Table, body: RehearseBody, prefer: Prefer = None
) -> Response:
    """Answer a question from invented rows: free, and without reading the table."""
    services, caller = services_of(request), caller_of(request)

    def add() -> Job:
        seen = view(services, caller, table)
        refuse_if_busy(services, caller)
        bound = _bind(body.query, seen)
        payload = {"query": bound.query.to_dict(), "rows": body.rows, "seed": body.seed}
        return submit(
            services, caller, "rehearse", seen.table, payload, asks=bound.query.describe(), slot=SHORTEST
        )

    job = await run_in_threadpool(services.at_once.run, caller.person, add)
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
    stored = stored_idempotency(caller.person, idempotency_key)

    def add() -> tuple[Job, bool]:
        seen = view(services, caller, table)
        asked = _query(body.query, seen)
        digest = request_digest(idempotency_key, [table, asked.to_dict(), body.repeat])
        before = find_same(services.state, caller.person, stored)
        if before is None:
            refuse_if_busy(services, caller)
            bound = _bind(body.query, seen)
            _refuse_if_too_expensive(services, seen, bound)
            payload = {"query": bound.query.to_dict(), "repeat": body.repeat}
            job = submit(
                services,
                caller,
                "ask",
                seen.table,
                payload,
                asks=bound.query.describe(),
                slot=seen.table.slot(bound.query.question),
                idempotency=stored,
                request=digest,
            )
            if job.request == digest:
                return job, False
            before = job  # another request with the same key was faster
        if before.request != digest:
            raise Problem(
                422,
                "was used for another question",
                field="Idempotency-Key",
                next_step="Give each question a key of its own.",
            )
        return before, True

    job, again = await run_in_threadpool(services.at_once.run, caller.person, add)
    seconds = preferred_wait(prefer, services.settings.limits.wait)
    return await answer_with(services, caller, job, seconds, again=again)


def _query(data: dict[str, Any], seen: View) -> Query:
    return Query.from_json(data, named=seen.table.declaration.questions)


def _bind(data: dict[str, Any], seen: View) -> Binding:
    """Bind a question; refuse what neither the declaration nor the caller's grant allow at any time."""
    bound = accept(_query(data, seen), seen.table.declaration)
    rule = rule_of(bound, permit_of(bound))
    own = seen.allowance()
    if own is not None:
        own.admit(bound.query.question, rule, bound.query.cost)
    return bound


def _refuse_if_too_expensive(services: Services, seen: View, bound: Binding) -> None:
    """Refuse what the caller cannot pay, as the ledger would; what they asked before may be free."""
    own = seen.allowance()
    if own is None or asked_before(services.state, seen.table.name, seen.person, bound.query.describe()):
        return
    own.refuse_beyond(bound.query.cost)


ROUTES = (
    Route("POST", "/v1/tables/{table}/preview", preview, dict[str, Any]),
    Route("POST", "/v1/tables/{table}/plan", plan, dict[str, Any]),
    Route("POST", "/v1/tables/{table}/rehearse", rehearse, JobReply, 202, (200,)),
    Route("POST", "/v1/tables/{table}/ask", ask, JobReply, 202, (200,)),
)

# SPDX-License-Identifier: Apache-2.0
"""Asking as a web process does it: preview, plan, rehearse and ask, for HTTP and for pages alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anonymaly.ask.acceptance import accept, permit_of, rule_of
from anonymaly.ask.binding import Binding
from anonymaly.ask.plan import Plan
from anonymaly.ask.query import Query
from anonymaly.ask.seen import SeenPreview, plan_for, preview_for
from anonymaly.server.authentication import Caller
from anonymaly.server.jobs import Job, find_same
from anonymaly.server.problems import Problem
from anonymaly.server.released import asked_before
from anonymaly.server.services import Services, View, view
from anonymaly.server.slots import SHORTEST
from anonymaly.server.submitting import refuse_if_busy, request_digest, stored_idempotency, submit

Fields = Mapping[str, Any]  # what `Query.to_dict` returns


def previews(
    services: Services, caller: Caller, table: str, queries: Sequence[Fields]
) -> tuple[SeenPreview, ...]:
    """Say what questions would cost and promise; nothing is spent."""
    with services.at_once.of(caller.person):
        seen = view(services, caller, table)
        declaration, own = seen.table.declaration, seen.allowance()
        asked = [_query(item, seen) for item in queries]
        return tuple(preview_for(declaration, item, own) for item in asked)


def plan(services: Services, caller: Caller, table: str, query: Fields, for_error: Any) -> Plan:
    """Say which ε gives a wanted error; nothing is spent."""
    with services.at_once.of(caller.person):
        seen = view(services, caller, table)
        return plan_for(seen.table.declaration, _query(query, seen), for_error, seen.allowance())


def rehearse(
    services: Services,
    caller: Caller,
    table: str,
    query: Fields,
    *,
    rows: int | None = None,
    seed: int | None = None,
) -> Job:
    """Add the job that answers a question from invented rows: free, and without reading the table."""
    with services.at_once.of(caller.person):
        seen = view(services, caller, table)
        refuse_if_busy(services, caller)
        bound = _bind(query, seen)
        payload = {"query": bound.query.to_dict(), "rows": rows, "seed": seed}
        return submit(
            services, caller, "rehearse", seen.table, payload, asks=bound.query.describe(), slot=SHORTEST
        )


def ask(
    services: Services, caller: Caller, table: str, query: Fields, *, idempotency_key: str, repeat: int = 0
) -> tuple[Job, bool]:
    """Add the job that charges the caller and answers; or find it, and then say so, under the same key."""
    with services.at_once.of(caller.person):
        return _ask(services, caller, table, query, idempotency_key, repeat)


def _ask(
    services: Services, caller: Caller, table: str, query: Fields, idempotency_key: str, repeat: int
) -> tuple[Job, bool]:
    stored = stored_idempotency(caller.person, idempotency_key)
    seen = view(services, caller, table)
    asked = _query(query, seen)
    digest = request_digest(idempotency_key, [table, asked.to_dict(), repeat])
    before = find_same(services.state, caller.person, stored)
    if before is None:
        refuse_if_busy(services, caller)
        bound = _bind(query, seen)
        _refuse_if_too_expensive(services, seen, bound)
        job = submit(
            services,
            caller,
            "ask",
            seen.table,
            {"query": bound.query.to_dict(), "repeat": repeat},
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


def _query(data: Fields, seen: View) -> Query:
    return Query.from_json(data, named=seen.table.declaration.questions)


def _bind(data: Fields, seen: View) -> Binding:
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

# SPDX-License-Identifier: Apache-2.0
"""A question as a worker finds it in a job: read, bound, allowed; and what of it the shared tables hold."""

from __future__ import annotations

import base64
import io
from typing import Any

from anonymaly.ask.binding import Binding
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
from anonymaly.core.value import canonical_json
from anonymaly.errors import Refused
from anonymaly.ledger import Reservation
from anonymaly.server.jobs import Job
from anonymaly.server.messages import LARGEST_VALUE
from anonymaly.server.people import Who


def read_question(job: Job, curator: Curator) -> tuple[Query, int]:
    """Return the question of a job, and how often it was drawn before."""
    asked = job.asked
    query = Query.from_json(asked.get("query") or {}, named=curator.declaration.questions)
    return query, asked.get("repeat", 0)


def bind(curator: Curator, query: Query, repeat: int) -> Binding:
    """Bind a question as it is charged."""
    accountant = curator.accountant
    return accountant.as_charged(accountant.accept(query), repeat)


def find(curator: Curator, query: Query, repeat: int) -> Reservation | None:
    """Return the charge of a question, if there is one."""
    return curator.accountant.find(bind(curator, query, repeat), repeat)


def public_fields(query: Query) -> dict[str, Any]:
    """Return a question without what is about a person: its answer stays in the shared tables."""
    return {name: item for name, item in query.to_dict().items() if name not in query.personal_fields}


def small_bytes(query: Query, value: Any) -> str | None:
    """Return a rehearsal's value as a store would keep it, which no outbox does; None if it is large."""
    file = io.BytesIO()
    query.encode(value, file)
    kept = file.getvalue()
    return base64.b64encode(kept).decode() if len(kept) <= LARGEST_VALUE else None


def refuse_without_grant(curator: Curator, who: Who) -> None:
    """Refuse an analyst without a grant, also where the account has none: the ledger takes them as labels."""
    if who.role != "analyst":
        return
    ledger, name = curator.accountant.ledger, curator.dataset.name
    allowed = ledger.allowance(name, who.person) if name in ledger.accounts() else None
    if allowed is None:
        raise Refused(
            f"analyst '{who.person}' has no grant for '{name}'",
            field="analyst",
            next_step="Ask the owner for one.",
        )


def with_small_value(answer: dict[str, Any]) -> dict[str, Any]:
    """Leave a large value out: its bytes are in the outbox."""
    small = len(canonical_json(answer["value"])) <= LARGEST_VALUE
    return answer if small else {**answer, "value": None}

# SPDX-License-Identifier: Apache-2.0
"""Proposals: what loosens is held back by a worker until it is confirmed on the host.

A web process may be broken into while an owner is logged in, and then signs what it likes with the owner's
key. So a worker that is told to (``confirm``) carries out nothing that loosens: it checks the signature and
holds the signed job back, where web processes cannot write. `confirming` carries it out, on the host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import LARGEST_TOTAL, to_text
from anonymaly.errors import Refused
from anonymaly.ledger.inputs import label, mapping, whole
from anonymaly.ledger.owner import reason_text
from anonymaly.ledger.terms import Terms, refuse_reserved
from anonymaly.server.jobs import Job
from anonymaly.server.people import NewKey
from anonymaly.server.shown import moment
from anonymaly.server.state import State, proposals

# A key loosens whoever it is for: who holds it spends that person's grants, also those of later, and it
# outlives the owner's key that it was made with.
LOOSENING = frozenset({"grant", "raise", "resume", "key"})
ON_HOST = "amend"  # what only the host can do: it has the table's file
MOST_OPEN = 100
_SHOWN = tuple(column for column in proposals.c if column.name != "proof")


def loosens(job: Job) -> bool:
    """Say whether a job lets more be told than before: pauses and revocations do not."""
    return job.kind in LOOSENING


def refuse_unusable(kind: str, asked: Mapping[str, Any], by: str) -> None:
    """Refuse what no ledger would take, and what would write anything else than words on a terminal."""
    if kind == ON_HOST:
        whole(asked.get("replaces"), field="replaces", least=1, most=LARGEST_TOTAL)
    reason_text(asked.get("reason"), field="reason")
    if kind == "grant":
        label(asked.get("analyst"), field="analyst")
        refuse_reserved(mapping(asked.get("terms") or {}, field="terms"), by)
    if kind == "raise":
        whole(asked.get("to"), field="budget", least=1, most=LARGEST_TOTAL)


def hold_back(state: State, connection: sa.Connection, job: Job, says: str) -> dict[str, Any]:
    """Write a genuine job down as a proposal, in the transaction that ends it; refuse one too many."""
    of = sa.select(sa.func.count()).select_from(proposals).where(proposals.c.state == "open")
    if connection.execute(of).scalar_one() >= MOST_OPEN:
        raise Refused(
            f"{MOST_OPEN} proposals wait for the host, the most at a time",
            field="confirm",
            next_step="Confirm or decline some on the host: anonymaly owner confirm FOLDER.",
        )
    row = {
        "job": job.id,
        "kind": job.kind,
        "table_name": job.table_name,
        "person": job.person,
        "key_id": job.key_id,
        "idempotency": job.idempotency,
        "payload": job.payload,
        "proof": job.proof,
        "created_at": state.time(connection),
    }
    made = connection.execute(proposals.insert().values(row)).inserted_primary_key
    number = int(made[0]) if made is not None else 0
    return {"proposal": {"number": number, "says": says}}


def list_proposals(state: State, *, table: str | None = None, waiting: bool = False) -> list[dict[str, Any]]:
    """Return proposals as owner and auditor see them, the newest first."""
    of = sa.select(*_SHOWN).order_by(proposals.c.number.desc())
    if table is not None:
        of = of.where(proposals.c.table_name == table)
    if waiting:
        of = of.where(proposals.c.state == "open")
    with state.read() as connection:
        rows = connection.execute(of.limit(2 * MOST_OPEN)).all()
    return [_line(row) for row in rows]


def in_words(kind: str, table: str | None, asked: Mapping[str, Any]) -> str:
    """Say what a job would do.

    Examples
    --------
    >>> in_words("raise", "patients", {"to": 4_000_000_000})
    'raise the budget of patients to ε = 4'
    """
    match kind:
        case "grant":
            terms, limit = Terms.read(asked.get("terms") or {}), asked.get("limit")
            alone = "without a limit" if limit is None else f"up to ε = {to_text(limit)} in all"
            return (
                f"let {asked['analyst']} ask {table}: {alone if terms is None else '; '.join(terms.words())}"
            )
        case "raise":
            return f"raise the budget of {table} to ε = {to_text(asked['to'])}"
        case "resume":
            return f"resume {table}"
        case "amend":
            return f"amend the declaration of {table} that is in force since entry {asked['replaces']}"
        case _:
            new = NewKey.read(asked)
            ends = (
                "that stays until it is revoked"
                if new.days is None
                else f"for {new.days} {'day' if new.days == 1 else 'days'}"
            )
            return f"make a key of {new.person} ({new.role}) {ends}"


def _line(row: Any) -> dict[str, Any]:
    asked = json.loads(row.payload)
    return {
        "number": row.number,
        "state": row.state,
        "kind": row.kind,
        "table": row.table_name,
        "person": row.person,
        "key": row.key_id,
        "says": in_words(row.kind, row.table_name, asked),
        "reason": asked.get("reason"),
        **({"asked": asked} if row.kind == ON_HOST else {}),
        "created_at": moment(row.created_at),
        "ended_at": moment(row.ended_at),
        "problem": row.problem,
    }

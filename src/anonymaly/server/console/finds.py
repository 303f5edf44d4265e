# SPDX-License-Identifier: Apache-2.0
"""What somebody wants found, kept between their requests: sealed with the secret of their session.

A page without scripts looks again by itself, and brings no form along. So the records are in the shared
tables meanwhile, and only the cookie in their owner's browser opens them. They go when their owner says so,
and at the latest with the session.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.server.console.sessions import ConsoleSession
from anonymaly.server.problems import Problem
from anonymaly.server.shown import moment
from anonymaly.server.state import LARGEST_PAYLOAD, State, finds

MOST = 5  # of a session; the oldest makes room


@dataclass(frozen=True, slots=True)
class WantedFind:
    """What is to be found, as the form says it: texts and numbers, to be checked by whoever plans it."""

    table: str
    records: str
    epsilon: str
    top: int
    explain: int
    columns: tuple[str, ...]  # none for all that can be compared
    missing: str


@dataclass(frozen=True, slots=True)
class Begun:
    """A find whose plan somebody agreed to."""

    wanted: WantedFind
    once: str  # what its questions' idempotency keys are made of
    plan: str  # the digest of the plan: nothing is asked under another one
    model: int | None  # the answer that the plan uses as its model
    remaining: int  # what was left then, in billionths of ε

    @property
    def text(self) -> str:
        """All of it as text."""
        return canonical_json(asdict(self))

    @classmethod
    def read(cls, text: str) -> Begun:
        """Read the text."""
        data = json.loads(text)
        wanted = data.pop("wanted")
        return cls(wanted=WantedFind(**{**wanted, "columns": tuple(wanted["columns"])}), **data)


class SealedFinds:
    """The finds of one session."""

    def __init__(self, state: State, session: ConsoleSession) -> None:
        self._state = state
        self._session = session

    def number(self, wanted: WantedFind, once: str) -> str:
        """Return what a form that is sent is known by: sent again, it is the same find."""
        return self._session.mark(canonical_json([asdict(wanted), once]))[:32]

    def keep(self, begun: Begun) -> str:
        """Keep a find and return its number."""
        number = self.number(begun.wanted, begun.once)
        sealed = self._session.seal(number, begun.text)
        if len(sealed) > LARGEST_PAYLOAD:  # control characters alone are written so much longer
            raise Problem(
                413,
                "are too large to be kept until all is answered",
                field="records",
                next_step="Leave out columns that records are not compared by.",
            )
        row = {"id": number, "session": self._session.id, "sealed": sealed}
        mine = sa.select(finds.c.id).where(finds.c.session == self._session.id)
        with self._state.write() as connection:
            known = connection.execute(mine.order_by(finds.c.created_at.desc())).scalars().all()
            if number in known:
                return number
            connection.execute(finds.delete().where(finds.c.id.in_(known[MOST - 1 :])))
            connection.execute(finds.insert().values(**row, created_at=self._state.now))
        return number

    def recall(self, number: str) -> Begun | None:
        """Return a find of this session."""
        of = sa.select(finds.c.sealed).where(finds.c.id == number, finds.c.session == self._session.id)
        with self._state.read() as connection:
            sealed = connection.execute(of).scalar()
        text = None if sealed is None else self._session.unseal(number, sealed)
        return None if text is None else Begun.read(text)

    def of_table(self, table: str) -> list[dict[str, Any]]:
        """Return the finds of this session that are about a table, the newest first: ways back to them."""
        of = sa.select(finds.c.id, finds.c.sealed, finds.c.created_at)
        with self._state.read() as connection:
            rows = connection.execute(
                of.where(finds.c.session == self._session.id).order_by(finds.c.created_at.desc())
            ).all()
        texts = ((row, self._session.unseal(row.id, row.sealed)) for row in rows)
        begun = [(row, Begun.read(text).wanted) for row, text in texts if text is not None]
        return [
            {"find": row.id, "began_at": moment(row.created_at), "epsilon": wanted.epsilon}
            for row, wanted in begun
            if wanted.table == table
        ]

    def forget(self, number: str) -> None:
        """Remove a find for good; its answers stay, as all answers do."""
        mine = finds.delete().where(finds.c.id == number, finds.c.session == self._session.id)
        with self._state.write() as connection:
            connection.execute(mine)
        self._state.forget()

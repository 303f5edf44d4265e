# SPDX-License-Identifier: Apache-2.0
"""What a worker publishes of a table and a web process reads: all that questions are bound to, and no row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.declare.declaration import Declaration
from anonymaly.server.slots import slot_seconds
from anonymaly.server.state import State, tables

READY_SECONDS = 15.0  # without a word from a worker, a table counts as not ready


@dataclass(frozen=True)
class Published:
    """A table as it is published; whoever asks is bound to ``declaration``."""

    name: str
    declaration: Declaration
    ledger: str  # where it is, without a password
    questions: tuple[str, ...]  # all that may be asked
    slots: Mapping[str, float]  # question → seconds
    paused: bool
    version: str  # of the software that published it
    ready: bool = False

    def slot(self, question: str) -> float:
        """Return the seconds of a question's slot."""
        return self.slots.get(question) or slot_seconds(question, self.declaration.about_rows)

    @property
    def plain(self) -> dict[str, Any]:
        """The declaration as plain data, by the names that it has in a manifest."""
        return plain(self.declaration)

    def to_text(self) -> str:
        """Return what is written into the shared table."""
        return canonical_json(
            {
                "name": self.name,
                "declaration": self.plain,
                "adjacency": self.declaration.adjacency,
                "ledger": self.ledger,
                "questions": list(self.questions),
                "rows": self.declaration.about_rows,
                "slots": dict(self.slots),
                "version": self.version,
                "paused": self.paused,
            }
        )

    @classmethod
    def of_text(cls, text: str, *, ready: bool = False) -> Published:
        """Read what ``to_text`` wrote."""
        data = json.loads(text)
        return cls(
            name=data["name"],
            declaration=Declaration.read(**data["declaration"]).with_adjacency(data["adjacency"]),
            ledger=data["ledger"],
            questions=tuple(data["questions"]),
            slots=data["slots"],
            paused=data["paused"],
            version=data["version"],
            ready=ready,
        )


def plain(declaration: Declaration) -> dict[str, Any]:
    """Return a declaration as `Declaration.read` takes it, without its adjacency."""
    return {
        "name": declaration.name,
        "version": declaration.version,
        "key": declaration.key,
        "columns": {name: domain.to_dict() for name, domain in declaration.columns.items()},
        "rules": declaration.rules_to_dict(),
        "person": declaration.person,
        "max_rows": None if declaration.person is None else declaration.rows,
        "public": declaration.public,
        "questions": list(declaration.questions),
        "rows": declaration.about_rows,
    }


def find_table(state: State, name: str) -> Published | None:
    """Return a table that some worker published, ready or not."""
    of = sa.select(tables.c.public, tables.c.ready_at, state.now.label("now")).where(tables.c.name == name)
    with state.read() as connection:
        row = connection.execute(of).first()
    return None if row is None else _read(row)


def list_tables(state: State) -> list[Published]:
    """Return all tables by name."""
    of = sa.select(tables.c.public, tables.c.ready_at, state.now.label("now")).order_by(tables.c.name)
    with state.read() as connection:
        rows = connection.execute(of).all()
    return [_read(row) for row in rows]


def publish(state: State, table: Published, *, ready: bool) -> None:
    """Write a table down, and that it was ready just now; for workers."""
    row = {"public": table.to_text(), **({"ready_at": state.now} if ready else {})}
    of = tables.update().where(tables.c.name == table.name).values(row)
    with state.write() as connection:
        if connection.execute(of).rowcount:
            return
    try:
        with state.write() as connection:
            connection.execute(tables.insert().values(name=table.name, **row))
    except sa.exc.IntegrityError:  # another worker was faster
        with state.write() as connection:
            connection.execute(of)


def _read(row: Any) -> Published:
    ready = row.ready_at is not None and float(row.now) - row.ready_at < READY_SECONDS
    return replace(_of_text(row.public), ready=ready)


@lru_cache(maxsize=256)
def _of_text(text: str) -> Published:
    # Every request reads it, and it changes with an amendment or a pause.
    return Published.of_text(text)

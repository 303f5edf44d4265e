# SPDX-License-Identifier: Apache-2.0
"""A rehearsal: the whole way of a question on rows that are nobody's, without a charge and without a trace.

It takes a bound question and a table that is public, and has no way to the account's own source.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

from anonymaly.ask import catalogue
from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import Binding, StageFailure
from anonymaly.ask.invention import invent, read_rows, usual_rows
from anonymaly.ask.reader import root_cause
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError
from anonymaly.noise import Noise

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from anonymaly.ask.store import KeptFile


def rehearse(
    bound: Binding, *, stand_in: Any = None, rows: int | None = None, seed: int | None = None
) -> Answer:
    """Answer a question that was accepted from invented rows, or from a public stand-in for the table.

    Parameters
    ----------
    bound : Binding
        The question, bound to the account's declaration.
    stand_in : optional
        A public source with the declared columns; without it, rows are invented.
    rows : int, optional
        How many rows to invent; by default as many as the owner declares, up to 20,000, or 1,000.
    seed : int, optional
        Makes rows and noise repeat; without it, both are drawn anew.
    """
    noise = Noise.system() if seed is None else Noise.seeded(seed)
    if stand_in is None:
        wanted = usual_rows(bound.declaration) if rows is None else read_rows(rows)
        invented = invent(bound.declaration, wanted, noise, bound.query.own_record())
        view = _public(invented, bound.declaration).ready(bound.policy)
    else:
        view = _view_of_stand_in(stand_in, bound)
    query, asks = bound.query, bound.query.describe()
    try:
        value = _stored_and_read(bound, bound.answer(view, noise))
        value = type(query).recalled(value, query.to_dict(), bound.guarantee)
    except StageFailure as failure:
        raise root_cause(failure) from None  # the rows are nobody's: the real error helps and harms nobody
    return Answer(
        value=value,
        asks=asks,
        shown=query.show(value, asks),
        question=query.question,
        guarantee=bound.guarantee,
        expectation=bound.expectation,
        number=None,
        charged_nano=0,
        remaining_nano=None,
        origin=catalogue.origin(query.question),
        rehearsed_on="invented" if stand_in is None else "stand-in",
    )


class _Memory(io.BytesIO):
    """What a store would hold; it can be opened again, and is never written to a disk."""

    def reopen(self) -> _Memory:
        """Return the same bytes from their beginning."""
        return _Memory(self.getvalue())


def _stored_and_read(bound: Binding, value: Any) -> Any:
    """Write a value as the store would keep it, and read it back: an asker never sees it otherwise."""
    file = _Memory()
    bound.query.encode(value, file)
    return type(bound.query).decode(cast("KeptFile", file.reopen()))


def _view_of_stand_in(stand_in: Any, bound: Binding) -> ir.Table:
    try:
        return _public(stand_in, bound.declaration).ready(bound.policy)
    except InputError as problem:
        place = "" if problem.field is None else f" ({problem.field})"
        raise InputError(
            f"does not fit the declaration: {problem.problem}{place}",
            field="stand_in",
            next_step="Give public rows with all declared columns, or leave it out: rows are then invented.",
        ) from None


def _public(source: Any, declaration: Declaration) -> Dataset:
    """Return a public table under the account's declaration."""
    return Dataset(
        source,
        name=declaration.name,
        columns=declaration.columns,
        version=declaration.version,
        key=declaration.key,
        rules="any" if declaration.any_rule else declaration.rules,
        person=declaration.person,
        max_rows=None if declaration.person is None else declaration.rows,
        public=True,
        questions=declaration.questions,
    )

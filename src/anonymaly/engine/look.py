# SPDX-License-Identifier: Apache-2.0
"""What was written beside what was read of it: for the owner's own look at a table, never for a question."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import ibis

from anonymaly.engine import view
from anonymaly.engine.columns import Kind
from anonymaly.engine.engine import Engine
from anonymaly.engine.reading import Reading

if TYPE_CHECKING:
    import ibis.expr.types as ir

NO_TEXT = "(no text)"  # of a value that no text can hold, such as NaN in a column of numbers


def lost(place: int) -> str:
    """Return the column that says whether what is in the declared column of this number cannot be read."""
    return f"`lost {place}`"  # no declared column has a backquote in its name


def written(place: int) -> str:
    """Return the column that holds, as text, what is written in the declared column of this number."""
    return f"`written {place}`"


def looked(
    raw: ir.Table,
    kinds: Mapping[str, Kind],
    engine: Engine,
    *,
    person: str | None,
    loose: Container[str],
    from_file: bool,
    readings: Mapping[str, Reading],
) -> ir.Table:
    """Return the columns as `view.typed` reads them, and for each whether that fails, and what is written."""
    staged = view.stage(raw, kinds, engine, loose=loose, from_file=from_file, readings=readings)
    further: dict[str, ir.Value] = {}
    for place, (name, kind) in enumerate(kinds.items()):
        column = view.given(staged.table, name, kind, readings.get(name), loose)
        further[lost(place)] = view.is_meant(staged, name, column, kind, readings.get(name), engine)
        further[written(place)] = staged.table[name]
    read_as: dict[str, Kind] = {name: "flag" if name.startswith("`lost") else "opaque" for name in further}
    # By the same function in the same select, so that what is looked at is what questions see.
    both = view.read(
        replace(staged, table=staged.table.mutate(**further)),
        {**kinds, **read_as},
        engine,
        person=person,
        loose=loose,
        from_file=from_file,
        readings=readings,
    )
    of_lost = {lost(place): both[lost(place)] & both[name].isnull() for place, name in enumerate(kinds)}
    texts = {
        written(place): ibis.coalesce(both[written(place)].cast("string"), ibis.literal(NO_TEXT))
        for place in range(len(kinds))
    }
    return both.mutate(**of_lost, **texts)

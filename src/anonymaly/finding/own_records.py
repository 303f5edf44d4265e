# SPDX-License-Identifier: Apache-2.0
"""The asker's own records: read as columns, checked against the declaration before anything is charged."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Interval, Opaque, Unbounded, find_domain
from anonymaly.declare.predicates import write_column
from anonymaly.engine.frames import ADVICE, columns_of, no_frame
from anonymaly.errors import InputError
from anonymaly.questions.score.mixed_labels import MOST_LABELS, labels_of

if TYPE_CHECKING:
    import pyarrow as pa


FILE = "Of a file: am.read_alike(path, table), which reads it as the table is read."


def compared_columns(declaration: Declaration, wanted: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the columns that records are compared by: the wanted ones, or all that can be compared.

    Persons and keys are left out, as are columns that are never looked into and those of more labels than a
    histogram can tell apart. There must be a number among them: a record stands out in one.

    Examples
    --------
    >>> from anonymaly.declare.domain import Categories
    >>> columns = {"age": Interval(0, 120), "ward": Categories(["A", "B"]), "note": Opaque()}
    >>> compared_columns(Declaration.read(name="patients", columns=columns))
    ('age', 'ward')
    """
    if wanted is not None:
        if isinstance(wanted, str):
            raise InputError(
                "must be a list of columns",
                field="columns",
                next_step=f"Put it in brackets, as in [{wanted!r}].",
            )
        names = tuple(wanted)
        for name in names:
            find_domain(name, declaration.columns, field="columns")
    else:
        names = tuple(
            name
            for name, domain in declaration.columns.items()
            if not isinstance(domain, Opaque)
            and name not in (declaration.person, declaration.key)
            and len(labels_of(domain) or ()) <= MOST_LABELS
        )
    if not any(isinstance(declaration.columns[name], Interval | Unbounded) for name in names):
        raise InputError(
            f"have no number among them ({', '.join(names) or 'there are none'})",
            field="columns",
            next_step="Odd records are looked for in tables with a declared number: am.Interval(low, high).",
        )
    return names


@dataclass(frozen=True)
class OwnRecords:
    """Records that somebody gives, with the columns that they are compared by and others of their own."""

    table: pa.Table
    compared: tuple[str, ...]

    @classmethod
    def read(cls, frame: Any, compared: Sequence[str]) -> OwnRecords:
        """Read a frame; one without records, or without one of the columns, is refused."""
        import pyarrow as pa  # noqa: PLC0415  (a plan of a stored find does without)

        found = columns_of(frame, field="records")
        if found is None:
            if _is_path(frame):
                raise InputError("must have named columns", field="records", next_step=FILE)
            raise no_frame(frame, field="records")
        cls.refuse_lost(compared, list(found))
        columns = {column: _typed(values, column) for column, values in found.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise InputError("has columns of different lengths", field="records", next_step=ADVICE)
        table = pa.table(columns)
        if not table.num_rows:
            raise InputError(
                "has no records", field="records", next_step="Give at least one record to judge."
            )
        return cls(table, tuple(compared))

    @staticmethod
    def refuse_lost(compared: Sequence[str], found: Sequence[str]) -> None:
        """Refuse records without one of the columns that they are compared by."""
        lost = [name for name in compared if name not in found]
        if lost:
            names = ", ".join(map(write_column, compared))
            raise InputError(
                f"has no column {lost[0]!r}; it has {listed([repr(name) for name in found])}",
                field="records",
                next_step=f"{guess(lost[0], [repr(name) for name in found])}Records are compared by {names}; "
                "to leave some out, name the others in columns.",
            )

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def frame(self) -> pa.Table:
        """The compared columns alone, as a model scores them."""
        return self.table.select(list(self.compared))

    def differ(self, column: str, value: Any) -> Booleans:
        """Say which records have something else than a value in a column; all of them, of no value."""
        if value is None:
            return np.ones(len(self), np.bool_)
        return np.array([str(item) != str(value) for item in self.table.column(column).to_pylist()], np.bool_)

    def rows(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """Return some records with all of their columns, as plain values; NaN is missing."""
        import pyarrow as pa  # noqa: PLC0415

        # Of a named type, or no place at all would be a list of nothing, which Arrow cannot take.
        chosen: list[Mapping[str, Any]] = self.table.take(pa.array(places, pa.int64())).to_pylist()
        return [{name: _plain(value) for name, value in row.items()} for row in chosen]


def _is_path(frame: Any) -> bool:
    return isinstance(frame, str | os.PathLike)


def _typed(column: Any, name: str) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    try:
        typed = column.to_arrow() if hasattr(column, "to_arrow") else column
        if not isinstance(typed, pa.ChunkedArray | pa.Array):
            typed = pa.array(typed, from_pandas=True)
        return typed.dictionary_decode() if pa.types.is_dictionary(typed.type) else typed
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            "is a column of no one type", field=name, next_step="Give values of one type."
        ) from None


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value

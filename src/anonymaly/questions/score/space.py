# SPDX-License-Identifier: Apache-2.0
"""The unit cube: each column clamped to its bounds and mapped to 0..1, alike on the engine and in numpy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.engine.arithmetic import divided, exact
from anonymaly.engine.frames import ADVICE, columns_of
from anonymaly.errors import InputError
from anonymaly.questions.score.methods.method import coordinate

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Space:
    """Columns with public or privately found bounds.

    Examples
    --------
    >>> Space(("age",), (0.0,), (120.0,)).points([[30], [300]]).tolist()
    [[0.25], [1.0]]
    """

    columns: tuple[str, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    def cube(self, table: ir.Table) -> ir.Table:
        """Return the coordinates of each record that has a value in every column; leave out the others."""
        kept = complete(table, self.columns)
        placed = {}
        for axis, (name, low, high) in enumerate(zip(self.columns, self.lows, self.highs, strict=True)):
            # No value is null here; Ibis' own clip would write each value four times to handle nulls.
            clamped = ibis.greatest(ibis.least(kept[name].cast("float64"), exact(high)), exact(low))
            placed[coordinate(axis)] = divided(clamped - exact(low), high - low)
        return kept.select(**placed)

    def points(self, records: Any) -> Floats:
        """Return a frame or an array of new records as points of the cube, or raise InputError."""
        numbers = read_numbers(records, self.columns)
        low, high = np.array(self.lows), np.array(self.highs)
        points: Floats = (np.clip(numbers, low, high) - low) / (high - low)
        return points

    def to_dict(self) -> dict[str, Any]:
        """Return the columns and bounds as plain data."""
        return {"columns": list(self.columns), "lows": list(self.lows), "highs": list(self.highs)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Space:
        """Read the space back from plain data, or raise ValueError."""
        if "kinds" in data:
            from anonymaly.questions.score.mixed_space import MixedSpace  # noqa: PLC0415  (a space itself)

            return MixedSpace.read(data)
        columns = tuple(str(name) for name in data["columns"])
        lows, highs = (tuple(float(bound) for bound in data[side]) for side in ("lows", "highs"))
        pairs = list(zip(lows, highs, strict=True))
        names, divisible = len(set(columns)), all(0 < high - low < math.inf for low, high in pairs)
        if not columns or not names == len(columns) == len(pairs) or not divisible:
            raise ValueError("columns and bounds do not fit")
        return cls(columns, lows, highs)


def complete(table: ir.Table, columns: Sequence[str]) -> ir.Table:
    """Return the records that have a value in every column; the others are counted nowhere."""
    for name in columns:
        table = table.filter(table[name].notnull())
    return table


def read_numbers(records: Any, columns: Sequence[str]) -> Floats:
    """Return new records as finite numbers, one column each, in the model's order."""
    found = columns_of(records, field="records")
    if found is None:
        return _from_array(records, columns)
    refuse_other_columns(list(found), columns)
    parts = [_numeric(found[name], name) for name in columns]
    if len(set(map(len, parts))) > 1:
        raise InputError("has columns of different lengths", field="records", next_step=ADVICE)
    return _finite(np.column_stack(parts), columns)


def refuse_other_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse records that have other columns than the model."""
    missing = [name for name in columns if name not in names]
    extra = [name for name in names if name not in columns]
    if missing or extra:
        wrong = [f"has no column {name!r}" for name in missing] + [f"has a column {name!r}" for name in extra]
        raise InputError(
            "; ".join(wrong[:5]),
            field="records",
            next_step=f"Give exactly the model's columns: {', '.join(columns)}.",
        )


def _numeric(column: Any, name: str) -> Floats:
    import pyarrow as pa  # noqa: PLC0415  (70 ms that scoring arrays never needs)

    try:
        typed = column.to_arrow() if hasattr(column, "to_arrow") else column
        if not isinstance(typed, pa.ChunkedArray | pa.Array):
            typed = pa.array(typed, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError("is a column of no one type", field=name, next_step="Give numbers only.") from None
    kind = typed.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"must hold numbers, got {kind}", field=name, next_step="Give numbers.")
    # Whole numbers beyond 2^53 are rounded to the nearest double, which does not matter to a cell.
    numbers: Floats = typed.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def _from_array(records: Any, columns: Sequence[str]) -> Floats:
    array = np.asarray(records)
    if array.ndim != 2 or array.shape[1] != len(columns):
        raise InputError(
            f"must be a frame, or an array of {len(columns)} columns, got shape {array.shape}",
            field="records",
            next_step=f"Give the columns {', '.join(columns)}, in this order; one row is [[…]].",
        )
    if array.dtype.kind not in "iuf":
        raise InputError(f"must hold numbers, got {array.dtype}", field="records", next_step="Give numbers.")
    return _finite(array.astype(np.float64), columns)


def _finite(numbers: Floats, columns: Sequence[str]) -> Floats:
    bad = ~np.isfinite(numbers)
    if bad.any():
        axis = int(np.flatnonzero(bad.any(axis=0))[0])
        raise InputError(
            f"is missing or infinite in {int(bad[:, axis].sum())} of {len(numbers)} records",
            field=columns[axis],
            next_step="Leave such records out, or fill them in: a score needs a value in every column.",
        )
    return numbers

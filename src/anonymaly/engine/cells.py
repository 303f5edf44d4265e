# SPDX-License-Identifier: Apache-2.0
"""Counts of records by cell; a cell is one value, or one bin, of each of some columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonymaly.core.arrays import Integers
from anonymaly.engine import lookup
from anonymaly.engine.statements import collect, collect_batches

if TYPE_CHECKING:
    import ibis.expr.types as ir

ROWS = 262_144  # in a batch
MOST_COMPARED = 65  # edges of a column that the engine compares values with
RECORDS = "records"
NOTHING_MORE: Mapping[str, Any] = MappingProxyType({})


class CellColumn(Protocol):
    """A column with its public values in order; the values of a binned column are its bins."""

    @property
    def column(self) -> str:
        """The column's name."""

    @property
    def values(self) -> Sequence[Any]:
        """The column's values, or the names of its bins."""

    @property
    def edges(self) -> Sequence[float] | None:
        """The edges of a binned column, one more than there are bins; None for any other."""


def count_cells(
    table: ir.Table, by: Sequence[CellColumn], also: Mapping[str, ir.BooleanValue] = NOTHING_MORE
) -> dict[str, Integers]:
    """Count the records of every cell, empty ones too; records without a value in a column are in none.

    Parameters
    ----------
    table
        The rows.
    by
        The columns; the last one's values vary fastest in the result.
    also
        Conditions on the same rows by name; the records of each cell that meet them are counted too.

    Returns
    -------
    dict
        ``"records"`` and the names of ``also``, with one count for each cell.
    """
    keys = {f"key{place}": _key(table, axis) for place, axis in enumerate(by)}
    met = {name: ibis.ifelse(condition, 1, 0) for name, condition in also.items()}
    placed = table.select(**keys, **met)
    placed = placed.filter(*(placed[name].notnull() for name in keys))
    size = math.prod(len(axis.values) for axis in by)
    cells = {name: np.zeros(size, np.int64) for name in (RECORDS, *met)}
    sums = {RECORDS: placed.count(), **{name: placed[name].sum() for name in met}}
    grouped = placed.group_by(list(keys)).agg(**sums)
    if not any(_by_value(axis.edges) for axis in by):
        batches = iter(collect(grouped).to_batches(ROWS))  # no more lines than cells
    elif lookup.of(table).is_local:
        # Of as many groups as there are values the engine holds each one; rows that pass by hold nothing.
        batches = collect_batches(placed.mutate(**{RECORDS: 1}), ROWS)
    else:
        batches = collect_batches(grouped, ROWS)
    for batch in batches:
        place, known = np.zeros(batch.num_rows, np.int64), np.ones(batch.num_rows, bool)
        for name, axis in zip(keys, by, strict=True):
            codes = _codes(batch.column(name), axis)
            place, known = place * len(axis.values) + codes, known & (codes >= 0)
        for name, counts in cells.items():
            # Several groups may fall into one cell if a binned column is grouped by its values.
            np.add.at(counts, place[known], _whole(batch.column(name))[known])
    return cells


def _key(table: ir.Table, axis: CellColumn) -> ir.Value:
    """Return what records are grouped by: the value, or the number of its bin; null if in no cell."""
    column, edges = table[axis.column], axis.edges
    if edges is None:
        inside, key = column.isin(list(axis.values)), column
    else:
        inside = column.between(float(edges[0]), float(edges[-1]))
        # A statement with thousands of edges takes a minute to compile; then values are put into bins here.
        key = column if _by_value(edges) else _bin(column, edges, 0, len(edges) - 1)
    return ibis.cases((inside, key), else_=ibis.null(key.type()))


def _by_value(edges: Sequence[float] | None) -> bool:
    return edges is not None and len(edges) > MOST_COMPARED


def _bin(column: ir.Value, edges: Sequence[float], first: int, end: int) -> ir.IntegerValue:
    """Return the number of the bin, from ``first`` up to before ``end``, by halving."""
    if end - first == 1:
        return ibis.literal(first, "int64")
    middle = (first + end) // 2
    below = column < float(edges[middle])
    return ibis.ifelse(below, _bin(column, edges, first, middle), _bin(column, edges, middle, end))


def _codes(keys: pa.Array, axis: CellColumn) -> Integers:
    """Return the numbers of the values or bins; -1 for a value that is not in the list."""
    if axis.edges is None:
        codes: Integers = pc.index_in(keys, pa.array(axis.values, keys.type)).fill_null(-1).to_numpy()
        return codes
    numbers: Integers = keys.to_numpy()
    if not _by_value(axis.edges):
        return numbers
    edges = np.array(axis.edges, np.float64)
    # The last bin holds its upper edge as well.
    return np.minimum(np.searchsorted(edges, numbers, "right"), len(edges) - 1) - 1


def _whole(counts: pa.Array) -> Integers:
    # PostgreSQL's sums are decimals.
    numbers: Integers = counts.cast(pa.int64()).to_numpy()
    return numbers

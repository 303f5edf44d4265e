# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share-histogram`` that reads rows: how many records each cell holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.declare.dataset import NON_SENSITIVE
from anonymaly.declare.domain import Bins
from anonymaly.engine.source import collect_batches

if TYPE_CHECKING:
    import ibis.expr.types as ir

ROWS = 262_144  # in a batch
MOST_COMPARED = 65  # edges of a column that the engine compares values with


@dataclass(frozen=True)
class CellCounts:
    """How many records each cell holds, and how many of them are not sensitive."""

    every: Integers
    non_sensitive: Integers


def count_cells(table: ir.Table, by: Sequence[Attribute]) -> CellCounts:
    """Count the records of every cell, empty ones too; records without a value of a column are in none."""
    keys = {f"key{place}": _key(table, attribute) for place, attribute in enumerate(by)}
    judged = table[NON_SENSITIVE] if NON_SENSITIVE in table.columns else ibis.literal(False)
    placed = table.select(**keys, judged=ibis.ifelse(judged, 1, 0))
    placed = placed.filter(*(placed[name].notnull() for name in keys))
    counted = placed.group_by(list(keys)).agg(every=placed.count(), non_sensitive=placed.judged.sum())
    size = math.prod(len(attribute.values) for attribute in by)
    cells = CellCounts(np.zeros(size, np.int64), np.zeros(size, np.int64))
    for batch in collect_batches(counted, ROWS):
        place, known = np.zeros(batch.num_rows, np.int64), np.ones(batch.num_rows, bool)
        for name, attribute in zip(keys, by, strict=True):
            codes = _codes(batch.column(name), attribute)
            place, known = place * len(attribute.values) + codes, known & (codes >= 0)
        # Several groups may fall into one cell, where a column is grouped by its values.
        np.add.at(cells.every, place[known], _whole(batch.column("every"))[known])
        np.add.at(cells.non_sensitive, place[known], _whole(batch.column("non_sensitive"))[known])
    return cells


def _key(table: ir.Table, attribute: Attribute) -> ir.Value:
    """Return what records are grouped by: a value, or the number of its bin; null for no cell."""
    column = table[attribute.column]
    if attribute.bins is None:
        inside, key = column.isin(list(attribute.values)), column
    else:
        edges = attribute.bins.edges
        inside = column.between(float(edges[0]), float(edges[-1]))
        # A statement with thousands of edges takes a minute to write; there, values are grouped as they are.
        key = column if _by_value(attribute.bins) else _bin(column, attribute.bins, 0, len(edges) - 1)
    return ibis.cases((inside, key), else_=ibis.null(key.type()))


def _by_value(bins: Bins) -> bool:
    return len(bins.edges) > MOST_COMPARED


def _bin(column: ir.Value, bins: Bins, first: int, end: int) -> ir.IntegerValue:
    """Return the number of the bin, from ``first`` up to before ``end``, by halving."""
    if end - first == 1:
        return ibis.literal(first, "int64")
    middle = (first + end) // 2
    below = column < float(bins.edges[middle])
    return ibis.ifelse(below, _bin(column, bins, first, middle), _bin(column, bins, middle, end))


def _codes(keys: pa.Array, attribute: Attribute) -> Integers:
    """Return the numbers of the values or bins; -1 where an engine called equal what is not."""
    if attribute.bins is None:
        codes: Integers = pc.index_in(keys, pa.array(attribute.values, keys.type)).fill_null(-1).to_numpy()
        return codes
    numbers: Integers = keys.to_numpy()
    if not _by_value(attribute.bins):
        return numbers
    edges = np.array(attribute.bins.edges, np.float64)
    # The last bin holds its upper edge as well.
    return np.minimum(np.searchsorted(edges, numbers, "right"), len(edges) - 1) - 1


def _whole(counts: pa.Array) -> Integers:
    # PostgreSQL's sums are decimals.
    numbers: Integers = counts.cast(pa.int64()).to_numpy()
    return numbers

# SPDX-License-Identifier: Apache-2.0
"""The only part of ``share`` that reads rows: counts by cell, or the records that are not sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymaly.attributes import Attribute
from anonymaly.dataset import NON_SENSITIVE
from anonymaly.domain import Bins
from anonymaly.engine import collect, collect_batches

if TYPE_CHECKING:
    import ibis.expr.types as ir

Integers = npt.NDArray[np.int64]
ROWS = 262_144  # in a batch


def non_sensitive_records(table: ir.Table, columns: Sequence[str]) -> pa.RecordBatchReader:
    """Return the chosen columns of the records that are not sensitive, batch by batch."""
    records = table.filter(table[NON_SENSITIVE]).select(*columns)
    schema = records.schema().to_pyarrow()
    return pa.RecordBatchReader.from_batches(schema, collect_batches(records, ROWS))


@dataclass(frozen=True)
class Cells:
    """How many records each cell holds, and how many of them are not sensitive."""

    every: Integers
    non_sensitive: Integers


def count_cells(table: ir.Table, by: Sequence[Attribute]) -> Cells:
    """Count the records of every cell, empty ones too; records without a value of a column are in none."""
    keys = {f"key{place}": _key(table, attribute) for place, attribute in enumerate(by)}
    judged = table[NON_SENSITIVE] if NON_SENSITIVE in table.columns else ibis.literal(False)
    placed = table.select(**keys, judged=ibis.ifelse(judged, 1, 0))
    placed = placed.filter(*(placed[name].notnull() for name in keys))
    found = collect(placed.group_by(list(keys)).agg(every=placed.count(), non_sensitive=placed.judged.sum()))
    place = np.zeros(found.num_rows, np.int64)
    for name, attribute in zip(keys, by, strict=True):
        codes = _codes(found.column(name).to_pylist(), attribute)
        place = place * len(attribute.values) + codes
    size = int(np.prod([len(attribute.values) for attribute in by]))
    every, non_sensitive = np.zeros(size, np.int64), np.zeros(size, np.int64)
    every[place] = [int(count) for count in found.column("every").to_pylist()]
    non_sensitive[place] = [int(count) for count in found.column("non_sensitive").to_pylist()]
    return Cells(every, non_sensitive)


def _key(table: ir.Table, attribute: Attribute) -> ir.Value:
    """Return what records are grouped by: the value itself, or the number of its bin; null for no cell."""
    column = table[attribute.column]
    if attribute.bins is None:
        # The value, not its number: thousands of comparisons for each record would be slow.
        return ibis.cases((column.isin(list(attribute.values)), column), else_=ibis.null(column.type()))
    edges = attribute.bins.edges
    inside = column.between(float(edges[0]), float(edges[-1]))
    return ibis.cases((inside, _bin(column, attribute.bins, 0, len(edges) - 1)), else_=ibis.null("int64"))


def _bin(column: ir.Value, bins: Bins, first: int, end: int) -> ir.IntegerValue:
    """Return the number of the bin, from ``first`` up to before ``end``, by halving: 12 steps for 4,096."""
    if end - first == 1:
        return ibis.literal(first, "int64")
    middle = (first + end) // 2
    below = column < float(bins.edges[middle])
    return ibis.ifelse(below, _bin(column, bins, first, middle), _bin(column, bins, middle, end))


def _codes(values: list[object], attribute: Attribute) -> Integers:
    if attribute.bins is not None:
        return np.array(values, np.int64)
    numbers = {value: number for number, value in enumerate(attribute.values)}
    return np.array([numbers[value] for value in values], np.int64)  # type: ignore[index]

# SPDX-License-Identifier: Apache-2.0
"""The only part of ``lookahead`` that reads rows: how many there are in each cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis
import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.engine.source import collect

if TYPE_CHECKING:
    import ibis.expr.types as ir


def count_cells(table: ir.Table, attributes: Sequence[Attribute]) -> Integers:
    """Count the rows of every combination of attribute values, those without a value of one left out."""
    cell: ir.IntegerValue = ibis.literal(0, "int64")
    for attribute in attributes:
        cell = cell * len(attribute.values) + attribute.to_ibis(table)
    placed = table.select(cell=cell)
    placed = placed.filter(placed.cell.notnull())
    found = collect(placed.group_by("cell").agg(records=placed.count()))
    counts = np.zeros(math.prod(len(attribute.values) for attribute in attributes), np.int64)
    counts[found.column("cell").to_numpy()] = found.column("records").to_numpy()
    return counts

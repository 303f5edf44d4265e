# SPDX-License-Identifier: Apache-2.0
"""The only part of ``count`` that reads rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymaly.declare.predicates import Predicate
from anonymaly.declare.readings import matches
from anonymaly.engine.statements import collect

if TYPE_CHECKING:
    import ibis.expr.types as ir


def count_matching(table: ir.Table, predicate: Predicate | None) -> int:
    """Count the records for which the predicate is true; unknown is not true."""
    matching = table if predicate is None else table.filter(matches(predicate, table))
    return int(collect(matching.count().name("records")).column("records")[0].as_py())


def count_each(table: ir.Table, predicates: Sequence[Predicate]) -> list[int]:
    """Count the records for which each predicate is true, in one pass over the table."""
    (counts,) = collect(counts_of(table, predicates)).to_pylist()
    return [int(count) for count in counts.values()]


def counts_of(table: ir.Table, predicates: Sequence[Predicate]) -> ir.Table:
    """Return one row with a count for each predicate; unknown is not true."""
    return table.aggregate(
        **{
            f"count{place}": table.count(where=matches(predicate, table))
            for place, predicate in enumerate(predicates)
        }
    )

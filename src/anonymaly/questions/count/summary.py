# SPDX-License-Identifier: Apache-2.0
"""The only part of ``count`` that reads rows."""

from __future__ import annotations

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

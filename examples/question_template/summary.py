# SPDX-License-Identifier: Apache-2.0
"""The only part of ``proportion`` that reads rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymaly.declare.predicates import Predicate
from anonymaly.declare.readings import matches
from anonymaly.engine.statements import collect

if TYPE_CHECKING:
    import ibis.expr.types as ir


def count_where(table: ir.Table, predicate: Predicate, verdict: bool) -> int:
    """Count the records that match, or those that do not; if that is unknown, a record does not match."""
    matching = matches(predicate, table).fill_null(False)
    chosen = table.filter(matching if verdict else ~matching)
    return int(collect(chosen.count().name("records")).column("records")[0].as_py())

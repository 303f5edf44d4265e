# SPDX-License-Identifier: Apache-2.0
"""Tables that their owner opened: an Ibis table, or what Spark has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymaly.engine import lookup
from anonymaly.engine.frames import is_ibis_table, is_of_spark, is_spark_session
from anonymaly.engine.places.place import Request, TablePlace

if TYPE_CHECKING:
    import ibis.expr.types as ir


class OpenedTable(TablePlace):
    """A table by its owner's connection or session, on whatever engine that is."""

    is_embedded = False

    def __init__(self, source: Any, request: Request) -> None:
        lookup.refuse_unusable("pyspark" if is_of_spark(source) else source.get_backend().name)
        if is_spark_session(source):
            request.named("a Spark session")
        self._source = source
        self._table = request.table

    @classmethod
    def accept(cls, source: Any, request: Request) -> OpenedTable | None:
        """Return the table if it is one; None otherwise."""
        return cls(source, request) if is_of_spark(source) or is_ibis_table(source) else None

    def open(self) -> ir.Table:
        """Open it beside its owner's connection where that is needed, or take it as it is."""
        return lookup.of_source(self._source).open_source(self._source, self._table)

    def reopen(self) -> None:
        """Open the owner's connection again."""
        lookup.of_source(self._source).reopen(self._source)

    def after_fork(self) -> Any:
        """Open the connection that a forked child shares with its parent again, and return the old one."""
        return lookup.of_source(self._source).reconnect(self._source)

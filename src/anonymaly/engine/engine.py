# SPDX-License-Identifier: Apache-2.0
"""What depends on which engine runs a statement; each engine that is known has a file of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Engine:
    """An engine as Ibis names it; by itself one that has no file here, of which nothing good is assumed."""

    name: str
    is_local: bool = False  # runs in this process, and calculates with infinity as Python does
    forgives: bool = False  # can cast to null what does not fit; elsewhere that is kept from the cast

    def connect(self, url: str) -> Any:
        """Return a connection, of Ibis, to the database at an address."""
        import ibis  # noqa: PLC0415  (an engine is named, to refuse it, before anything is opened)

        return ibis.connect(url)

    def reconnect(self, table: ir.Table) -> Any:
        """Give a table's connection a new handle, and return the old one."""
        backend = table.get_backend()
        old = getattr(backend, "con", None)
        backend.reconnect()
        return old

    def refuse_connection(self, table: ir.Table) -> None:
        """Refuse a table whose connection changes what comparisons mean."""

    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        """Return text that is compared byte by byte, whatever collation its column has."""
        raise SchemaError(
            f"{self.name} may call texts equal that differ, such as a and A",
            field="source",
            next_step="Copy the table to Parquet, DuckDB or PostgreSQL.",
        )

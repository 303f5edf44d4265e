# SPDX-License-Identifier: Apache-2.0
"""`Engine`: everything that depends on which engine runs a statement; each known engine has a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Engine:
    """An engine as Ibis names it. This base class serves engines without a file, and assumes the worst."""

    name: str
    is_local: bool = False  # runs in this process, and calculates with infinity as Python does
    forgives: bool = False  # can cast to null what does not fit; elsewhere that is kept from the cast

    def connect(self, url: str) -> Any:
        """Return an Ibis connection to the database at a URL."""
        import ibis  # noqa: PLC0415  (an engine is named, to refuse it, before anything is opened)

        return ibis.connect(url)

    def reconnect(self, table: ir.Table) -> Any:
        """Open a table's connection again, and return the old handle."""
        backend = table.get_backend()
        old = getattr(backend, "con", None)
        backend.reconnect()
        return old

    def refuse_connection(self, table: ir.Table) -> None:
        """Refuse a table whose connection changes what comparisons mean."""

    def in_byte_order(self, text: ir.Value) -> ir.Value:
        """Return what orders plain text by its bytes in UTF-8, whatever order the database has."""
        return text.cast("string")

    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        """Return text that is compared byte by byte, whatever collation its column has."""
        raise SchemaError(
            f"{self.name} may compare different texts as equal, such as a and A",
            field="source",
            next_step="Copy the table to Parquet, DuckDB or PostgreSQL.",
        )

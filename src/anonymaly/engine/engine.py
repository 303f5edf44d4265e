# SPDX-License-Identifier: Apache-2.0
"""`Engine`: everything that depends on which engine runs a statement; each known engine has a file."""

from __future__ import annotations

from collections.abc import Sequence
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

    def moment(self, second: ir.IntegerValue, microsecond: ir.IntegerValue) -> ir.TimestampValue:
        """Return the moment so many seconds and microseconds after 1970 began."""
        import ibis  # noqa: PLC0415

        start: ir.TimestampValue = ibis.literal("1970-01-01 00:00:00").cast("timestamp(6)")
        return self.later(start, second) + microsecond.as_interval("us")

    def later(self, moment: ir.TimestampValue, seconds: ir.IntegerValue) -> ir.TimestampValue:
        """Return a moment so many seconds later."""
        later: ir.TimestampValue = moment + seconds.as_interval("s")
        return later

    def step(self, number: ir.IntegerValue, edges: Sequence[int], values: Sequence[int]) -> ir.IntegerValue:
        """Return the first value below the first edge, and the next one from each edge on."""
        return _by_halving(number, edges, values)


def _by_halving(number: ir.IntegerValue, edges: Sequence[int], values: Sequence[int]) -> ir.IntegerValue:
    import ibis  # noqa: PLC0415

    if not edges:
        return ibis.literal(values[0], "int64")
    middle = len(edges) // 2
    below = _by_halving(number, edges[:middle], values[: middle + 1])
    above = _by_halving(number, edges[middle + 1 :], values[middle + 1 :])
    return ibis.ifelse(number < edges[middle], below, above)

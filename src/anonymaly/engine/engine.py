# SPDX-License-Identifier: Apache-2.0
"""`Engine`: everything that depends on which engine runs a statement; each known engine has a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Engine:
    """An engine as Ibis names it. This base class serves engines without a file, and assumes the worst."""

    name: str
    is_local: bool = False  # runs in this process, and calculates with infinity as Python does
    has_lambdas: bool = False  # can name a long expression once, as what a function of its own is given
    forgives: bool = False  # can cast to null what does not fit; elsewhere that is kept from the cast

    def connect(self, url: str) -> Any:
        """Return an Ibis connection to the database at a URL."""
        import ibis  # noqa: PLC0415  (an engine is named, to refuse it, before anything is opened)

        return ibis.connect(url)

    def table(self, connection: Any, name: str) -> ir.Table:
        """Return a table of a connection by its name, after a dot if it is in another schema."""
        try:
            return connection.table(name)
        except Exception:
            if "." not in name:
                raise
        schema, _, own = name.rpartition(".")
        return connection.table(own, database=schema)

    def why_unreadable(self, kind: str) -> tuple[str, str]:
        """Return what a failure of this class says of a table that no row was read of, and what to do."""
        return (
            f"the table cannot be read ({kind})",
            "Check that it is still there, that the database is reachable, and that its user may SELECT the "
            "declared columns.",
        )

    def reconnect(self, table: ir.Table) -> Any:
        """Open a table's connection again, and return the old handle."""
        backend = table.get_backend()
        old = getattr(backend, "con", None)
        backend.reconnect()
        return old

    def reopen(self, source: Any) -> None:
        """Open the connection of a table that its owner gave again."""
        self.reconnect(source)

    def open_source(self, source: Any, table: str | None) -> ir.Table:
        """Return a table that its owner opened, unless its connection is refused."""
        self.refuse_connection(source)
        opened: ir.Table = source
        return opened

    def sql(self, expression: ir.Expr) -> str:
        """Return an expression on unbound tables as this engine's statement."""
        import ibis  # noqa: PLC0415

        return str(ibis.to_sql(expression, dialect=self.name))

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

    def writable(self, column: ir.Value) -> ir.Value:
        """Return a column of any type without the values that must not even be tried to be cast to text."""
        return column

    def never_writable(self, kind: dt.DataType) -> bool:
        """Say whether values of a type must not be tried to be cast to text, and cannot be told apart."""
        return False

    def text_or_null(self, text: ir.StringValue) -> ir.StringValue:
        """Return text that was cast from another type; null where a value has none and the cast fails."""
        return text

    def moment(self, second: ir.IntegerValue, microsecond: ir.IntegerValue) -> ir.TimestampValue:
        """Return the moment so many seconds and microseconds after 1970 began."""
        import ibis  # noqa: PLC0415

        start: ir.TimestampValue = ibis.literal("1970-01-01 00:00:00").cast("timestamp(6)")
        return self.later(start, second) + microsecond.as_interval("us")

    def later(self, moment: ir.TimestampValue, seconds: ir.IntegerValue) -> ir.TimestampValue:
        """Return a moment so many seconds later."""
        later: ir.TimestampValue = moment + seconds.as_interval("s")
        return later

    def in_utc(self, moment: ir.TimestampValue) -> ir.TimestampValue:
        """Return moments of the whole world, which the engine holds as such, on the clock of UTC."""
        clock: ir.TimestampValue = _timezone()("UTC", moment)
        return clock

    def step(self, number: ir.IntegerValue, edges: Sequence[int], values: Sequence[int]) -> ir.IntegerValue:
        """Return the first value below the first edge, and the next one from each edge on."""
        if not (self.has_lambdas and edges):
            return _by_halving(number, edges, values)
        import ibis  # noqa: PLC0415

        # Each edge would repeat the number, and it may be long.
        found: ir.IntegerValue = ibis.array([number]).map(lambda item: _by_halving(item, edges, values))[0]
        return found

    def can_run_again(self, expression: ir.Expr, failure: str) -> bool:
        """Say whether a statement that failed, by this class, would not fail again: something was mended."""
        return False

    def before_rows(self, expression: ir.Expr) -> None:
        """Do what is needed before rows are streamed."""

    def smallest(self, rows: ir.Table, most: int, cells: int) -> ir.Table:
        """Return the ``most`` smallest ``gap`` of each ``cell`` of some rows, equal ones too, in no order."""
        import ibis  # noqa: PLC0415

        placed = rows.mutate(place=ibis.row_number().over(ibis.window(group_by="cell", order_by="gap")))
        return placed.filter(placed.place < most).select("cell", "gap")


@cache
def _timezone() -> Any:
    """Return a function that engines have and Ibis does not."""
    import ibis  # noqa: PLC0415
    import ibis.expr.datatypes as dt  # noqa: PLC0415

    signature = ((str, dt.Timestamp(timezone="UTC")), dt.Timestamp(scale=6))
    return ibis.udf.scalar.builtin(lambda zone, moment: ..., name="timezone", signature=signature)


def _by_halving(number: ir.IntegerValue, edges: Sequence[int], values: Sequence[int]) -> ir.IntegerValue:
    import ibis  # noqa: PLC0415

    if not edges:
        return ibis.literal(values[0], "int64")
    middle = len(edges) // 2
    below = _by_halving(number, edges[:middle], values[: middle + 1])
    above = _by_halving(number, edges[middle + 1 :], values[middle + 1 :])
    return ibis.ifelse(number < edges[middle], below, above)

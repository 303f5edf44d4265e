# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: a database server, where a cast that does not fit fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.datatypes as dt

from anonymaly.engine import postgres_tables
from anonymaly.engine.engine import Engine

if TYPE_CHECKING:
    import ibis.expr.types as ir

# Functions that the engine has and Ibis does not.
_textout = ibis.udf.scalar.builtin(lambda text: ..., name="textout", signature=((str,), bytes))
_convert_to = ibis.udf.scalar.builtin(
    lambda text, encoding: ..., name="convert_to", signature=((str, str), bytes)
)
_textin = ibis.udf.scalar.builtin(lambda text: ..., name="textin", signature=((bytes,), str))
_make_interval = ibis.udf.scalar.builtin(
    lambda years, months, weeks, days, hours, minutes, seconds: ...,
    name="make_interval",
    signature=((*(dt.int32,) * 6, dt.float64), dt.Interval("s")),
)
_width_bucket = ibis.udf.scalar.builtin(
    lambda number, edges: ..., name="width_bucket", signature=((dt.int64, dt.Array(dt.int64)), dt.int32)
)


# What statements that read no row fail of, by the class of the error, and what to do.
_REASONS = {
    "LockNotAvailable": (
        "another session holds a lock on the table",
        "Ask again when it has ended, or set a longer lock_timeout.",
    ),
    "QueryCanceled": (
        "the database did not answer within its statement_timeout, though no row was asked for",
        "Set a longer statement_timeout for this user.",
    ),
    "InsufficientPrivilege": (
        "the database's user may not read the table",
        "Let them SELECT the declared columns, and USE the schema.",
    ),
}


@dataclass(frozen=True)
class PostgreSQL(Engine):
    """PostgreSQL."""

    def connect(self, url: str) -> Any:
        """Return a connection; what the address leaves out is in libpq's environment and files."""
        return postgres_tables.connect(url)

    def table(self, connection: Any, name: str) -> ir.Table:
        """Return a table, a view or the like, as ``table``, ``schema.table`` or quoted as in SQL."""
        return postgres_tables.find(connection, name)

    def refuse_connection(self, table: ir.Table) -> None:
        """Refuse a connection of the owner's on which texts are not read as they are."""
        postgres_tables.refuse_settings(table.get_backend().con)

    def why_unreadable(self, kind: str) -> tuple[str, str]:
        """Return what a failure of this class says, and what to do."""
        problem, advice = _REASONS.get(kind, super().why_unreadable(kind))
        return (f"{problem} ({kind})" if kind in _REASONS else problem), advice

    def in_byte_order(self, text: ir.Value) -> ir.Value:
        """Return the text's bytes: the database's own order may put a before B, and é before f."""
        return _convert_to(text.cast("string"), "UTF8")

    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        """Return text by way of its bytes, which removes a collation."""
        plain: ir.StringValue = _textin(_textout(text))
        return plain

    def moment(self, second: ir.IntegerValue, microsecond: ir.IntegerValue) -> ir.TimestampValue:
        """Return the moment so many seconds and microseconds after 1970 began."""
        start: ir.TimestampValue = ibis.literal("1970-01-01 00:00:00").cast("timestamp(6)")
        fraction = microsecond.cast("float64") / 1_000_000.0
        return self.later(start, second) + _make_interval(0, 0, 0, 0, 0, 0, fraction)

    def later(self, moment: ir.TimestampValue, seconds: ir.IntegerValue) -> ir.TimestampValue:
        """Return a moment so many seconds later."""
        # As a double, which times a million is exact up to 5.7e11 seconds: 15625 of them by 64.
        later: ir.TimestampValue = moment + _make_interval(0, 0, 0, 0, 0, 0, seconds.cast("float64"))
        return later

    def step(self, number: ir.IntegerValue, edges: Sequence[int], values: Sequence[int]) -> ir.IntegerValue:
        """Return the same by one search, which names the number once."""
        if not edges:
            return ibis.literal(values[0], "int64")
        place = _width_bucket(number.cast("int64"), ibis.literal(list(edges), "array<int64>"))
        return place.cases(*enumerate(values), else_=ibis.null("int64")).cast("int64")


ENGINE = PostgreSQL("postgres")  # forgives nothing: Ibis tries there by a plain cast

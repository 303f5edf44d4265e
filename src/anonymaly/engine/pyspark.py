# SPDX-License-Identifier: Apache-2.0
"""Spark: a cluster, or one machine, that the owner already has; rows stay there.

Statements run in a session of their own beside the owner's (see `spark_session`), whose settings are ours:
what a comparison, a cast or a sum means never depends on how the owner's is set, and theirs is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops

from anonymaly.engine.engine import Engine
from anonymaly.engine.spark_sql import COMPILER

if TYPE_CHECKING:
    import ibis.expr.types as ir

_MOMENT, _WORLD_MOMENT = dt.Timestamp(scale=6), dt.Timestamp(timezone="UTC", scale=6)
# Functions that the engine has and Ibis does not.
_try_validate_utf8 = ibis.udf.scalar.builtin(
    lambda text: ..., name="try_validate_utf8", signature=((str,), str)
)
_timestamp_micros = ibis.udf.scalar.builtin(
    lambda microseconds: ..., name="timestamp_micros", signature=((dt.int64,), _WORLD_MOMENT)
)
_unix_micros = ibis.udf.scalar.builtin(
    lambda moment: ..., name="unix_micros", signature=((_WORLD_MOMENT,), dt.int64)
)


@dataclass(frozen=True)
class Spark(Engine):
    """Spark, by a session in this process or by Spark Connect."""

    def connect(self, url: str) -> Any:
        """Return a connection to the session of a URL: pyspark:// or, of Spark Connect, sc://HOST:PORT."""
        from anonymaly.engine import spark_opening  # noqa: PLC0415  (PySpark, when it is needed)

        return spark_opening.connect(url)

    def open_source(self, source: Any, table: str | None) -> ir.Table:
        """Open a data frame, an Ibis table or a session's table in a session of our own."""
        from anonymaly.engine import spark_opening  # noqa: PLC0415

        return spark_opening.open_frame(spark_opening.frame_of(source, table))

    def reconnect(self, table: Any) -> Any:
        """Refuse a forked child: it would talk to the engine through its parent's socket."""
        from anonymaly.engine import spark_opening  # noqa: PLC0415

        spark_opening.refuse_child()

    def reopen(self, source: Any) -> None:
        """Change nothing: a session that was stopped cannot be opened again, and one that was not is open."""

    def sql(self, expression: ir.Expr) -> str:
        """Return an expression on unbound tables as this engine's statement."""
        return str(COMPILER.to_sqlglot(expression).sql(dialect="spark", pretty=True))

    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        """Return text by way of its bytes, which removes a collation; what is not UTF-8 is null."""
        # Ibis leaves out casts to types that it thinks a column has.
        binary = ops.Cast(text, to=dt.binary)
        plain: ir.StringValue = _try_validate_utf8(ops.Cast(binary, to=dt.string).to_expr())
        return plain

    def moment(self, second: ir.IntegerValue, microsecond: ir.IntegerValue) -> ir.TimestampValue:
        """Return the moment so many seconds and microseconds after 1970 began."""
        # The session's clock is in UTC, so only the type changes.
        moment: ir.TimestampValue = _timestamp_micros(second * 1_000_000 + microsecond).cast(_MOMENT)
        return moment

    def later(self, moment: ir.TimestampValue, seconds: ir.IntegerValue) -> ir.TimestampValue:
        """Return a moment so many seconds later."""
        counted = _unix_micros(moment.cast(_WORLD_MOMENT)) + seconds * 1_000_000
        later: ir.TimestampValue = _timestamp_micros(counted).cast(_MOMENT)
        return later

    def in_utc(self, moment: ir.TimestampValue) -> ir.TimestampValue:
        """Return moments of the whole world on the clock of UTC, which is the session's."""
        clock: ir.TimestampValue = moment.cast(_MOMENT)
        return clock


ENGINE = Spark("pyspark", has_lambdas=True, forgives=True)

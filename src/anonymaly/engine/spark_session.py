# SPDX-License-Identifier: Apache-2.0
"""A Spark session of our own beside the owner's, in which all statements run.

Both share one cluster and its tables. What is set here is set for our statements alone, and temporary views
are seen by nobody else and go with the session.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import pyarrow as pa

from anonymaly.engine.spark_rows import ROWS, refuse_without_arrow, unpacked
from anonymaly.engine.spark_sql import COMPILER
from anonymaly.errors import SchemaError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about pandas, which no result goes through
    import pyspark.sql.types as pt
    from ibis.backends.pyspark import Backend
    from ibis.backends.pyspark.datatypes import PySparkType
    from pyspark.logger import PySparkLogger
# Each statement would say it again.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)

if TYPE_CHECKING:
    import ibis.expr.types as ir

VIEW = "records"  # the owner's table, in our session
# All that could change what our statements mean, whatever a cluster sets.
SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",  # without it sums wrap around, and casts give the nearest number
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.variable.substitute": "false",  # or ${env:HOME} in a category would become a folder
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS),
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
}
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # by which PySpark prints what failed


class OwnSession(Backend):  # type: ignore[misc]  # Ibis has no types
    """Ibis' connection in a session of our own, with results by Arrow and not by pandas."""

    compiler = COMPILER

    def do_connect(self, session: Any) -> None:
        """Take a session that nobody else has; Ibis would change the settings of the owner's."""
        self._mode = "batch"
        self._session = session
        for name, value in SETTINGS.items():
            if session.conf.get(name) != value:  # of some that are set, Spark says that they are old
                session.conf.set(name, value)

    def to_pyarrow(self, expr: ir.Expr, /, **_: Any) -> Any:
        """Run an expression and return its result with the types that Ibis gives it."""
        table = expr.as_table()
        with without_words(), self._statement(table) as frame:
            found = frame.toArrow()
        return expr.__pyarrow_result__(found.cast(table.schema().to_pyarrow()))

    def to_pyarrow_batches(self, expr: ir.Expr, /, **_: Any) -> Iterator[pa.RecordBatch]:
        """Run an expression and yield its rows, one partition after the other; none is kept anywhere."""
        table = expr.as_table()
        schema = table.schema().to_pyarrow()
        with without_words(), self._statement(table) as frame:
            yield from unpacked(frame, schema)

    def table_of(self, frame: Any) -> ir.Table:
        """Return a view of our session as an Ibis table, with the types that Spark itself gives it."""
        schema = sch.Schema({field.name: type_of(field.dataType) for field in frame.schema.fields})
        frame.createOrReplaceTempView(VIEW)
        return ops.DatabaseTable(VIEW, schema=schema, source=self).to_expr()

    def table(self, name: str, /, **_: Any) -> ir.Table:
        """Return a table of the catalogue, as `catalog.schema.table` if need be."""
        return self.table_of(self._session.table(name))

    @contextmanager
    def _statement(self, table: ir.Table) -> Iterator[Any]:
        """Return a statement's frame; tables in memory are there as long as it runs."""
        held = [item.name for item in table.op().find(ops.InMemoryTable)]
        try:
            for item in table.op().find(ops.InMemoryTable):
                given = self._session.createDataFrame(item.data.to_pyarrow(item.schema))
                given.createOrReplaceTempView(item.name)
            yield self._session.sql(self.compile(table))
        finally:
            for name in held:
                with suppress(Exception):  # the session is lost, and its views with it
                    self._session.catalog.dropTempView(name)


def type_of(kind: Any) -> dt.DataType:
    """Return a Spark type as Ibis names it; what it does not know can be read as text alone."""
    # Ibis calls both kinds of timestamps the same. This one is a moment of the whole world.
    if isinstance(kind, pt.TimestampType):
        return dt.Timestamp(timezone="UTC", scale=6)
    if isinstance(kind, pt.TimestampNTZType):
        return dt.Timestamp(scale=6)
    try:
        return PySparkType.to_ibis(kind)
    except Exception:  # one column of a type that is new must not close the whole table
        return dt.unknown


def beside(session: Any) -> OwnSession:
    """Open a session of our own beside another one, or refuse a version of Spark that cannot."""
    try:
        opened = session.newSession()
    except (AttributeError, NotImplementedError):
        opened = None
    if opened is None:
        raise SchemaError(
            "this version of Spark Connect cannot open a second session",
            field="source",
            next_step="Install pyspark 4.3 or newer, or give the address sc://HOST:PORT with table=.",
        )
    return own(opened)


def own(session: Any) -> OwnSession:
    """Take a session that nobody else has."""
    backend = OwnSession()
    backend.do_connect(session)
    refuse_without_arrow(session)
    return backend


@contextmanager
def without_words() -> Iterator[None]:
    """Keep PySpark from printing what failed: an engine's messages quote values."""
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    ours = threading.get_ident()

    def refuse(_: logging.LogRecord) -> bool:
        return threading.get_ident() != ours  # what the owner runs meanwhile is theirs to read

    for logger in loggers:
        logger.addFilter(refuse)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(refuse)

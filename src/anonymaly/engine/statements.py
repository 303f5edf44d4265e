# SPDX-License-Identifier: Apache-2.0
"""Runs statements on an engine, one at a time, and keeps the engine's own words out of errors.

An engine's messages quote values, so a failure is reported as its class and the statement with every
literal removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from anonymaly.engine import lookup
from anonymaly.engine.turns import one_at_a_time, take_turn
from anonymaly.engine.watching import watched

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

Result = TypeVar("Result")


class EngineFailure(Exception):
    """A statement failed: what the owner's log may hold, and the cause, which is for public tables only."""

    def __init__(self, kind: str, template: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.template = template


def collect(expression: ir.Expr) -> pa.Table:
    """Run an expression on its engine and return the result as an Arrow table.

    Every summary goes through here, so that no engine's error text goes any further.
    """
    try:
        return _collect(expression)
    except EngineFailure as failure:
        with one_at_a_time():
            if not lookup.of(expression).can_run_again(expression, failure.kind):
                raise
    return _collect(expression)


class Probe:
    """Has an engine check names, types and permissions of a whole statement, of which it reads no row.

    Every question does so before it is charged, most of them with the same statement: to write that down
    takes Ibis three times as long as the embedded engine takes to check it.
    """

    def __init__(self) -> None:
        self._last: tuple[ir.Table, str] | None = None

    def check(self, view: ir.Table) -> None:
        """Raise EngineFailure if the engine refuses the statement."""
        if self._last is not None and self._last[0].equals(view):
            statement = self._last[1]
            _run(view, lambda: view.get_backend().raw_sql(statement).fetchall())
            return
        nothing = view.limit(0)
        collect(nothing)
        if lookup.of(view).is_local:
            self._last = (view, view.get_backend().compile(nothing))


def _collect(expression: ir.Expr) -> pa.Table:
    return _run(expression, lambda: expression.as_table().to_pyarrow())


def _run(expression: ir.Expr, work: Callable[[], Result]) -> Result:
    try:
        with one_at_a_time(), watched(expression):
            return work()
    except (Exception, KeyboardInterrupt) as problem:
        _stop_if_interrupted(problem, expression)
        raise EngineFailure(type(problem).__name__, statement_template(expression)) from problem


def collect_batches(expression: ir.Expr, rows: int) -> Iterator[pa.RecordBatch]:
    """Run an expression and yield the result in batches, so that it need not fit in memory at once.

    No other thread's statement runs until the last batch is taken or the iterator is closed, by whomever.
    """
    lock, noted = take_turn()
    try:
        with one_at_a_time():
            lookup.of(expression).before_rows(expression)
        with (
            lock,
            noted,
            watched(expression),
            closing(expression.as_table().to_pyarrow_batches(chunk_size=rows)) as batches,
        ):
            yield from batches
    except (Exception, KeyboardInterrupt) as problem:
        _stop_if_interrupted(problem, expression)
        raise EngineFailure(type(problem).__name__, statement_template(expression)) from problem


def _stop_if_interrupted(problem: BaseException, expression: ir.Expr) -> None:
    """Raise KeyboardInterrupt if that is what stopped a statement, so that its question stays open.

    DuckDB may raise an error of its own in its place, and a question whose statement fails has failed.
    """
    if isinstance(problem, KeyboardInterrupt) or isinstance(
        problem.__cause__ or problem.__context__, KeyboardInterrupt
    ):
        with suppress(Exception):
            # Otherwise the statement goes on, and whoever closes the connection waits for its end.
            expression.get_backend().con.interrupt()
        raise KeyboardInterrupt from None


def statement_template(expression: ir.Expr) -> str:
    """Return the SQL of an expression, as its engine reads it, with every literal replaced by ``?``."""
    try:
        # Imported when a statement fails, so that code which only names EngineFailure does not wait for them.
        import ibis  # noqa: PLC0415
        import sqlglot  # noqa: PLC0415
        import sqlglot.expressions as sql  # noqa: PLC0415

        dialect = expression.get_backend().dialect
        tree = sqlglot.parse_one(str(ibis.to_sql(expression)), read=dialect)
        for literal in list(tree.find_all(sql.Literal, sql.Boolean)):
            literal.replace(sql.Placeholder())
        for name in list(tree.find_all(sql.Identifier)):
            if "(" in name.this:  # Ibis names a result after its expression, literals and all
                name.replace(sql.to_identifier("unnamed"))
        return str(tree.sql(dialect=dialect))
    except Exception:  # the template is for a log line; its absence must not hide the failure it describes
        return "(no statement)"

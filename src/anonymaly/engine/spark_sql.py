# SPDX-License-Identifier: Apache-2.0
"""How expressions are written for Spark, where Ibis' own way would mean something else or could fail.

Its regular expressions are Java's, its plain fractions are decimals, its sums of whole numbers overflow, and
it has two kinds of timestamps. Compiling needs neither PySpark nor Java.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.backends.sql.datatypes import PySparkType

_SINGLE_BRACKET = re.compile(r"\[([\[\]])\]")  # to Java, [[] opens a set within the set
_GROUP = re.compile(r"\\([0-9])")
_ARITHMETIC = (ops.Multiply, ops.Add, ops.Subtract)
_LARGEST_SUM = dt.Decimal(38, 0)  # of as many 64-bit numbers as a table can have rows


def java_pattern(pattern: str) -> str:
    r"""Return a regular expression as Java writes it; $ would match before a line break at the end as well.

    Examples
    --------
    >>> java_pattern("^[(](?:[0-9]+)[)][[]x[]]$")
    '^[(](?:[0-9]+)[)]\\[x\\]\\z'
    """
    bare = _SINGLE_BRACKET.sub(r"\\\1", pattern)
    return f"{bare[:-1]}\\z" if bare.endswith("$") else bare


class SparkTypes(PySparkType):  # type: ignore[misc]  # Ibis has no types
    """Ibis' types by Spark's names: without a zone they are TIMESTAMP_NTZ, and with one TIMESTAMP_LTZ."""

    @classmethod
    def from_ibis(cls, dtype: dt.DataType) -> Any:
        """Return the type as sqlglot names it."""
        if not dtype.is_timestamp():
            return super().from_ibis(dtype)
        kinds = sge.DataType.Type
        return sge.DataType(this=kinds.TIMESTAMPNTZ if dtype.timezone is None else kinds.TIMESTAMPLTZ)


class SparkCompiler(PySparkCompiler):  # type: ignore[misc]
    """Ibis' compiler, with the differences."""

    __slots__ = ()

    type_mapper = SparkTypes

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: dt.DataType) -> Any:  # noqa: N802
        """Write a fraction by its text as a double: plain ones are decimals to Spark."""
        if dtype.is_floating():
            return self.cast(repr(float(value)), dt.float64)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_Field(self, op: Any, *, rel: Any, name: str) -> Any:  # noqa: N802
        """Name a column; Ibis looks for an option of its own here, which needs PySpark."""
        return SQLGlotCompiler.visit_Field(self, op, rel=rel, name=name)

    def visit_IsNull(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Test for null alone, as other engines do; Ibis calls NaN null on Spark."""
        return arg.is_(sge.null())

    def visit_NotNull(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Test for null alone."""
        return arg.is_(sge.not_(sge.null()))

    def visit_TryCast(self, op: Any, *, arg: Any, to: dt.DataType) -> Any:  # noqa: N802
        """Try a cast; dates so far from the calendar that they overflow as moments are kept from it."""
        if op.arg.dtype.is_date() and to.is_timestamp():
            low, high = (self.cast(end.isoformat(), dt.date) for end in (date.min, date.max))
            arg = self.if_(sge.Between(this=arg, low=low, high=high), arg, self.cast(sge.null(), dt.date))
        return super().visit_TryCast(op, arg=arg, to=to)

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        """Sum 64-bit numbers as decimals: the sum would fail, or without ANSI be wrong, beyond 64 bits."""
        if op.arg.dtype.is_int64():
            return self.agg.sum(self.cast(arg, _LARGEST_SUM), where=where)
        return super().visit_Sum(op, arg=arg, where=where)

    def visit_Multiply(self, op: Any, *, left: Any, right: Any) -> Any:  # noqa: N802
        """Calculate in 64 bits, as Ibis means it; Spark's own whole numbers in a statement have 32."""
        return self.binop(sge.Mul, self._wide(op, left), right)

    def visit_Add(self, op: Any, *, left: Any, right: Any) -> Any:  # noqa: N802
        """Calculate in 64 bits."""
        return self.binop(sge.Add, self._wide(op, left), right)

    def visit_Subtract(self, op: Any, *, left: Any, right: Any) -> Any:  # noqa: N802
        """Calculate in 64 bits."""
        return self.binop(sge.Sub, self._wide(op, left), right)

    def _wide(self, op: Any, left: Any) -> Any:
        is_wide = isinstance(op.left, _ARITHMETIC) or (
            isinstance(op.left, ops.Cast) and op.left.to.is_int64()
        )
        return left if is_wide or not op.dtype.is_integer() else self.cast(left, dt.int64)

    def visit_CountStar(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        """Count rows; of no rows, 0. Ibis sums the condition, and a sum of nothing is null."""
        return super().visit_CountStar(op, arg=arg, where=None) if where is None else self.f.count_if(where)

    def visit_DateFromYMD(self, op: Any, *, year: Any, month: Any, day: Any) -> Any:  # noqa: N802
        """Make a date of numbers, which must be of 32 bits."""
        return self.f.anon.make_date(*(self.cast(part, dt.int32) for part in (year, month, day)))

    def visit_DateDelta(self, op: Any, *, left: Any, right: Any, **_: Any) -> Any:  # noqa: N802
        """Return the days from one date to another; Ibis goes by way of moments."""
        return self.cast(self.f.anon.datediff(left, right), dt.int64)

    def visit_RegexSearch(self, op: Any, *, arg: Any, pattern: Any) -> Any:  # noqa: N802
        """Search by the same expression in Java's writing."""
        return sge.RegexpLike(this=arg, expression=_in_java(op, pattern))

    def visit_RegexExtract(self, op: Any, *, arg: Any, pattern: Any, index: Any) -> Any:  # noqa: N802
        """Cut out a group by the same expression in Java's writing."""
        return self.f.anon.regexp_extract(arg, _in_java(op, pattern), index)

    def visit_RegexReplace(self, op: Any, *, arg: Any, pattern: Any, replacement: Any) -> Any:  # noqa: N802
        r"""Replace by the same expression in Java's writing, where \1 is $1."""
        written = sge.convert(_GROUP.sub(r"$\1", op.replacement.value))
        return self.f.anon.regexp_replace(arg, _in_java(op, pattern), written)


def _in_java(op: Any, pattern: Any) -> Any:
    # All of ours are literals.
    return sge.convert(java_pattern(op.pattern.value)) if isinstance(op.pattern, ops.Literal) else pattern


COMPILER = SparkCompiler()

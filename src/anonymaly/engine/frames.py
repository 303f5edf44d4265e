# SPDX-License-Identifier: Apache-2.0
"""Data frames: their columns by name, and as Arrow tables that the embedded engine reads."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from anonymaly.core.suggestions import guess, listed
from anonymaly.errors import InputError, SchemaError

if TYPE_CHECKING:
    import pyarrow as pa


LARGEST_EXPONENT = 400  # no double is as large
MISSING = ("None", "NaT", "<NA>")  # how what is missing writes itself
ADVICE = "Give a data frame, a list of records, or a mapping of columns to lists of values."
ONE_RECORD = "Put a single record into a list, as in [{'age': 41}]; of a row of a frame: frame.loc[[label]]."


def columns_of(data: Any, *, field: str) -> dict[str, Any] | None:
    """Return the columns of what a user gives, each as its library holds it; None if it is not a frame.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, a list of records, or a mapping of columns to values.
    field
        The field that error messages name.

    Examples
    --------
    >>> columns_of([{"age": 30, "ward": "A"}, {"age": 41, "ward": "B"}], field="records")
    {'age': [30, 41], 'ward': ['A', 'B']}
    >>> columns_of([[30, 1], [41, 2]], field="records") is None
    True
    """
    if isinstance(data, Mapping):
        single = [isinstance(values, str) or not isinstance(values, Iterable) for values in data.values()]
        if any(single):
            advice = ONE_RECORD if all(single) else ADVICE
            raise InputError("has a column without a list of values", field=field, next_step=advice)
        return {str(name): values for name, values in data.items()}
    if isinstance(data, list) and data and all(isinstance(item, Mapping) for item in data):
        return _from_records(data, field)
    names = _frame_names(data)
    if names is None:
        return None
    if len(set(map(str, names))) < len(names):
        raise InputError("names a column twice", field=field, next_step="Name each column once.")
    try:
        # A lazy frame is read once.
        frame = data.collect() if hasattr(data, "collect") and not hasattr(data, "shape") else data
        return {str(name): frame[name] for name in names}
    except Exception as problem:
        kind = type(problem).__name__  # its text may quote a value
    raise InputError(f"could not be read as columns ({kind})", field=field, next_step=ADVICE)


def no_frame(data: Any, *, field: str) -> InputError:
    """Return the error about what has no columns: something else, no records at all, or a single one."""
    if isinstance(data, list) and not data:
        return InputError("has no records", field=field, next_step="Give at least one record to judge.")
    single = {"Series"} & _names(data)  # a row of pandas or polars
    return InputError(
        f"must have named columns, got {type(data).__name__}",
        field=field,
        next_step=ONE_RECORD if single else ADVICE,
    )


def values_of(column: Any) -> list[Any]:
    """Return a column as plain Python values, whatever library it comes from.

    Examples
    --------
    >>> import pandas
    >>> values_of(pandas.Series([1, 2]))
    [1, 2]
    """
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)


def _from_records(records: Sequence[Mapping[Any, Any]], field: str) -> dict[str, Any]:
    for place, record in enumerate(records, start=1):
        if set(record) != set(records[0]):
            raise InputError(
                f"has other columns in record {place} than in the first",
                field=field,
                next_step="Give every record the same columns.",
            )
    return {str(name): [record[name] for record in records] for name in records[0]}


def is_ibis_table(source: Any) -> bool:
    """Say whether something is an Ibis table, without importing Ibis if it is not."""
    if "ibis" not in _libraries(source):
        return False
    import ibis  # noqa: PLC0415

    return isinstance(source, ibis.Table)


def is_of_spark(source: Any) -> bool:
    """Say whether something is a frame or a session of Spark, without importing PySpark."""
    return "pyspark" in _libraries(source) and bool(_names(source) & {"DataFrame", "SparkSession"})


def is_spark_session(source: Any) -> bool:
    """Say whether something is a session of Spark; a frame's attributes are its columns, so by its class."""
    return "pyspark" in _libraries(source) and "SparkSession" in _names(source)


def _names(source: Any) -> set[str]:
    return {base.__name__ for base in type(source).__mro__}


def _libraries(source: Any) -> set[str]:
    return {base.__module__.partition(".")[0] for base in type(source).__mro__}


def to_arrow(
    source: Any, needed: Sequence[str], opaque: Container[str] = ()
) -> tuple[pa.Table, dict[str, str]] | None:
    """Return a frame's needed columns as an Arrow table, and which of them have no type of their own.

    What is ``opaque`` is published as it is typed here, which no single row may decide.

    The result is None if it is not a frame we know.
    """
    libraries = _libraries(source)
    library = next((name for name in ("pandas", "polars", "pyarrow") if name in libraries), None)
    if library is None:
        return None
    import pyarrow as pa  # noqa: PLC0415  (70 ms that a file or database source never needs)

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    names = _frame_names(source)
    if names is None:
        return None
    kept = list(dict.fromkeys(needed))
    for name in kept:
        if names.count(name) != 1:
            raise SchemaError(
                "is in the frame twice" if name in names else "is not in the frame",
                field=f"columns.{name}",
                next_step=f"{guess(name, names)}Declare the columns that it has: {listed(names, name)}.",
            )
    try:
        if library == "pandas":
            return _from_pandas(source, kept, opaque)
        if library == "polars":
            selected = source.select(kept)
            source = (selected.collect() if hasattr(selected, "collect") else selected).to_arrow()
        columns = {name: source.column(name) for name in kept}
        loose = {name: "null" for name, column in columns.items() if pa.types.is_null(column.type)}
        return pa.table({name: _readable(column) for name, column in columns.items()}), loose
    except Exception as problem:
        kind = type(problem).__name__
    raise SchemaError(
        f"the frame could not be read as a table of typed columns ({kind})",
        field="source",
        next_step="Give every declared column one type that Arrow knows.",
    )


def _frame_names(source: Any) -> list[Any] | None:
    """Return the names of a frame's columns, or None if it is not a frame but, say, a series or a reader."""
    if hasattr(source, "collect_schema") and hasattr(source, "lazy"):
        return list(source.collect_schema().names())
    names = getattr(source, "column_names", None)
    if names is None:
        names = getattr(source, "columns", None)
    return None if names is None or not hasattr(source, "shape") else list(names)


def _from_pandas(source: Any, kept: Sequence[str], opaque: Container[str]) -> tuple[pa.Table, dict[str, str]]:
    """Read columns by their types alone; what a type leaves open is read object by object.

    Whether a frame can be opened, and how it is typed, must not depend on a row. Where pandas makes up a type
    by looking at all rows (objects, categories, and floats, which a column of nothing is, too), every
    declaration fits. An opaque column of numpy's types is text: one null makes whole numbers floats and flags
    objects, and a published column must not show that.
    """
    import numpy as np  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    columns: dict[str, Any] = {}
    loose: dict[str, str] = {}
    for name in kept:
        series = source[name]
        kind = str(series.dtype)
        of_objects = series.dtype == object or getattr(series.dtype, "storage", None) == "python"
        of_numpy = isinstance(series.dtype, np.dtype) or kind.startswith("datetime64")
        if of_objects or (of_numpy and name in opaque):
            # Object by object, by a rule that looks at nothing else: a type guessed from all of them would
            # let one row change how every other row is read.
            column = _spelled_all(series)
        elif kind == "category":
            categories = _spelled_all(series.cat.categories)
            codes = series.cat.codes.to_numpy()
            column = categories.take(pa.array(codes, mask=codes < 0))
        else:
            column = pa.Table.from_pandas(source[[name]], preserve_index=False).column(0)
        if series.dtype == object or kind in ("float64", "category"):
            loose[name] = kind
        columns[name] = _readable(column)
    return pa.table(columns), loose


def _spelled_all(items: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.array([_spelled(item) for item in items], pa.string())


def _spelled(item: Any) -> str | None:
    """Write one object as text, or as null if it is missing or cannot be; equal numbers give equal text.

    Objects run code of their own when they are looked at, so anything may be raised here.
    """
    try:
        text = item if isinstance(item, str) else _written(item)
        return None if text is None else str(text.encode(), "utf-8")  # half a surrogate has no bytes
    except Exception:
        return None


def _written(item: Any) -> str | None:
    if isinstance(item, bytes):
        return item.decode()
    if isinstance(item, Real | Decimal) and not isinstance(item, bool):
        return _written_number(item)
    text = item.isoformat(sep=" ") if isinstance(item, datetime) else str(item)
    return None if text in MISSING else text


def _written_number(number: Any) -> str | None:
    if isinstance(number, Decimal):
        if number.is_nan():
            return None
        if number.adjusted() > LARGEST_EXPONENT:
            return str(number)  # its digits might fill the memory
    if not isinstance(number, Integral) and not math.isfinite(number):
        return None if math.isnan(number) else str(number)
    return str(int(number)) if number == int(number) else str(number)


def _readable(column: Any) -> Any:
    """Return a column in a form that DuckDB can read, whatever its values are."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    kind = column.type
    if pa.types.is_null(kind) or (pa.types.is_dictionary(kind) and pa.types.is_null(kind.value_type)):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_duration(kind) and kind.unit in ("s", "ms"):
        # The engine counts microseconds, of which 64 bits hold so many.
        most = (2**63 - 1) // (10**6 if kind.unit == "s" else 10**3)
        number = column.cast(pa.int64())
        inside = pc.and_(pc.greater_equal(number, -most), pc.less_equal(number, most))
        return pc.if_else(inside, column, pa.scalar(None, kind)).cast(pa.duration("us"))
    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        # Moments outside the range of microseconds would make the statement fail.
        low, high = (
            pa.scalar(moment, pa.timestamp(kind.unit, kind.tz)) for moment in (datetime.min, datetime.max)
        )
        inside = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
        return pc.if_else(inside, column, pa.scalar(None, kind)).cast(pa.timestamp("us", kind.tz))
    return column

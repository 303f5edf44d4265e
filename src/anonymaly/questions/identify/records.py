# SPDX-License-Identifier: Apache-2.0
"""The records an asker asks about, read from whatever holds them into one frozen form.

A batch is held column by column. Files are not read here: a question may come from elsewhere, and a
path in it must not make this machine open a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, StrictStr

from anonymaly.core.value import Scalar
from anonymaly.errors import InputError

ADVICE = "Give a data frame, a list of records, or a mapping of columns to values."


def read_record(data: Any) -> Any:
    """Return one record as its items in order; pass on what is items already."""
    if not isinstance(data, Mapping):
        return data
    return tuple(
        (str(name), _plain(value, str(name), "record")) for name, value in sorted(data.items(), key=_name)
    )


def read_records(data: Any) -> Any:
    """Return a batch as its columns in order, each with its values; pass on what is that already."""
    if isinstance(data, tuple):
        return data
    columns = _columns(data)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise InputError("has columns of different lengths", field="records", next_step=ADVICE)
    if lengths in (set(), {0}):
        raise InputError("holds no record", field="records", next_step="Give at least one.")
    return tuple(
        (str(name), _plain_column(values, str(name))) for name, values in sorted(columns.items(), key=_name)
    )


def _name(item: tuple[Any, Any]) -> str:
    return str(item[0])


def _columns(data: Any) -> dict[str, Sequence[Any]]:
    if isinstance(data, Mapping):
        if any(isinstance(values, str) or not isinstance(values, Iterable) for values in data.values()):
            raise InputError("has a column without a list of values", field="records", next_step=ADVICE)
        return {str(name): list(values) for name, values in data.items()}
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if names is not None and hasattr(data, "shape"):
        listed = [str(name) for name in names]
        if len(set(listed)) < len(listed):
            raise InputError("names a column twice", field="records", next_step="Name each column once.")
        return {str(name): _listed(data[name]) for name in names}
    if isinstance(data, list) and all(isinstance(item, Mapping) for item in data):
        wanted = set(data[0]) if data else set()
        for place, item in enumerate(data, start=1):
            if set(item) != wanted:
                raise InputError(
                    f"has other columns in record {place} than in the first",
                    field="records",
                    next_step="Give every record the same columns.",
                )
        return {str(name): [item[name] for item in data] for name in wanted}
    raise InputError(f"cannot be read from {type(data).__name__}", field="records", next_step=ADVICE)


def _listed(column: Any) -> list[Any]:
    """Return a frame's column as Python's own values, whoever made the frame."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return list(getattr(column, way)())
    return list(column)


def _plain_column(values: Sequence[Any], name: str) -> tuple[Any, ...]:
    kinds = set(map(type, values))
    # The difference of NaN or infinity to itself is NaN: the quick way to see that there is none of them.
    if kinds <= {int, bool, str} or (kinds <= {int, float} and all(value - value == 0 for value in values)):
        return tuple(values)
    return tuple(_plain(value, name, "records") for value in values)


def _plain(value: Any, column: str, field: str) -> Any:
    value = value.item() if hasattr(value, "item") else value  # numpy's scalars become Python's
    if isinstance(value, list | tuple):
        raise InputError(
            f"has several values of {column}", field=field, next_step="Give one value for each column."
        )
    # Only NaN differs from itself; a data frame's missing moment and number do not even compare.
    if value is None or value != value or str(value) in ("NaT", "<NA>"):  # noqa: PLR0124
        raise InputError(
            f"has no value of {column}",
            field=field,
            next_step="A record with a null is never an anomaly; leave it out.",
        )
    value = float(value) if isinstance(value, Decimal) else value
    if not isinstance(value, bool | int | float | str) or value in (math.inf, -math.inf):
        raise InputError(
            f"has a value of {column} that is not a finite number, a text or a flag",
            field=field,
            next_step="Give the values as they are declared.",
        )
    return value


def _in_columns(columns: tuple[tuple[str, tuple[Any, ...]], ...]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in columns}


RecordItems = Annotated[
    tuple[tuple[StrictStr, Scalar], ...],
    BeforeValidator(read_record),
    PlainSerializer(dict, return_type=dict[str, Any]),
]
RecordColumns = Annotated[
    tuple[tuple[StrictStr, tuple[Scalar, ...]], ...],
    BeforeValidator(read_records),
    PlainSerializer(_in_columns, return_type=dict[str, Any]),
]

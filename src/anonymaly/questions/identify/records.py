# SPDX-License-Identifier: Apache-2.0
"""The records an asker asks about, read from whatever holds them into one frozen form.

A batch is held column by column. Files are not read here: a question may come from elsewhere, and a
path in it must not make this machine open a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, StrictStr

from anonymaly.core.value import Scalar
from anonymaly.engine.frames import ADVICE, columns_of, values_of
from anonymaly.errors import InputError


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
    found = {} if isinstance(data, list) and not data else columns_of(data, field="records")
    if found is None:
        raise InputError(f"cannot be read from {type(data).__name__}", field="records", next_step=ADVICE)
    columns = {name: values_of(column) for name, column in found.items()}
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

# SPDX-License-Identifier: Apache-2.0
"""New records with numbers, moments, labels and missing values, read as the model's columns.

They are the asker's own: how the owner's table is written (`read:`) does not apply to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonymaly.core.arrays import Floats
from anonymaly.engine.frames import ADVICE, columns_of
from anonymaly.errors import InputError
from anonymaly.questions.score.space import refuse_other_columns

if TYPE_CHECKING:
    from anonymaly.questions.score.mixed_labels import Label
    from anonymaly.questions.score.mixed_space import MixedSpace


def read_columns(records: Any, space: MixedSpace) -> list[Floats]:
    """Return numbers, seconds or places of labels for each column; NaN where there is no value."""
    found = columns_of(records, field="records")
    if found is None:
        found = _from_rows(records, space.columns)
    refuse_other_columns(list(found), space.columns)
    read = []
    for axis, name in enumerate(space.columns):
        typed, labels = _typed(found[name], name), space.labels[axis]
        if labels is not None:
            read.append(_places(typed, labels, name))
        elif space.kinds[axis] == "moment":
            read.append(_seconds(typed, name))
        else:
            read.append(_numbers(typed, name))
    if len(set(map(len, read))) > 1:
        raise InputError("has columns of different lengths", field="records", next_step=ADVICE)
    return read


def _from_rows(records: Any, columns: Sequence[str]) -> dict[str, Any]:
    if isinstance(records, np.ndarray):
        fits = records.ndim == 2 and records.shape[1] == len(columns)
        shape = str(records.shape)
        parts: list[Any] = [records[:, axis] for axis in range(len(columns))] if fits else []
    else:
        rows = list(records)
        fits = all(isinstance(row, list | tuple | np.ndarray) and len(row) == len(columns) for row in rows)
        shape = f"{len(rows)} rows of other lengths"
        parts = [[row[axis] for row in rows] for axis in range(len(columns))] if fits else []
    if not fits:
        raise InputError(
            f"must be a frame, or rows of {len(columns)} values, got {shape}",
            field="records",
            next_step=f"Give the columns {', '.join(columns)}, in this order; one row is [[…]].",
        )
    return dict(zip(columns, parts, strict=True))


def _typed(column: Any, name: str) -> pa.Array:
    try:
        typed = column.to_arrow() if hasattr(column, "to_arrow") else column
        if not isinstance(typed, pa.ChunkedArray | pa.Array):
            typed = pa.array(typed, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise InputError(
            "is a column of no one type", field=name, next_step="Give values of one type."
        ) from None
    plain = typed.combine_chunks() if isinstance(typed, pa.ChunkedArray) else typed
    return plain.dictionary_decode() if pa.types.is_dictionary(plain.type) else plain


def _numbers(typed: pa.Array, name: str) -> Floats:
    kind = typed.type
    if pa.types.is_null(kind):
        return np.full(len(typed), np.nan)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        advice = "Give numbers, not texts of them: 1234.5, and not '1234.5'." if text else "Give numbers."
        raise InputError(f"must hold numbers, got {kind}", field=name, next_step=advice)
    numbers: Floats = typed.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if np.isinf(numbers).any():
        raise InputError(
            f"is infinite in {int(np.isinf(numbers).sum())} of {len(numbers)} records",
            field=name,
            next_step="Give finite numbers, or leave such values out as missing.",
        )
    return numbers


def _seconds(typed: pa.Array, name: str) -> Floats:
    kind = typed.type
    if pa.types.is_null(kind):
        return np.full(len(typed), np.nan)
    try:
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_date(kind):
            typed = typed.cast(pa.timestamp("us"))
        elif not pa.types.is_timestamp(kind) or kind.tz is not None:
            raise InputError(
                f"must hold dates or moments without a zone, got {kind}",
                field=name,
                next_step="Give moments as the owner declared them, such as 2026-01-31 12:00.",
            )
        ticks = typed.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    except pa.ArrowException:
        raise InputError(
            f"has a text that is no moment in record {_first_unread(typed)}",
            field=name,
            next_step="Write moments as 2026-01-31 12:00:00.",
        ) from None
    whole = np.floor_divide(ticks.fill_null(0).to_numpy(zero_copy_only=False), 1_000_000)
    return np.where(ticks.is_valid().to_numpy(zero_copy_only=False), whole.astype(np.float64), np.nan)


def _first_unread(texts: pa.Array) -> str:
    """Return the number, from 1 on, of the first text that is no moment; the text may be about a person."""
    for number, text in enumerate(texts, start=1):
        try:
            text.cast(pa.timestamp("us"))
        except pa.ArrowException:
            return f"{number:,}"
    raise AssertionError("all texts are moments")


def _places(typed: pa.Array, labels: tuple[Label, ...], name: str) -> Floats:
    kind, first = typed.type, labels[0]
    if pa.types.is_null(kind):
        return np.full(len(typed), np.nan)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if isinstance(first, bool):
        fits, compared = pa.types.is_boolean(kind), pa.bool_()
    elif isinstance(first, str):
        fits, compared = text, pa.string()
    else:
        fits, compared = number, pa.float64()
    if not fits:
        wanted = (
            "true or false" if isinstance(first, bool) else "text" if isinstance(first, str) else "numbers"
        )
        raise InputError(
            f"must hold {wanted}, got {kind}", field=name, next_step="Give the declared values of the column."
        )
    plain = typed.cast(compared, safe=False)
    if compared == pa.float64():
        plain = pc.if_else(pc.is_nan(plain), pa.scalar(None, compared), plain)
    places = pc.index_in(plain, pa.array(labels, compared), skip_nulls=True).fill_null(len(labels))
    numbers: Floats = places.to_numpy(zero_copy_only=False).astype(np.float64)
    numbers[~plain.is_valid().to_numpy(zero_copy_only=False)] = np.nan
    return numbers

# SPDX-License-Identifier: Apache-2.0
"""Records in CSV, from a file or typed into a form, read by the declared types of their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.csv

from anonymaly.declare.domain import Domain
from anonymaly.engine.frames import columns_of, values_of
from anonymaly.errors import InputError

NEXT_STEP = "Give one line for each record, and the names of the columns first."
MOST_OTHERS = 1000  # columns that are not declared: each takes longer than a record does


def read_csv(source: Any, columns: Mapping[str, Domain], delimiter: str = ",") -> pa.Table:
    """Read CSV; raises what Arrow raises."""
    # Text has no types: 166 is a text in a column that is declared so, and 007 stays as it is.
    texts = [name for name, domain in columns.items() if domain.kind in ("text", "opaque")]
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
    parsing = pyarrow.csv.ParseOptions(delimiter=delimiter)
    return pyarrow.csv.read_csv(source, parse_options=parsing, convert_options=options)


def read_typed(text: str, columns: Mapping[str, Domain], *, field: str) -> dict[str, list[Any]]:
    """Read records that are typed, or pasted from a spreadsheet, which puts tabs between them, as columns.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval
    >>> read_typed("age\\n30\\n97\\n", {"age": Interval(0, 120)}, field="records")
    {'age': [30, 97]}
    """
    text = text.strip("\r\n")
    head, _, lines = text.partition("\n")
    if not lines.strip():
        raise InputError("has no record", field=field, next_step=NEXT_STEP)
    delimiter = "\t" if "\t" in head and "," not in head else ","
    _refuse_too_wide(text, delimiter, len(columns) + MOST_OTHERS, field)
    try:
        table = read_csv(io.BytesIO(text.encode()), columns, delimiter)
    except pa.ArrowException as problem:
        raise InputError(
            f"cannot be read as CSV ({type(problem).__name__})", field=field, next_step=NEXT_STEP
        ) from None
    found = columns_of(table, field=field) or {}
    return {name: values_of(column) for name, column in found.items()}


def _refuse_too_wide(text: str, delimiter: str, most: int, field: str) -> None:
    """Refuse more columns than are worth the time, before they are read."""
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:  # one that is as long as a book
        raise InputError("has a column's name without an end", field=field, next_step=NEXT_STEP) from None
    if len(names) > most:
        raise InputError(
            f"has {len(names):,} columns, and a page takes at most {most:,}",
            field=field,
            next_step="Leave out columns that records are not compared by.",
        )

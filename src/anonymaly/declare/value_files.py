# SPDX-License-Identifier: Apache-2.0
"""Long lists of categories in files of their own: ``values: {file: wards.csv}``.

The list is read when the manifest is, so that the declaration holds the values and needs the file no more.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymaly.errors import ManifestError

LARGEST_FILE = 10_000_000  # bytes
_ADVICE = (
    "Give a file in UTF-8 beside the manifest with one value a line, or a CSV file, of which the first field "
    "of every line counts; if it has a header line, name the column: {file: wards.csv, column: ward}."
)


def with_values(data: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Return a manifest's data with each file of values replaced by its values."""
    columns = data.get("columns")
    if not isinstance(columns, Mapping):
        return data
    return {**data, "columns": {name: _column(name, item, folder) for name, item in columns.items()}}


def _column(name: Any, item: Any, folder: Path) -> Any:
    if not isinstance(item, Mapping) or not isinstance(item.get("values"), Mapping):
        return item
    return {**item, "values": _values(item["values"], folder, f"columns.{name}.values")}


def _values(asked: Mapping[str, Any], folder: Path, field: str) -> list[str]:
    path, column = asked.get("file"), asked.get("column")
    if set(asked) - {"file", "column"} or not isinstance(path, str) or not isinstance(column, str | None):
        raise ManifestError("must be a list, or {file: …}", field=field, next_step=_ADVICE)
    try:
        with (folder / path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise ManifestError(
                f"{path} has more than {LARGEST_FILE:,} bytes", field=field, next_step=_ADVICE
            )
        rows = _rows(content.decode("utf-8-sig"), is_table=path.lower().endswith((".csv", ".tsv")))
    except (OSError, ValueError, csv.Error) as problem:
        kind = type(problem).__name__
        raise ManifestError(f"cannot read {path} ({kind})", field=field, next_step=_ADVICE) from None
    place = 0
    if column is not None:
        if not rows or column not in rows[0]:
            raise ManifestError(f"{path} has no column {column!r}", field=field, next_step=_ADVICE)
        place = rows[0].index(column)
        rows = rows[1:]
    values = [row[place].strip() for row in rows if len(row) > place and row[place].strip()]
    if not values:
        raise ManifestError(f"{path} has no values", field=field, next_step=_ADVICE)
    return list(dict.fromkeys(values))


def _rows(text: str, *, is_table: bool) -> list[list[str]]:
    if not is_table:
        return [[line] for line in text.split("\n")]
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))

# SPDX-License-Identifier: Apache-2.0
"""The first line of text files, which names their columns and is public."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from anonymaly.engine.files import open_unpacked, refuse_wide
from anonymaly.engine.layouts import shown
from anonymaly.errors import SchemaError

LONGEST_HEADER = 1_000_000
SAY_ENCODING = 'Say its encoding, as file={"encoding": "windows-1252"}, or save it as UTF-8'


def common_header(files: Sequence[str], delimiter: str | None = None) -> tuple[list[str], str]:
    """Return the column names and the delimiter of text files, which must all be the same."""
    first, *others = [_header(file, delimiter, named) for file, named in shown(files).items()]
    for file, other in zip(files[1:], others, strict=True):
        if other != first:
            # The engine would match their columns by position.
            raise SchemaError(
                f"the first lines of {shown(files)[files[0]]} and {shown(files)[file]} differ",
                field="source",
                next_step="Give files with the same columns, order and separator.",
            )
    return first


def _header(path: str, declared: str | None, named: str) -> tuple[list[str], str]:
    """Read names and delimiter from the header line, which is public; sniffing would read rows."""
    with open_unpacked(path) as lines:
        line = lines.readline(LONGEST_HEADER).partition(b"\r")[0]
    try:
        header = line.decode("utf-8-sig").rstrip("\n")  # bytes first: rows must not be decoded
    except UnicodeDecodeError:
        raise SchemaError(
            f"the first line of {named} is not in UTF-8", field="source", next_step=f"{SAY_ENCODING}."
        ) from None
    delimiter = declared or max(",;\t|", key=re.sub('"[^"]*"', "", header).count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    if header.count('"') % 2:
        raise SchemaError(
            f"the first line of {named} has an open quote",
            field="source",
            next_step="Close it, or give the file a header line.",
        )
    refuse_misnamed(named, names)
    return names, delimiter


def refuse_misnamed(path: str, names: Sequence[str]) -> None:
    """Refuse a header that does not name every column once, and say which columns it does not."""
    refuse_wide(path, len(names))
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names, start=1):
        places.setdefault(name.lower(), []).append(place)  # to DuckDB, Age and age are the same
    wrong = []
    for name, found in places.items():
        spelled = list(dict.fromkeys(repr(names[place - 1]) for place in found))
        if name == "":
            wrong.append(f"{_columns(found)} {'has' if len(found) == 1 else 'have'} no name")
        elif len(found) > 1:
            wrong.append(
                f"{' and '.join(spelled)} {'names' if len(spelled) == 1 else 'name'} {_columns(found)}"
            )
    if wrong or not names:
        raise SchemaError(
            f"the first line of {path} does not name every column once: {'; '.join(wrong) or 'it is empty'}",
            field="source",
            next_step="Give each column a name of its own; capital and small letters are the same.",
        )


def _columns(places: Sequence[int]) -> str:
    """Say columns by their positions, at most ten of them."""
    shown = ", ".join(map(str, places[:10])) + (f" and {len(places) - 10} more" if len(places) > 10 else "")
    return f"column{'s' if len(places) > 1 else ''} {shown}"

# SPDX-License-Identifier: Apache-2.0
"""The files that a path names, their kind, and the header of text files."""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from anonymaly.errors import InputError, SchemaError

FileKind = Literal["text", "parquet", "database"]
KINDS: dict[str, FileKind] = {
    ".csv": "text",
    ".tsv": "text",
    ".gz": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".db": "database",
    ".ddb": "database",
    ".duckdb": "database",
}
LONGEST_HEADER = 1_000_000
MOST_COLUMNS = 4_096  # a table of more takes the engine seconds to describe before anything is refused


def find_files(path: str) -> list[str]:
    """Return the files that a path names; a path that exists is not a pattern, whatever its name."""
    if os.path.exists(path):
        return [path]
    return sorted(glob.glob(path)) if glob.has_magic(path) else []


def wherever(path: str) -> str:
    """Return a path, or a pattern, that names the same files after a change of the working folder."""
    if os.path.isabs(path):
        return path
    here = os.getcwd()
    # Only what was written is a pattern, not the folder that it happens to be written in.
    pattern = glob.has_magic(path) and not os.path.exists(path)
    return os.path.join(glob.escape(here) if pattern else here, path)


def kind_of_files(path: str) -> FileKind:
    """Return the kind of the files that a path names, by their ending, or raise an error if it is unknown."""
    matches = find_files(path)
    if not matches:
        raise InputError(
            f"there is no file {_without_password(path)}",
            field="source",
            next_step="Check the path; globs need a match, and database URLs start with a name and ://.",
        )
    if os.path.isdir(matches[0]):
        raise InputError(
            f"{path} is a folder",
            field="source",
            next_step=f"Give a glob such as {os.path.join(path, '*.parquet')}.",
        )
    suffix = _suffix(matches[0])
    if suffix not in KINDS:
        raise InputError(
            f"the ending {suffix or '(none)'} of {path} does not name a known format",
            field="source",
            next_step=f"Give a file that ends in {', '.join(KINDS)}.",
        )
    if KINDS[suffix] == "database":
        return "database"
    suffixes = {_suffix(match) for match in matches}
    if len({KINDS.get(item) for item in suffixes}) > 1 or (".gz" in suffixes and len(suffixes) > 1):
        raise InputError(
            f"{path} matches files of several kinds",
            field="source",
            next_step=f"Give a glob with an ending, such as *{suffix}.",
        )
    return KINDS[suffix]


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def _without_password(path: str) -> str:
    """Return the path as typed, unless it looks like a mistyped database URL, which may hold a password."""
    return "of that name" if re.search(r":.*@|password", path, re.IGNORECASE) else path


def common_header(files: Sequence[str], delimiter: str | None = None) -> tuple[list[str], str]:
    """Return the column names and the delimiter of text files, which must all be the same."""
    first, *others = [_header(file, delimiter) for file in files]
    for file, other in zip(files[1:], others, strict=True):
        if other != first:
            # The engine would match their columns by position.
            raise SchemaError(
                f"the first lines of {files[0]} and {file} differ",
                field="source",
                next_step="Give files with the same columns, order and separator.",
            )
    return first


def refuse_wide_files(files: Sequence[str]) -> None:
    """Refuse Parquet files of too many columns, by what their own last bytes say of them."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    for file in files:
        _refuse_wide(file, pq.read_metadata(file).num_columns)


def columns_in_milliseconds(files: Sequence[str]) -> set[str]:
    """Return the columns of Parquet files whose moments are in milliseconds.

    DuckDB fails to read one that is beyond its own calendar, whatever is asked of it, and whether a question
    fails must not depend on a row.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415

    return {
        field.name
        for file in files
        for field in pq.read_schema(file)
        if str(field.type).startswith("timestamp[ms")
    }


def _refuse_wide(path: str, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise SchemaError(
            f"{path} has {columns:,} columns, and at most {MOST_COLUMNS:,} can be read",
            field="source",
            next_step="Copy the columns to declare into a file of their own.",
        )


def _header(path: str, declared: str | None) -> tuple[list[str], str]:
    """Read names and delimiter from the header line, which is public; sniffing would read rows."""
    with gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb") as lines:
        line = lines.readline(LONGEST_HEADER).partition(b"\r")[0]
    header = line.decode("utf-8-sig").rstrip("\n")  # bytes first: rows must not be decoded
    delimiter = declared or max(",;\t|", key=re.sub('"[^"]*"', "", header).count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    if header.count('"') % 2:
        raise SchemaError(
            f"the first line of {path} has an open quote",
            field="source",
            next_step="Close it, or give the file a header line.",
        )
    refuse_misnamed(path, names)
    return names, delimiter


def refuse_misnamed(path: str, names: Sequence[str]) -> None:
    """Refuse a header that does not name every column once, and say which columns it does not."""
    _refuse_wide(path, len(names))
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

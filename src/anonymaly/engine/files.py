# SPDX-License-Identifier: Apache-2.0
"""The files that a path names, their kind and how they are packed."""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal, cast

from anonymaly.engine import layouts
from anonymaly.errors import InputError, SchemaError

FileKind = Literal["text", "parquet", "database", "delta", "iceberg"]
KINDS: dict[str, FileKind] = {
    ".csv": "text",
    ".tsv": "text",
    ".gz": "text",
    ".zst": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".db": "database",
    ".ddb": "database",
    ".duckdb": "database",
}
PACKED = {".gz": "gzip", ".zst": "zstd"}  # endings of packed text, and what the engine calls the packing
OTHER_PACKINGS = (".bz2", ".xz", ".lz4", ".zip", ".7z", ".br", ".snappy", ".tar", ".tgz")
# What is packed and no text, by what its name says before the packing.
NO_TEXT = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".xml",
    ".feather",
    ".arrow",
    ".orc",
    ".avro",
    ".xls",
    ".xlsx",
    ".sql",
)
MOST_COLUMNS = 4_096  # a table of more takes the engine seconds to describe before anything is refused


def find_files(path: str) -> list[str]:
    """Return the files that a path names; a path that exists is not a pattern, whatever its name.

    Of a folder those in it and below, but for names that begin with a dot or an underscore: by custom they
    are not data.
    """
    if os.path.isdir(path):
        return sorted(_below(path))
    if os.path.exists(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []


def _below(folder: str, around: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the files in a folder and below, links too, unless they lead back to a folder around them."""
    own = os.path.realpath(folder)
    if own in around:
        return
    for entry in os.scandir(folder):
        if entry.name[0] not in "._":
            if entry.is_dir():
                yield from _below(entry.path, (*around, own))
            else:
                yield entry.path


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
    if (kind := layouts.kind_of_table(path)) is not None:
        return kind
    matches = _matches(path)
    if not matches and os.path.isdir(path):
        raise InputError(
            f"{path} is a folder without files",
            field="source",
            next_step="Give a folder that has CSV or Parquet files, or a glob such as "
            f"{os.path.join(path, '*.parquet')}.",
        )
    if not matches:
        raise InputError(
            f"there is no file {_without_password(path)}",
            field="source",
            next_step="Check the path; globs need a match, and database URLs start with a name and ://.",
        )
    if os.path.isdir(matches[0]):
        raise InputError(
            f"{path} matches the folder {_first_shown([os.path.join(match, '') for match in matches])}",
            field="source",
            next_step="Give that folder itself, or a glob that matches files.",
        )
    layouts.refuse_parts(matches)
    suffix = _suffix(matches[0])
    if suffix in OTHER_PACKINGS:
        raise InputError(
            f"{path} is packed as {suffix}, which cannot be read",
            field="source",
            next_step=f"Unpack it, or pack it as one of {', '.join(PACKED)}.",
        )
    inner = _suffix(Path(matches[0]).stem) if suffix in PACKED else ""
    if suffix not in KINDS or inner in (*NO_TEXT, *OTHER_PACKINGS) or KINDS.get(inner, "text") != "text":
        named = _first_shown(matches) if len(matches) > 1 else path
        ending = f"{inner}{suffix}" if suffix in KINDS else suffix or "(none)"
        raise InputError(
            f"the ending {ending} of {named} does not name a known format",
            field="source",
            next_step=f"Give a file that ends in {', '.join(KINDS)}.",
        )
    if KINDS[suffix] == "database":
        return "database"
    suffixes = {_suffix(match) for match in matches}
    if len({KINDS.get(item) for item in suffixes}) > 1 or (suffixes & set(PACKED) and len(suffixes) > 1):
        raise InputError(
            f"{path} matches files of several kinds",
            field="source",
            next_step=f"Give a glob with an ending, such as *{suffix}.",
        )
    return KINDS[suffix]


def _matches(path: str) -> list[str]:
    try:
        return find_files(path)
    except OSError as problem:
        kind = type(problem).__name__
    raise InputError(
        f"{path} holds a folder or link that cannot be looked into ({kind})",
        field="source",
        next_step="Let this user read all that is below it, or give a glob of the files.",
    )


def _first_shown(files: list[str]) -> str:
    return layouts.shown(files)[files[0]]


def _suffix(path: str) -> str:
    return Path(path).suffix.lower()


def _without_password(path: str) -> str:
    """Return the path as typed, unless it looks like a mistyped database URL, which may hold a password."""
    return "of that name" if re.search(r":.*@|password", path, re.IGNORECASE) else path


def refuse_wide(path: str, columns: int) -> None:
    """Refuse a file of too many columns."""
    if columns > MOST_COLUMNS:
        raise SchemaError(
            f"{path} has {columns:,} columns, and at most {MOST_COLUMNS:,} can be read",
            field="source",
            next_step="Copy the columns to declare into a file of their own.",
        )


def packing(path: str) -> str:
    """Return what the engine calls the packing of a text file, by its ending."""
    return PACKED.get(_suffix(path), "none")


def open_unpacked(path: str) -> BinaryIO:
    """Open a text file for reading its bytes, unpacked by its ending."""
    match packing(path):
        case "gzip":
            return cast(BinaryIO, gzip.open(path))
        case "zstd":
            import pyarrow as pa  # noqa: PLC0415

            return cast(BinaryIO, io.BufferedReader(pa.input_stream(path, compression="zstd")))
        case _:
            return open(path, "rb")


def state_of_files(path: str) -> tuple[tuple[str, int, int, int], ...]:
    """Return what tells whether the files of a path are still those that they were."""
    return tuple(
        (file, state.st_mtime_ns, state.st_size, state.st_ino)
        for file in find_files(path)
        for state in (os.stat(file),)
    )

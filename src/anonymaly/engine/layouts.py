# SPDX-License-Identifier: Apache-2.0
"""Folders that hold a table: Delta and Iceberg by their own logs, and partitions by the names of folders.

What lies in the folder of a Delta or Iceberg table is more than the table: rows that were deleted, and files
that were replaced, stay there. Only its log says which of them count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Literal
from urllib.parse import unquote

from anonymaly.errors import InputError, SchemaError

_PINNED = re.compile(r"(.+)@v(\d{1,18})")
_METADATA = ".metadata.json"
_PARTITION = re.compile(r"[^=]+=.*", re.DOTALL)


def kind_of_table(path: str) -> Literal["delta", "iceberg"] | None:
    """Return the kind of a table that has a log, or None if a path is no such table."""
    folder, _ = pinned(path)
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        return "delta"
    if path.endswith(_METADATA) or (os.path.isdir(path) and _has_iceberg_log(path)):
        return "iceberg"
    if os.path.isdir(os.path.join(path, ".hoodie")):
        raise _other(path, "a Hudi table, which cannot be read")
    return None


def pinned(path: str) -> tuple[str, int | None]:
    """Return a Delta table's folder, and the version that ``folder@v12`` names, as Delta itself writes it."""
    found = None if os.path.exists(path) else _PINNED.fullmatch(path)
    return (path, None) if found is None else (found[1], int(found[2]))


def refuse_parts(files: Sequence[str]) -> None:
    """Refuse files out of a table that has a log: those that it has left behind are among them."""
    known: dict[str, str | None] = {}
    # Also by where a link leads.
    places = [way(file) for file in files for way in (os.path.abspath, os.path.realpath)]
    for folder in dict.fromkeys(map(os.path.dirname, places)):
        table = _table_around(folder, known)
        if table is not None:
            raise InputError(
                f"{table} is a table with a log, and its files alone are not the table: rows that were "
                "deleted are still in some of them",
                field="source",
                next_step=f"Give the folder {table} itself.",
            )


def _table_around(folder: str, known: dict[str, str | None]) -> str | None:
    if folder not in known:
        logs = (os.path.join(folder, name) for name in ("_delta_log", ".hoodie"))
        above = os.path.dirname(folder)
        if any(map(os.path.isdir, logs)) or _has_iceberg_log(folder):
            known[folder] = folder
        else:
            known[folder] = None if above == folder else _table_around(above, known)
    return known[folder]


def _has_iceberg_log(folder: str) -> bool:
    try:
        names = os.listdir(os.path.join(folder, "metadata"))
    except OSError:
        return False
    return any(name.endswith(_METADATA) for name in names)


def _other(path: str, what: str) -> InputError:
    return InputError(f"{path} is {what}", field="source", next_step="Copy the table to Parquet.")


def partitions(files: Sequence[str]) -> list[str]:
    """Return the columns that folders called ``name=value`` hold, which must be the same for all files."""
    first, *others = [_keys(file) for file in files]
    for file, keys in zip(files[1:], others, strict=True):
        if keys != first:
            raise SchemaError(
                f"{shown(files)[files[0]]} lies in folders of {_listed(first)}, and {shown(files)[file]} in "
                f"folders of {_listed(keys)}",
                field="source",
                next_step="Give files in folders of the same columns.",
            )
    return first


def folders_of(file: str) -> list[str]:
    """Return the folders around a file that are called ``name=value``."""
    return [folder for folder in os.path.dirname(file).split(os.sep) if _PARTITION.fullmatch(folder)]


def shown(files: Sequence[str]) -> dict[str, str]:
    """Return files as messages may name them: without the values of folders, which are what rows hold.

    Examples
    --------
    >>> shown(["t/ward=A/x.csv", "t/ward=B/x.csv"])["t/ward=B/x.csv"]
    't/ward=…/x.csv (file 2 of 2)'
    """
    return {file: _shown(file, f"file {place} of {len(files)}") for place, file in enumerate(files, start=1)}


def _shown(file: str, which: str) -> str:
    folder, name = os.path.split(file)
    parts = folder.split(os.sep)
    hidden = [f"{part.partition('=')[0]}=…" if _PARTITION.fullmatch(part) else part for part in parts]
    return file if hidden == parts else f"{os.path.join(os.sep.join(hidden), name)} ({which})"


def _keys(file: str) -> list[str]:
    return [unquote(folder.partition("=")[0]) for folder in folders_of(file)]


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(keys) or "no column"

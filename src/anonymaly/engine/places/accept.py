# SPDX-License-Identifier: Apache-2.0
"""Finds out what an owner gives as a table, by all that can be known without opening it."""

from __future__ import annotations

import os
import re
from typing import Any

from anonymaly.engine import lookup
from anonymaly.engine.addresses import is_keywords, refuse_stores
from anonymaly.engine.files import find_files, kind_of_files, wherever
from anonymaly.engine.places.databases import DatabaseAddress, DatabaseFile
from anonymaly.engine.places.files import ParquetFiles, TextFiles
from anonymaly.engine.places.frame import FrameInMemory
from anonymaly.engine.places.lakes import LakeTable
from anonymaly.engine.places.opened import OpenedTable
from anonymaly.engine.places.place import Request, TablePlace
from anonymaly.errors import InputError

SOURCES = (
    "a CSV or Parquet path, glob or folder, a Delta or Iceberg table, a DuckDB file or database URL with "
    "table=, a frame (of Spark too), or an Ibis table"
)


def accept(source: Any, request: Request) -> TablePlace:
    """Return where a table is, or say what is wrong with what was given."""
    if is_path(source):
        _refuse_collapsed(os.fsdecode(source))
        return _at_path(os.fsdecode(source), request)
    if isinstance(source, str):
        return DatabaseAddress(source, request)
    for kind in (OpenedTable, LakeTable, FrameInMemory):
        if (found := kind.accept(source, request)) is not None:
            return found
    raise InputError(
        f"cannot read a table from {type(source).__name__}", field="source", next_step=f"Give {SOURCES}."
    )


def _refuse_collapsed(path: str) -> None:
    """Refuse an address out of which pathlib has made a path, with one slash fewer."""
    if re.match("[A-Za-z0-9]{2,}:/", path) and not os.path.exists(path):
        refuse_stores(path.replace(":/", "://", 1))


def _at_path(path: str, request: Request) -> TablePlace:
    kind = kind_of_files(path)
    # It is opened later, and by forked children again: by then the working folder may be another.
    path = wherever(path)
    match kind:
        case "text":
            return TextFiles(path, request)
        case "parquet":
            return ParquetFiles(path, request)
        case "database":
            return DatabaseFile(path, request)
        case "delta" | "iceberg":
            return LakeTable.at(path, kind, request)


def is_path(source: Any) -> bool:
    """Say whether a source is the path of files; one that exists is, whatever it looks like."""
    if not isinstance(source, str | os.PathLike):
        return False
    text = os.fsdecode(source)
    if is_keywords(text):
        return not isinstance(source, str) or bool(find_files(text))
    return "://" not in text


def same_wherever(source: Any) -> Any:
    """Return a source that means the same after a change of the working folder."""
    if not isinstance(source, str | os.PathLike):
        return source
    text = os.fsdecode(source)
    return wherever(text) if is_path(source) else lookup.wherever(text)

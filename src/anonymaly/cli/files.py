# SPDX-License-Identifier: Apache-2.0
"""Files that an asker gives to a command; they are read here, never by a question itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from anonymaly.ask.typed_records import read_csv
from anonymaly.declare.domain import Domain
from anonymaly.engine.frames import columns_of, values_of
from anonymaly.errors import InputError


def _read_parquet(path: str, columns: Mapping[str, Domain]) -> pa.Table:
    return pyarrow.parquet.read_table(path)


READERS: dict[str, Callable[[str, Mapping[str, Domain]], pa.Table]] = {
    ".csv": read_csv,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}


def read_columns(path: str, columns: Mapping[str, Domain], *, field: str) -> dict[str, list[Any]]:
    """Read a CSV or Parquet file as its columns; text of a CSV file by the declared types of its columns."""
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(
            f"the ending of {path} does not name a known format",
            field=field,
            next_step=f"Give a file that ends in {' or '.join(READERS)}.",
        )
    try:
        table = reader(path, columns)
    except (OSError, pa.ArrowException) as problem:
        raise InputError(
            f"cannot read {path} ({type(problem).__name__})",
            field=field,
            next_step="Give a file with one line for each record and the names of the columns first.",
        ) from None
    found = columns_of(table, field=field) or {}
    return {name: values_of(column) for name, column in found.items()}

# SPDX-License-Identifier: Apache-2.0
"""Files that an asker gives to a command; they are read here, never by a question itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from anonymaly.engine.frames import columns_of, values_of
from anonymaly.errors import InputError

READERS: dict[str, Callable[[str], pa.Table]] = {
    ".csv": pyarrow.csv.read_csv,
    ".parquet": pyarrow.parquet.read_table,
    ".pq": pyarrow.parquet.read_table,
}


def read_columns(path: str, *, field: str) -> dict[str, list[Any]]:
    """Read a CSV or Parquet file as its columns."""
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(
            f"the ending of {path} does not name a known format",
            field=field,
            next_step=f"Give a file that ends in {' or '.join(READERS)}.",
        )
    try:
        table = reader(path)
    except (OSError, pa.ArrowException) as problem:
        raise InputError(
            f"cannot read {path} ({type(problem).__name__})",
            field=field,
            next_step="Give a file with one line for each record and the names of the columns first.",
        ) from None
    columns = columns_of(table, field=field) or {}
    return {name: values_of(column) for name, column in columns.items()}

# SPDX-License-Identifier: Apache-2.0
"""An answer as a table, if it is one; and that as CSV, by the one writer that escapes formulas."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from anonymaly.ask.table import Table


def table_of(value: Any) -> Table | None:
    """Return an answer's value as a table; None if it is no table.

    Examples
    --------
    >>> print(table_of([False, True]))
    record  anomaly
    1       False
    2       True
    >>> table_of(17) is None
    True
    """
    if isinstance(value, Table):
        return value
    if isinstance(value, list) and value and all(isinstance(item, bool) for item in value):
        # Of `identify`, in the order of the records that were asked about.
        found = pa.table({"record": list(range(1, len(value) + 1)), "anomaly": value})
    elif hasattr(value, "to_arrow"):
        found = value.to_arrow()
    else:
        return None
    return Table.of(found.schema, [found])


def open_csv(table: Table) -> BinaryIO:
    """Return a table as an open file of CSV that has no name any more."""
    with tempfile.TemporaryDirectory(prefix="anonymaly-") as folder:
        path = Path(folder, "answer.csv")
        table.to_csv(path)
        return path.open("rb")

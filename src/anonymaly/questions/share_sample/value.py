# SPDX-License-Identifier: Apache-2.0
"""The answer of ``share-sample``: a table of true records, kept as a Parquet file."""

from __future__ import annotations

from typing import BinaryIO

from anonymaly.ask.store import KeptFile
from anonymaly.ask.table import Table


def show(value: Table, asks: str) -> str:
    """Write how many records there are, and the first of them."""
    return f"{len(value):,} records: {asks}\n{value}"


def encode(value: Table, file: BinaryIO) -> None:
    """Write the table's own bytes."""
    value.copy_to(file)


def decode(file: KeptFile) -> Table:
    """Return the table in the store; it is read when it is used."""
    return Table.read(file)

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce stream``: how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.reproduce.stream_tables import Table


def grid(table: Table) -> Grid:
    """Return a table for the terminal."""
    printed = Grid(title=table.title, title_justify="left", box=None, pad_edge=False)
    for number, head in enumerate(table.heads):
        printed.add_column(head, justify="left" if number == 0 else "right")
    for line in table.lines:
        printed.add_row(*(str(cell) for cell in line))
    return printed

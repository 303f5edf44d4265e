# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce score``: how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.reproduce.score_tables import Table


def grid(table: Table) -> Grid:
    """Return a table for the terminal; what a line is about is printed once."""
    printed = Grid(title=table.title, title_justify="left", box=None, pad_edge=False)
    for number, head in enumerate(table.heads):
        printed.add_column(head, justify="left" if number == 0 else "right")
    before = None
    for line in table.lines:
        first = "" if line[0] == before else str(line[0])
        printed.add_row(first, *(str(cell) for cell in line[1:]))
        before = line[0]
    return printed

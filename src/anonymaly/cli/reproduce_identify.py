# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce identify``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.cli.study import Run
from anonymaly.reproduce.identify import reproduce_identify
from anonymaly.reproduce.identify_data import read_points
from anonymaly.reproduce.identify_tables import Table
from anonymaly.reproduce.reproduction import Reproduction


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    return reproduce_identify(read_points(run.data), run.output, progress=run.progress)


def grid(table: Table) -> Grid:
    """Return a table for the terminal; what a line is about is printed once."""
    printed = Grid(title=table.title, title_justify="left", box=None, pad_edge=False)
    for number, head in enumerate(table.heads):
        printed.add_column(head, justify="left" if number == 0 or head == "made from" else "right")
    before = None
    for line in table.lines:
        printed.add_row("" if line[0] == before else line[0], *line[1:])
        before = line[0]
    return printed

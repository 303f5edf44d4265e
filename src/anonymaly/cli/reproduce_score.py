# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce score``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.cli.study import Run
from anonymaly.reproduce.reproduction import Reproduction
from anonymaly.reproduce.score import reproduce_score
from anonymaly.reproduce.score_data import read_tables
from anonymaly.reproduce.score_tables import Table


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    tables = read_tables(run.data)
    return reproduce_score(
        tables, run.output, **run.given(seeds=run.seeds), force=run.force, progress=run.progress
    )


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

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce stream``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.cli.study import Run
from anonymaly.reproduce.reproduction import Reproduction
from anonymaly.reproduce.stream import reproduce_stream
from anonymaly.reproduce.stream_data import real_sources
from anonymaly.reproduce.stream_tables import Table


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    return reproduce_stream(real_sources(run.data), run.output, force=run.force, progress=run.progress)


def grid(table: Table) -> Grid:
    """Return a table for the terminal."""
    printed = Grid(title=table.title, title_justify="left", box=None, pad_edge=False)
    for number, head in enumerate(table.heads):
        printed.add_column(head, justify="left" if number == 0 else "right")
    for line in table.lines:
        printed.add_row(*(str(cell) for cell in line))
    return printed

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce identify``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.cli.study import Run, figures
from anonymaly.reproduce.identify import reproduce_identify
from anonymaly.reproduce.identify_data import read_points
from anonymaly.reproduce.identify_tables import Table
from anonymaly.reproduce.reproduction import Reproduction


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    return reproduce_identify(read_points(run.data), run.output, progress=run.progress)


def grid(table: Table) -> Grid:
    """Return a table for the terminal; what a line is about is printed once."""
    return figures(table.title, table.heads, table.lines, texts={"made from"}, once=True)

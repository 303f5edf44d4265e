# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce identify``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from studies.printing import Run, figures
from studies.runner import Reproduction
from studies.sensitive.data import read_points
from studies.sensitive.study import reproduce_identify
from studies.sensitive.tables import Table


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    return reproduce_identify(read_points(run.data), run.output, progress=run.progress)


def grid(table: Table) -> Grid:
    """Return a table for the terminal; what a line is about is printed once."""
    return figures(table.title, table.heads, table.lines, texts={"made from"}, once=True)

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce score``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from studies.grid_knn.data import read_tables
from studies.grid_knn.study import reproduce_score
from studies.grid_knn.tables import Table
from studies.printing import Run, figures
from studies.runner import Reproduction


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    tables = read_tables(run.data)
    return reproduce_score(
        tables, run.output, **run.given(seeds=run.seeds), force=run.force, progress=run.progress
    )


def grid(table: Table) -> Grid:
    """Return a table for the terminal; what a line is about is printed once."""
    return figures(table.title, table.heads, (list(map(str, line)) for line in table.lines), once=True)

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce score``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from anonymaly.cli.study import Run, figures
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
    return figures(table.title, table.heads, (list(map(str, line)) for line in table.lines), once=True)

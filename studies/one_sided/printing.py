# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce share``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from studies.one_sided.data import read_histograms
from studies.one_sided.study import reproduce_share
from studies.one_sided.tables import Table
from studies.printing import Run, figures
from studies.runner import Reproduction


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    histograms = read_histograms(run.data)
    return reproduce_share(
        histograms, run.output, **run.given(runs=run.runs), force=run.force, progress=run.progress
    )


def grid(table: Table) -> Grid:
    """Return a table for the terminal."""
    return figures(table.title, table.heads, (list(map(_cell, line)) for line in table.lines))


def _cell(cell: str | float) -> str:
    """Write a figure with three digits, or whole.

    Examples
    --------
    >>> [_cell(cell) for cell in ("auto", 1.2345, 12.3, 123456.7, 17665)]
    ['auto', '1.23', '12.3', '123,457', '17,665']
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"

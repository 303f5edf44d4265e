# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce stream``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from studies.printing import Run, figures
from studies.runner import Reproduction
from studies.sensors.data import real_sources
from studies.sensors.study import reproduce_stream
from studies.sensors.tables import Table


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    return reproduce_stream(real_sources(run.data), run.output, force=run.force, progress=run.progress)


def grid(table: Table) -> Grid:
    """Return a table for the terminal."""
    return figures(table.title, table.heads, (list(map(str, line)) for line in table.lines))

# SPDX-License-Identifier: Apache-2.0
"""The experiments of Asif et al. 2021 (sensitive privacy), sections 5 and 9: Tables 1 to 3, Figures 1 to 5.

Error probabilities are computed from exact counts in a minute or two, so nothing is kept for a later run;
seeded answers of the question itself are compared with them at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from studies.runner import Run, Study, setting
from studies.sensitive.charts import draw
from studies.sensitive.data import FILES, Points, read_points
from studies.sensitive.measure import Check, Measured, check_by_simulation, measure
from studies.sensitive.tables import all_tables
from studies.table import Table

CHECKED = ("Thyroid", "Mammography")


@dataclass(frozen=True)
class Figures:
    """Every table measured, and simulated answers beside the formula."""

    measured: Sequence[Measured]
    checks: Sequence[Check]


@dataclass(frozen=True)
class Sensitive(Study[Sequence[Points], Figures]):
    """Is this record an anomaly?

    Examples
    --------
    >>> Sensitive().seeds
    100
    """

    paper = "Asif, Vaidya and Papakonstantinou 2021"
    files = FILES
    quick = MappingProxyType({"seeds": 10})

    seeds: int = setting(100, "times that answers are simulated to check the formula")
    seed: int = setting(1, "fixes the records drawn from the value space", least=0)

    def read(self, folder: Path) -> Sequence[Points]:
        """Read the paper's five tables."""
        return read_points(folder)

    def measure(self, data: Sequence[Points], run: Run) -> Figures:
        """Count around all records, and simulate answers about some."""
        measured = []
        run.progress.start("sensitive", total=len(data), done=0, unit="tables")
        for number, points in enumerate(data, start=1):
            measured.append(measure(points, self.seed))
            run.progress.advance(number)
        checked = [item for item in measured if item.points.name in CHECKED]
        checks = []
        run.progress.start("simulated answers", total=len(checked), done=0, unit="tables")
        for number, item in enumerate(checked, start=1):
            checks.append(check_by_simulation(item, self.seeds))
            run.progress.advance(number)
        return Figures(measured, checks)

    def tables(self, data: Sequence[Points], measured: Figures) -> list[Table]:
        """Return Tables 1 to 3, Figure 3 in numbers, and the simulated answers."""
        return all_tables(measured.measured, measured.checks)

    def draw(self, data: Sequence[Points], measured: Figures, folder: Path) -> list[Path]:
        """Draw Figures 1 to 5."""
        return draw(measured.measured, folder)


STUDY = Sensitive

# SPDX-License-Identifier: Apache-2.0
"""The experiments of Shafieinejad et al. 2021 (PCOR), section 6, on public data: Tables 2 to 13.

Measurements are kept record by record, so that an interrupted run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from anonymaly import detectors, noise
from anonymaly.questions import explain
from studies.journal import Entry, Journal, code_digest
from studies.pcor.asking import Asking
from studies.pcor.charts import draw
from studies.pcor.data import HOMICIDE_FILE, SALARY_FILE, Records, homicide, reduced_salary, salary
from studies.pcor.matching import measure_matches
from studies.pcor.measure import detector_cases, measure, search_cases, warm_up
from studies.pcor.neighbours import Neighbours
from studies.pcor.outliers import first_outliers, is_complete
from studies.pcor.paper import MATCH_NEIGHBOURS, MATCH_OUTLIERS, OUTLIERS
from studies.pcor.tables import all_tables
from studies.runner import Run, Study, setting
from studies.table import Table

DETECTORS = ("grubbs", "lof", "histogram")
OTHER_DETECTORS = ("grubbs", "histogram")


@dataclass(frozen=True)
class Sources:
    """The tables of the experiments."""

    salary: Records
    reduced_salary: Records
    homicide: Records


@dataclass(frozen=True)
class Measured:
    """The outliers of each experiment: searches, other detectors by name, matches by table and detector."""

    searches: list[Entry]
    detectors: Mapping[str, list[Entry]]
    matches: Mapping[int, Mapping[str, list[Entry]]]


@dataclass(frozen=True)
class Pcor(Study[Sources, Measured]):
    """In which group does a record stand out?

    Examples
    --------
    >>> Pcor(outliers=3).neighbours
    50
    """

    paper = "Shafieinejad, Kerschbaum and Ilyas 2021 (PCOR)"
    files = (SALARY_FILE, HOMICIDE_FILE)
    quick = MappingProxyType({"outliers": 5, "neighbours": 5})

    outliers: int = setting(OUTLIERS, "random outliers that a mean is over; the matches use at most 100")
    neighbours: int = setting(MATCH_NEIGHBOURS, "neighbouring tables for each outlier and number left out")
    seed: int = setting(1, "fixes which records are chosen, and all draws", least=0)

    def read(self, folder: Path) -> Sources:
        """Read the public files; the reduced salaries are part of the package."""
        return Sources(salary(folder), reduced_salary(), homicide(folder))

    def measure(self, data: Sources, run: Run) -> Measured:
        """Measure searches, other detectors and matches."""
        small = {12: data.reduced_salary, 13: data.homicide}
        return Measured(
            self._searches(data.salary, data.reduced_salary, run),
            {name: self._other_detector(data.reduced_salary, name, run) for name in OTHER_DETECTORS},
            {
                number: {name: self._matches(records, name, number, run) for name in DETECTORS}
                for number, records in small.items()
            },
        )

    def tables(self, data: Sources, measured: Measured) -> list[Table]:
        """Return Tables 2 to 13."""
        return all_tables(measured.searches, measured.detectors, measured.matches)

    def draw(self, data: Sources, measured: Measured, folder: Path) -> list[Path]:
        """Draw Figures 1 to 5, the sweep over ε, and the matches."""
        rows = data.salary.rows.num_rows
        return draw(measured.searches, measured.detectors, measured.matches, rows, folder)

    def _searches(self, records: Records, small: Records, run: Run) -> list[Entry]:
        """Measure all searches with the local outlier factor, after warming up on a small table."""
        cases = search_cases()
        journal = self._journal("searches", records, "lof", run, cases=[case.name for case in cases])
        if not is_complete(journal, self.outliers):
            warm_up(Asking(small, "lof"), cases)
            measure(Asking(records, "lof"), cases, self.outliers, journal, run.progress, self.seed)
        return first_outliers(journal, self.outliers)

    def _other_detector(self, records: Records, detector: str, run: Run) -> list[Entry]:
        """Measure breadth first with another detector."""
        cases = detector_cases()
        names = [case.name for case in cases]
        journal = self._journal(f"detector_{detector}", records, detector, run, cases=names)
        if not is_complete(journal, self.outliers):
            asking = Asking(records, detector)
            screen = _screen(asking)
            warm_up(asking, cases, screen)
            measure(asking, cases, self.outliers, journal, run.progress, self.seed, screen)
        return first_outliers(journal, self.outliers)

    def _matches(self, records: Records, detector: str, number: int, run: Run) -> list[Entry]:
        """Measure the match of valid contexts in neighbouring tables."""
        outliers = min(self.outliers, MATCH_OUTLIERS)
        name = f"match_{number}_{detector}"
        journal = self._journal(name, records, detector, run, neighbours=self.neighbours)
        if not is_complete(journal, outliers):
            asking = Neighbours(Asking(records, detector))
            measure_matches(asking, outliers, self.neighbours, journal, run.progress, self.seed)
        return first_outliers(journal, outliers)

    def _journal(self, name: str, records: Records, detector: str, run: Run, **settings: Any) -> Journal:
        table = {"records": records.name, "rows": records.rows.num_rows}
        code = code_digest(detectors, explain, noise)
        settings = {"seed": self.seed, "detector": detector, "code": code, **table, **settings}
        return run.journal(name, settings, earlier=f"measured/{name}.jsonl")


def _screen(asking: Asking) -> Callable[[int], bool]:
    """Return a quick check whether a row stands out anywhere; with few contexts it beats asking."""
    neighbours = Neighbours(asking)
    return lambda row: bool(neighbours.validity(row).any())


STUDY = Pcor

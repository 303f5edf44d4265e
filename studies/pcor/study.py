# SPDX-License-Identifier: Apache-2.0
"""The experiments of 000 (PCOR), section 6, on public data: Tables 2 to 9, 12 and 13.

Measured figures are kept in the output folder record by record, so that an interrupted run goes on; only the
tables and pictures are made anew each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.journal import Entry, Journal, code_digest
from studies.pcor.asking import Asking
from studies.pcor.charts import draw
from studies.pcor.data import Records, homicide, needed_files, reduced_salary, salary
from studies.pcor.matching import measure_matches
from studies.pcor.measure import detector_cases, measure, search_cases, warm_up
from studies.pcor.neighbours import Neighbours
from studies.pcor.outliers import first_outliers, is_complete
from studies.pcor.paper import MATCH_NEIGHBOURS, MATCH_OUTLIERS, OUTLIERS
from studies.pcor.tables import Table, detector_tables, match_table, search_tables
from studies.progress import Progress
from studies.runner import Reproduction

PAPER = "000 (PCOR)"

DETECTORS = ("grubbs", "lof", "histogram")
OTHER_DETECTORS = ("grubbs", "histogram")
SEED = 1


@dataclass(frozen=True)
class Sources:
    """The tables of the experiments."""

    salary: Records
    reduced_salary: Records
    homicide: Records

    @classmethod
    def read(cls, folder: Path | None) -> Sources:
        """Read the public files of a folder; the reduced salaries ship with the package."""
        found = needed_files(folder)
        return cls(salary(found), reduced_salary(), homicide(found))


def reproduce_explain(
    sources: Sources,
    output: Path,
    *,
    outliers: int = OUTLIERS,
    neighbours: int = MATCH_NEIGHBOURS,
    seed: int = SEED,
    force: bool = False,
    progress: Progress | None = None,
) -> Reproduction[Table]:
    """Measure what is not measured yet, and put the paper's figures beside ours.

    Parameters
    ----------
    sources
        The public tables.
    output
        The folder for measurements, ``tables.json`` and pictures.
    outliers
        How many random outliers each mean is over; the matches use at most 100, as the paper does.
    neighbours
        How many neighbouring tables are made for each outlier and number of records left out.
    seed
        Fixes which records are chosen and all draws.
    force
        Measure again.
    progress
        Told how far it has come.

    Examples
    --------
    >>> found = reproduce_explain(Sources.read(Path("data")), Path("output"))  # doctest: +SKIP
    >>> found.tables[0].title  # doctest: +SKIP
    'Searches: time'
    """
    run = _Run(output, outliers, neighbours, seed, force, progress or Progress(None))
    searches = run.searches(sources.salary, sources.reduced_salary)
    others = {name: run.detectors(sources.reduced_salary, name) for name in OTHER_DETECTORS}
    small = {12: ("salary", sources.reduced_salary), 13: ("homicide", sources.homicide)}
    matches = {
        number: (title, {name: run.matches(records, name, number) for name in DETECTORS})
        for number, (title, records) in small.items()
    }
    tables = search_tables(searches) + detector_tables(others)
    tables += [match_table(number, title, entries) for number, (title, entries) in matches.items()]
    tables.sort(key=lambda table: table.number)
    pictures = draw(tables, searches, sources.salary.rows.num_rows, output)
    found = Reproduction(PAPER, tuple(tables), tuple(pictures))
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    (output / "tables.json").write_text(text + "\n", encoding="utf-8")
    return found


@dataclass(frozen=True)
class _Run:
    """One run's settings, and its studies."""

    output: Path
    outliers: int
    neighbours: int
    seed: int
    force: bool
    progress: Progress

    def searches(self, records: Records, small: Records) -> list[Entry]:
        """Measure all searches with the local outlier factor, after warming up on a small table."""
        cases = search_cases()
        journal = self._journal("searches", records, "lof", cases=[case.name for case in cases])
        if not is_complete(journal, self.outliers):
            warm_up(Asking(small, "lof"), cases)
            measure(Asking(records, "lof"), cases, self.outliers, journal, self.progress, self.seed)
        return first_outliers(journal, self.outliers)

    def detectors(self, records: Records, detector: str) -> list[Entry]:
        """Measure breadth first with another detector."""
        cases = detector_cases()
        journal = self._journal(
            f"detector_{detector}", records, detector, cases=[case.name for case in cases]
        )
        if not is_complete(journal, self.outliers):
            asking = Asking(records, detector)
            screen = _screen(asking)
            warm_up(asking, cases, screen)
            measure(asking, cases, self.outliers, journal, self.progress, self.seed, screen)
        return first_outliers(journal, self.outliers)

    def matches(self, records: Records, detector: str, number: int) -> list[Entry]:
        """Measure the match of valid contexts in neighbouring tables."""
        outliers = min(self.outliers, MATCH_OUTLIERS)
        journal = self._journal(f"match_{number}_{detector}", records, detector, neighbours=self.neighbours)
        if not is_complete(journal, outliers):
            asking = Neighbours(Asking(records, detector))
            measure_matches(asking, outliers, self.neighbours, journal, self.progress, self.seed)
        return first_outliers(journal, outliers)

    def _journal(self, name: str, records: Records, detector: str, **settings: Any) -> Journal:
        table = {"records": records.name, "rows": records.rows.num_rows}
        code = code_digest("detectors", "explain", "noise")
        settings = {"seed": self.seed, "detector": detector, "code": code, **table, **settings}
        return Journal(self.output / "measured" / f"{name}.jsonl", settings, force=self.force)


def _screen(asking: Asking) -> Callable[[int], bool]:
    """Return a quick check whether a row stands out anywhere; with few contexts it beats asking."""
    neighbours = Neighbours(asking)
    return lambda row: bool(neighbours.validity(row).any())

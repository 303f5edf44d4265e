# SPDX-License-Identifier: Apache-2.0
"""The paper's tables with our figures beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from anonymaly.questions.explain.searches import SEARCHES
from anonymaly.reproduce.confidence import Sample, sample
from anonymaly.reproduce.journal import Entry
from anonymaly.reproduce.paper import CHANGES, EPSILONS, MATCHES, TIMES, UTILITIES, paper_rate
from anonymaly.reproduce.searches import Case

Measure = Literal["seconds", "utility", "match"]

DIRECT = "The paper's three days for exact are for a reference file of all records; ours is for one answer."
ONE_START = "from one start"
AS_PRINTED = "one start, the paper's ε1"
SEARCH_ORDER = ("uniform", "random_walk", "depth_first", "breadth_first", "exact")


@dataclass(frozen=True)
class Line:
    """One line of a table.

    Attributes
    ----------
    case
        What was measured.
    paper
        The paper's figures; none where it has none.
    ours
        Our figures at the same ε, as we account.
    further
        Further figures by name: from one start, with draws as blunt as the paper's, the share of equal sets.
    rates
        ε, and ε1 as we and the paper account.
    """

    case: str
    paper: Mapping[str, float] | None
    ours: Sample
    further: Mapping[str, Sample] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        return {
            "case": self.case,
            "paper": None if self.paper is None else dict(self.paper),
            "ours": self.ours.to_dict(),
            "further": {name: figures.to_dict() for name, figures in self.further.items()},
            "rates": dict(self.rates),
        }


@dataclass(frozen=True)
class Table:
    """One of the paper's tables."""

    number: int
    title: str
    measure: Measure
    lines: tuple[Line, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {
            "table": self.number,
            "title": self.title,
            "measure": self.measure,
            "lines": [line.to_dict() for line in self.lines],
            "note": self.note,
        }


def search_tables(entries: Iterable[Entry]) -> list[Table]:
    """Return Tables 2 to 5, 8 and 9 from the measurements of all searches."""
    outliers = [entry for entry in entries if entry["valid"]]
    searches = {name: Case(name) for name in SEARCH_ORDER}
    overlap = {name: Case(name, "overlap") for name in ("depth_first", "breadth_first")}
    sweep = {epsilon: Case("breadth_first", epsilon=epsilon) for epsilon in EPSILONS}
    return [
        _times(2, "Searches: time", searches, outliers, DIRECT),
        _utilities(3, "Searches: utility", searches, outliers, _without_answer(searches, outliers)),
        _times(4, "Overlap with the starting context: time", overlap, outliers),
        _utilities(5, "Overlap with the starting context: utility", overlap, outliers),
        _times(8, "Breadth first at several ε: time", sweep, outliers),
        _utilities(9, "Breadth first at several ε: utility", sweep, outliers),
    ]


def detector_tables(entries: Mapping[str, Iterable[Entry]]) -> list[Table]:
    """Return Tables 6 and 7 from the measurements of each detector."""
    case = Case("breadth_first")
    times: list[Line] = []
    utilities: list[Line] = []
    for detector, measured in entries.items():
        outliers = [entry for entry in measured if entry["valid"]]
        times += _times(6, "", {detector: case}, outliers).lines
        utilities += _utilities(7, "", {detector: case}, outliers).lines
    return [
        Table(6, "Other detectors, breadth first: time", "seconds", tuple(times)),
        Table(7, "Other detectors, breadth first: utility", "utility", tuple(utilities)),
    ]


def match_table(number: int, name: str, entries: Mapping[str, Iterable[Entry]]) -> Table:
    """Return Table 12 or 13 from the measurements of each detector."""
    lines = []
    for detector, measured in entries.items():
        outliers = [entry for entry in measured if entry["valid"]]
        for place, change in enumerate(CHANGES):
            lines.append(
                Line(
                    f"{detector}, ΔD = {change}",
                    {"mean": MATCHES[number][detector][place]},
                    sample([entry["match"][str(change)] for entry in outliers]),
                    {"equal sets": sample([entry["equal"][str(change)] for entry in outliers])},
                )
            )
    numbers = [
        f"{detector} {line.ours.number}"
        for detector, line in zip(entries, lines[:: len(CHANGES)], strict=True)
    ]
    note = (
        "Ours: contexts valid in both tables / in either. Equal sets: how often both have the same ones. "
        f"Outliers: {', '.join(numbers)}."
    )
    return Table(number, f"Match of valid contexts: {name}", "match", tuple(lines), note)


def _times(
    number: int, title: str, cases: Mapping[str, Case], outliers: Sequence[Entry], note: str = ""
) -> Table:
    lines = []
    for name, case in cases.items():
        printed = TIMES[number].get(name)
        lines.append(
            Line(
                name,
                None if printed is None else asdict(printed),
                sample([entry["results"][case.name]["seconds"] for entry in outliers]),
                rates=_rates(case),
            )
        )
    return Table(number, title, "seconds", tuple(lines), note)


def _utilities(
    number: int, title: str, cases: Mapping[str, Case], outliers: Sequence[Entry], note: str = ""
) -> Table:
    lines = []
    for name, case in cases.items():
        printed = UTILITIES[number].get(name)
        one = case.from_one_start if SEARCHES[case.search].steered else case
        lines.append(
            Line(
                name,
                None if printed is None else asdict(printed),
                _utility(case, outliers),
                {ONE_START: _utility(one, outliers), AS_PRINTED: _utility(case.as_in_the_paper, outliers)},
                _rates(case),
            )
        )
    return Table(number, title, "utility", tuple(lines), note)


def _utility(case: Case, outliers: Sequence[Entry]) -> Sample:
    return sample([entry["results"][case.name]["utility"] for entry in outliers])


def _rates(case: Case) -> dict[str, float]:
    return {
        "epsilon": float(case.epsilon),
        "rate": float(case.rate),
        "paper_rate": float(paper_rate(case.search, case.epsilon)),
        # What draws at the paper's ε1 cost as we account.
        "paper_charge": case.as_in_the_paper.charge,
    }


def _without_answer(cases: Mapping[str, Case], outliers: Sequence[Entry]) -> str:
    missed = {
        name: sum(not entry["results"][case.name]["found"] for entry in outliers)
        for name, case in cases.items()
    }
    told = [f"{name} {number}" for name, number in missed.items() if number]
    return f"Without an answer, counted as utility 0: {', '.join(told)} of {len(outliers)}." if told else ""


def all_numbers() -> list[int]:
    """Return the numbers of the tables that are measured.

    Examples
    --------
    >>> all_numbers()
    [2, 3, 4, 5, 6, 7, 8, 9, 12, 13]
    """
    return sorted([*TIMES, *UTILITIES, *MATCHES])

# SPDX-License-Identifier: Apache-2.0
"""The paper's Figures 1 to 5, and its Tables 9, 12 and 13 as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymaly.pictures.vega.charts import curve, distribution, grouped_bars, save
from studies.journal import Entry
from studies.pcor.measure import Case
from studies.pcor.paper import (
    CHANGES,
    EPSILON,
    EPSILONS,
    MATCHES,
    SAMPLE_NUMBERS,
    SAMPLES,
    TIMES,
    UTILITIES,
    Times,
    Utility,
)
from studies.pcor.tables import MATCH_NAMES, SEARCH_ORDER, match, one_start, utility

READING = "dots: outliers, box: their middle half, line: their mean, diamond: the paper's mean"
RATIO = "population / best valid one's"
OURS, PAPER = "ours", "the paper"
ONE, PRINTED_SEARCH = "ours, from one start", "ours, one start and the paper's ε1"
SHARED, PRINTED, EQUAL = "ours: valid in both / in either", "the paper", "ours: exactly the same contexts"
NAMES = {"grubbs": "Grubbs", "lof": "LOF", "histogram": "histogram"}


@dataclass(frozen=True)
class Figure:
    """What one of the paper's figures is over: a case and its outliers for each group, and printed means."""

    number: int
    title: str
    groups: Mapping[str, tuple[Case, Sequence[Entry]]]
    times: Mapping[str, Times]
    utilities: Mapping[str, Utility]
    table: str
    timed: bool = True


def draw(
    searches: Sequence[Entry],
    detectors: Mapping[str, Sequence[Entry]],
    matches: Mapping[int, Mapping[str, Sequence[Entry]]],
    rows: int,
    folder: Path,
) -> list[Path]:
    """Draw Figures 1 to 5, the sweep over ε with its intervals, and the matches; return all files."""
    table = f"LOF among {rows:,} salaries"
    sampled = f"{table}, {SAMPLES} samples"
    overlap = ("depth_first", "breadth_first")
    figures = (
        Figure(
            1, "searches", {name: (Case(name), searches) for name in SEARCH_ORDER},
            # Printed for all records at once: no mark beside the time for one answer.
            {name: times for name, times in TIMES[2].items() if name != "exact"}, UTILITIES[3], sampled,
        ),
        Figure(
            2, "searches, utility: overlap with the start",
            {name: (Case(name, "overlap"), searches) for name in overlap}, TIMES[4], UTILITIES[5], sampled,
        ),
        Figure(
            3, "detectors, breadth first",
            {name: (Case("breadth_first"), entries) for name, entries in detectors.items()},
            TIMES[6], UTILITIES[7], f"the reduced salaries, {SAMPLES} samples",
        ),
        Figure(
            4, "ε, breadth first",
            {each: (Case("breadth_first", epsilon=each), searches) for each in EPSILONS},
            TIMES[8], UTILITIES[9], sampled, timed=False,
        ),
        Figure(
            5, "number of samples, breadth first",
            {str(each): (Case("breadth_first", samples=each), searches) for each in SAMPLE_NUMBERS},
            TIMES[10], UTILITIES[11], table,
        ),
    )  # fmt: skip
    return [
        *(path for figure in figures for path in _distributions(figure, folder)),
        *_sweep(searches, sampled, folder),
        *_matches(matches, folder),
    ]


def _distributions(figure: Figure, folder: Path) -> list[Path]:
    paths: list[Path] = []
    numbers = {str(len(entries)) for _, entries in figure.groups.values()}
    epsilon = "" if figure.number == 4 else f", ε = {EPSILON}"
    printed: Mapping[str, Mapping[str, Times | Utility]] = {
        "utility": {**figure.utilities}, "seconds": {**figure.times},
    }  # fmt: skip
    for measure, file, said, label in (
        ("utility", "utility", "How near to the best group", RATIO),
        ("seconds", "time", "How long", "time for one answer"),
    ):
        if measure == "seconds" and not figure.timed:
            continue
        chart = distribution(
            [
                {"group": _spoken(name), "value": entry["results"][case.name][measure]}
                for name, (case, entries) in figure.groups.items()
                for entry in entries
            ],
            [
                {"group": _spoken(name), "value": figures.mean, "what": "paper"}
                for name, figures in printed[measure].items()
            ],
            title=f"Figure {figure.number}. {said}: {figure.title}",
            subtitle=f"{' and '.join(sorted(numbers))} outliers, {figure.table}{epsilon}\n{READING}",
            label=label,
            order=[_spoken(name) for name in figure.groups],
            logarithmic=measure == "seconds",
        )
        paths += save(chart, folder, f"figure_{figure.number}_{file}")
    return paths


def _sweep(searches: Sequence[Entry], table: str, folder: Path) -> list[Path]:
    rows = []
    for epsilon in EPSILONS:
        case = Case("breadth_first", epsilon=epsilon)
        x = float(epsilon)
        for series, asked in {OURS: case, ONE: one_start(case), PRINTED_SEARCH: case.as_in_the_paper}.items():
            found = utility(asked, searches)
            inside = {"low": max(0.0, found.low), "high": min(1.0, found.high)}
            rows.append({"series": series, "x": x, "mean": found.mean, **inside})
        printed = UTILITIES[9][epsilon]
        rows.append({"series": PAPER, "x": x, "mean": printed.mean, "low": printed.low, "high": printed.high})
    chart = curve(
        rows,
        title="Table 9. What ε buys breadth-first search",
        subtitle=f"mean utility with its 90 % interval; {table}",
        x_label="ε (the whole charge)",
        y_label=RATIO,
        order=[OURS, PAPER, ONE, PRINTED_SEARCH],
    )
    return save(chart, folder, "epsilon")


def _matches(matches: Mapping[int, Mapping[str, Sequence[Entry]]], folder: Path) -> list[Path]:
    rows = []
    for number, entries in matches.items():
        for detector, outliers in entries.items():
            for place, change in enumerate(CHANGES):
                panel = {"column": NAMES[detector], "line": MATCH_NAMES[number], "x": str(change)}
                figures = {
                    SHARED: match(outliers, change).mean,
                    PRINTED: MATCHES[number][detector][place],
                    EQUAL: match(outliers, change, "equal").mean,
                }
                rows += [{**panel, "series": series, "value": value} for series, value in figures.items()]
    chart = grouped_bars(
        rows,
        title="Tables 12 and 13. Does the record stand out in the same groups when others are left out?",
        subtitle=f"random neighbours with {', '.join(map(str, CHANGES))} records left out",
        x_label="records left out",
        y_label="match",
        order=[SHARED, PRINTED, EQUAL],
        columns=list(NAMES.values()),
        lines=[MATCH_NAMES[number] for number in matches],
    )
    return save(chart, folder, "match")


def _spoken(name: str) -> str:
    return name.replace("_", " ")

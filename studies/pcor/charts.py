# SPDX-License-Identifier: Apache-2.0
"""The pictures of PCOR's experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from anonymaly.pictures.charts import curve, distribution, grouped_bars, save
from studies.journal import Entry
from studies.pcor.measure import Case
from studies.pcor.paper import CHANGES, EPSILON, EPSILONS, MATCHES, TIMES, UTILITIES, Times, Utility
from studies.pcor.tables import MATCH_NAMES, SEARCH_ORDER, match, one_start, utility

READING = "dots: outliers, box: their middle half, line: their mean, diamond: the paper's mean"
RATIO = "population / best valid one's"
OURS, PAPER = "ours", "the paper"
ONE, PRINTED_SEARCH = "ours, from one start", "ours, one start and the paper's ε1"
SHARED, PRINTED, EQUAL = "ours: valid in both / in either", "the paper", "ours: exactly the same contexts"
NAMES = {"grubbs": "Grubbs", "lof": "LOF", "histogram": "histogram"}


def draw(
    searches: Sequence[Entry],
    matches: Mapping[int, Mapping[str, Sequence[Entry]]],
    rows: int,
    folder: Path,
) -> list[Path]:
    """Draw utility and time of each search, the sweep over ε, and the matches; return all files."""
    table = f"LOF among {rows:,} salaries, 50 samples"
    return [
        *_distributions(searches, table, folder),
        *_sweep(searches, table, folder),
        *_matches(matches, folder),
    ]


def _distributions(searches: Sequence[Entry], table: str, folder: Path) -> list[Path]:
    paths: list[Path] = []
    for measure, file, title, label in (
        ("utility", "utility", "How near the searches come to the best group", RATIO),
        ("seconds", "time", "How long the searches take", "time for one answer"),
    ):
        rows = [
            {"group": _spoken(name), "value": entry["results"][Case(name).name][measure]}
            for name in SEARCH_ORDER
            for entry in searches
        ]
        printed: Mapping[str, Times | Utility] = {**(UTILITIES[3] if measure == "utility" else TIMES[2])}
        marks = [
            {"group": _spoken(name), "value": figures.mean, "what": "paper"}
            for name, figures in printed.items()
            if name != "exact"  # printed for all records at once: no mark beside the time for one answer
        ]
        chart = distribution(
            rows,
            marks,
            title=title,
            subtitle=f"{len(searches)} outliers, {table}, ε = {EPSILON}\n{READING}",
            label=label,
            order=[_spoken(name) for name in SEARCH_ORDER],
            logarithmic=measure == "seconds",
        )
        paths += save(chart, folder, file)
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
        title="What ε buys breadth-first search",
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
        title="Does the record stand out in the same groups when others are left out?",
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

# SPDX-License-Identifier: Apache-2.0
"""The pictures of the experiments of 000."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymaly.pictures.charts import curve, distribution, grouped_bars, save
from studies.journal import Entry
from studies.pcor.measure import Case
from studies.pcor.paper import CHANGES, EPSILON
from studies.pcor.tables import AS_PRINTED, ONE_START, SEARCH_ORDER, Table

READING = "dots: outliers, box: their middle half, line: their mean, diamond: the paper's mean"
OURS, PAPER = "ours", "the paper"
ONE, PRINTED_SEARCH = "ours, from one start", "ours, one start and the paper's ε1"
SHARED, PRINTED, EQUAL = "ours: valid in both / in either", "the paper", "ours: exactly the same contexts"
NAMES = {"grubbs": "Grubbs", "lof": "LOF", "histogram": "histogram"}


def draw(tables: Sequence[Table], searches: Sequence[Entry], rows: int, folder: Path) -> list[Path]:
    """Draw utility and time of each search, the sweep over ε, and the matches; return all files."""
    by_number = {table.number: table for table in tables}
    table = f"LOF among {rows:,} salaries, 50 samples"
    paths = _distributions(by_number, searches, table, folder)
    paths += _sweep(by_number[9], table, folder)
    return paths + _matches([by_number[12], by_number[13]], folder)


def _distributions(
    tables: dict[int, Table], searches: Sequence[Entry], table: str, folder: Path
) -> list[Path]:
    order = [_spoken(name) for name in SEARCH_ORDER]
    paths = []
    for number, measure, file, title, label in (
        (
            3,
            "utility",
            "utility",
            "How near the searches come to the best group",
            "population / best valid one's",
        ),
        (2, "seconds", "time", "How long the searches take", "time for one answer"),
    ):
        rows = [
            {"group": _spoken(name), "value": entry["results"][Case(name).name][measure]}
            for name in SEARCH_ORDER
            for entry in searches
        ]
        # The paper's three days for the direct approach are for all records at once: no mark for one answer.
        marks = [
            {"group": _spoken(line.case), "value": line.paper["mean"], "what": "paper"}
            for line in tables[number].lines
            if line.paper is not None and line.case != "exact"
        ]
        said = f"{len(searches)} outliers, {table}, ε = {EPSILON}\n{READING}"
        chart = distribution(
            rows,
            marks,
            title=title,
            subtitle=said,
            label=label,
            order=order,
            logarithmic=measure == "seconds",
        )
        paths += save(chart, folder, file)
    return paths


def _sweep(sweep: Table, table: str, folder: Path) -> list[Path]:
    rows = []
    for line in sweep.lines:
        x = line.rates["epsilon"]
        figures_of = {
            OURS: line.ours,
            ONE: line.further[ONE_START],
            PRINTED_SEARCH: line.further[AS_PRINTED],
        }
        for series, figures in figures_of.items():
            inside = {"low": max(0.0, figures.low), "high": min(1.0, figures.high)}
            rows.append({"series": series, "x": x, "mean": figures.mean, **inside})
        if line.paper is not None:
            rows.append({"series": PAPER, "x": x, **line.paper})
    chart = curve(
        rows,
        title="What ε buys breadth-first search",
        subtitle=f"mean utility with its 90 % interval; {table}",
        x_label="ε (the whole charge)",
        y_label="population / best valid one's",
        order=[OURS, PAPER, ONE, PRINTED_SEARCH],
    )
    return save(chart, folder, "epsilon")


def _matches(tables: Sequence[Table], folder: Path) -> list[Path]:
    rows = []
    for table in tables:
        for line in table.lines:
            detector, _, change = line.case.partition(", ΔD = ")
            panel = {"column": NAMES[detector], "line": table.title.rpartition(": ")[2], "x": change}
            paper = line.paper["mean"] if line.paper else 0.0
            figures = {SHARED: line.ours.mean, PRINTED: paper, EQUAL: line.further["equal sets"].mean}
            rows += [{**panel, "series": series, "value": value} for series, value in figures.items()]
    chart = grouped_bars(
        rows,
        title="Does the record stand out in the same groups when others are left out?",
        subtitle=f"random neighbours with {', '.join(map(str, CHANGES))} records left out",
        x_label="records left out",
        y_label="match",
        order=[SHARED, PRINTED, EQUAL],
        columns=list(NAMES.values()),
        lines=[table.title.rpartition(": ")[2] for table in tables],
    )
    return save(chart, folder, "match")


def _spoken(name: str) -> str:
    return name.replace("_", " ")

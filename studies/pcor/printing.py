# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce explain``: what it measures, and how its tables are printed."""

from __future__ import annotations

from rich.table import Table as Grid

from studies.pcor.confidence import Sample
from studies.pcor.study import Sources, reproduce_explain
from studies.pcor.tables import AS_PRINTED, Line, Measure, Table
from studies.printing import Run
from studies.runner import Reproduction


def study(run: Run) -> Reproduction[Table]:
    """Measure."""
    sources = Sources.read(run.data)
    return reproduce_explain(
        sources, run.output, **run.given(outliers=run.outliers), force=run.force, progress=run.progress
    )


def grid(table: Table) -> Grid:
    """Return a table for the terminal."""
    printed = Grid(
        title=f"Table {table.number}. {table.title}", title_justify="left", box=None, pad_edge=False
    )
    further = list(table.lines[0].further)
    rates = bool(table.lines[0].rates)
    titles = ["", *(["ε", "our ε1", "paper's ε1"] if rates else []), "paper", "ours", *further]
    for number, title in enumerate(titles):
        printed.add_column(title, justify="left" if number == 0 else "right")
    for line in table.lines:
        figures = [
            _figures(line.ours, table.measure),
            *(_further(line, name, table.measure) for name in further),
        ]
        printed.add_row(line.case.replace("_", " "), *_rates(line), _paper(line, table.measure), *figures)
    return printed


def _rates(line: Line) -> list[str]:
    return [f"{line.rates[name]:.3g}" for name in ("epsilon", "rate", "paper_rate") if name in line.rates]


def _paper(line: Line, measure: Measure) -> str:
    if line.paper is None:
        return "-"
    figures = line.paper
    if measure == "seconds":
        return f"{_time(figures['mean'])} ({_time(figures['least'])} to {_time(figures['most'])})"
    if measure == "match":
        return f"{figures['mean']:.1%}"
    return f"{figures['mean']:.2f} ({figures['low']:.2f}, {figures['high']:.2f})"


def _figures(figures: Sample, measure: Measure) -> str:
    if measure == "seconds":
        return f"{_time(figures.mean)} ({_time(figures.least)} to {_time(figures.most)})"
    if measure == "match":
        return f"{figures.mean:.1%}"
    return f"{figures.mean:.2f} ({figures.low:.2f}, {figures.high:.2f})"


def _further(line: Line, name: str, measure: Measure) -> str:
    text = _figures(line.further[name], measure)
    return f"{text} for ε = {line.rates['paper_charge']:.3g}" if name == AS_PRINTED else text


def _time(seconds: float) -> str:
    """Write a time with the unit that suits it.

    Examples
    --------
    >>> [_time(seconds) for seconds in (0.0123, 4.21, 51, 2220, 259200)]
    ['12 ms', '4.2 s', '51 s', '37 min', '72 h']
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.0f} h"

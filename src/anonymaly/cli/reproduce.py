# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce``: the papers' experiments on public data, the papers' figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from anonymaly.cli import reproduce_stream as printed_stream
from anonymaly.cli.output import AsJson, err, out, say, say_json
from anonymaly.errors import InputError
from anonymaly.reproduce.confidence import Sample
from anonymaly.reproduce.explain import Sources, reproduce_explain
from anonymaly.reproduce.paper import OUTLIERS
from anonymaly.reproduce.progress import Progress
from anonymaly.reproduce.stream import reproduce_stream
from anonymaly.reproduce.stream_data import real_sources
from anonymaly.reproduce.tables import AS_PRINTED, Line, Measure, Table

What = Annotated[str, typer.Argument(metavar="QUESTION", help="explain or stream")]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", envvar="ANONYMALY_DATA", help="The folder with the public files."),
]
Output = Annotated[Path, typer.Option("--output", metavar="DIR", help="For measurements, tables, pictures.")]
Outliers = Annotated[
    int, typer.Option("--outliers", min=1, help="explain: how many outliers a mean is over.")
]
Force = Annotated[bool, typer.Option("--force", help="Measure again what is in the output folder.")]

WIDTH = 120


@dataclass(frozen=True)
class Run:
    """What every study is told."""

    data: Path | None
    output: Path
    outliers: int
    force: bool
    progress: Progress


def _explain(run: Run) -> Any:
    sources = Sources.read(run.data)
    return reproduce_explain(
        sources, run.output, outliers=run.outliers, force=run.force, progress=run.progress
    )


def _stream(run: Run) -> Any:
    return reproduce_stream(real_sources(run.data), run.output, force=run.force, progress=run.progress)


def reproduce(
    question: What,
    data: Data = None,
    output: Output = Path("reproduced"),
    outliers: Outliers = OUTLIERS,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run a paper's experiments again; an interrupted run goes on where it was."""
    if question not in STUDIES:
        raise InputError(
            f"there is none of {question!r}", field="question", next_step=f"One of {', '.join(STUDIES)}."
        )
    study, printed = STUDIES[question]
    try:
        with Progress(err if err.is_terminal else None) as progress:
            found = study(Run(data, output, outliers, force, progress))
    except KeyboardInterrupt:
        err.print(f"interrupted; what was measured is kept in {output}, and the same command goes on")
        raise typer.Exit(130) from None
    if as_json:
        say_json(found.to_dict())
        return
    # A figure cut in two cannot be read: in a narrow window lines are wrapped as a whole.
    wide = Console(width=max(out.width, WIDTH), highlight=False, soft_wrap=True)
    for table in found.tables:
        wide.print(printed(table))
        say(f"{table.note}\n" if table.note else "")
    say(f"Tables and pictures: {output}")


def _grid(table: Table) -> Grid:
    grid = Grid(title=f"Table {table.number}. {table.title}", title_justify="left", box=None, pad_edge=False)
    further = list(table.lines[0].further)
    rates = bool(table.lines[0].rates)
    titles = ["", *(["ε", "our ε1", "paper's ε1"] if rates else []), "paper", "ours", *further]
    for number, title in enumerate(titles):
        grid.add_column(title, justify="left" if number == 0 else "right")
    for line in table.lines:
        figures = [
            _figures(line.ours, table.measure),
            *(_further(line, name, table.measure) for name in further),
        ]
        grid.add_row(line.case.replace("_", " "), *_rates(line), _paper(line, table.measure), *figures)
    return grid


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


# question → what measures it, and how one of its tables is printed
STUDIES: Mapping[str, tuple[Callable[[Run], Any], Callable[[Any], Grid]]] = {
    "explain": (_explain, _grid),
    "stream": (_stream, printed_stream.grid),
}

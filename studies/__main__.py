# SPDX-License-Identifier: Apache-2.0
"""``anonymaly reproduce``: the papers' experiments on public data, the papers' figures beside ours."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from anonymaly.cli.output import AsJson, err, out, say, say_json
from anonymaly.errors import InputError
from studies.printing import STUDIES, Run
from studies.progress import Progress

What = Annotated[str, typer.Argument(metavar="QUESTION", help=f"One of {', '.join(STUDIES)}.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", envvar="ANONYMALY_DATA", help="The folder with the public files."),
]
Output = Annotated[Path, typer.Option("--output", metavar="DIR", help="For measurements, tables, pictures.")]
Outliers = Annotated[
    int | None, typer.Option("--outliers", min=1, help="explain: how many outliers a mean is over.")
]
Seeds = Annotated[int | None, typer.Option("--seeds", min=1, help="score: how many splits a mean is over.")]
Runs = Annotated[int | None, typer.Option("--runs", min=1, help="share: how many draws a mean is over.")]
Force = Annotated[bool, typer.Option("--force", help="Measure again what is in the output folder.")]

WIDTH = 120


def reproduce(
    question: What,
    data: Data = None,
    output: Output = Path("reproduced"),
    outliers: Outliers = None,
    seeds: Seeds = None,
    runs: Runs = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Run a paper's experiments again; an interrupted run goes on where it was."""
    if question not in STUDIES:
        raise InputError(
            f"there is none of {question!r}", field="question", next_step=f"One of {', '.join(STUDIES)}."
        )
    chosen = importlib.import_module(STUDIES[question])
    try:
        with Progress(err if err.is_terminal else None) as progress:
            found = chosen.study(Run(data, output, outliers, seeds, runs, force, progress))
    except KeyboardInterrupt:
        err.print(f"interrupted; what was measured is kept in {output}, and the same command goes on")
        raise typer.Exit(130) from None
    if as_json:
        say_json(found.to_dict())
        return
    # A figure cut in two cannot be read: in a narrow window lines are wrapped as a whole.
    wide = Console(width=max(out.width, WIDTH), highlight=False, soft_wrap=True)
    for table in found.tables:
        wide.print(chosen.grid(table))
        say(f"{table.note}\n" if table.note else "")
    say(f"Tables and pictures: {output}")


app = typer.Typer(add_completion=False)
app.command()(reproduce)

if __name__ == "__main__":
    app()

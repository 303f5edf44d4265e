# SPDX-License-Identifier: Apache-2.0
"""How commands speak: text for people, one JSON document with ``--json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from anonymaly.progress import listening

# A pipe or a file has no width; tables are folded for a terminal only.
WIDTH = None if sys.stdout.isatty() else 200
out = Console(highlight=False, soft_wrap=True, width=WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ManifestPath = Annotated[
    str, typer.Argument(metavar="MANIFEST", help="The owner's YAML file, as `anonymaly init` writes it.")
]


def plain(*texts: str) -> list[Text]:
    """Return a table's cells as they are: what askers wrote is never markup."""
    return [Text(text) for text in texts]


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show how far a question has come, on a terminal; what takes no time is not shown."""
    if not err.is_terminal:
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=err, transient=True) as bars:

        def show(unit: str, done: int, total: int) -> None:
            if unit not in tasks:
                tasks[unit] = bars.add_task(unit, total=total)
            bars.update(tasks[unit], completed=done)

        with listening(show):
            yield


def say(text: str) -> None:
    """Print plain text; square brackets in it are not markup."""
    out.print(text, markup=False)


def say_json(data: Mapping[str, Any]) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))

# SPDX-License-Identifier: Apache-2.0
"""The output of commands: text for people, one JSON document with ``--json``, progress bars."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from anonymaly.core.progress import listening
from anonymaly.engine.watching import watching
from anonymaly.errors import InputError

# A pipe or a file has no width; tables are folded for a terminal only.
WIDTH = None if sys.stdout.isatty() else 200
out = Console(highlight=False, soft_wrap=True, width=WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ManifestPath = Annotated[
    str, typer.Argument(metavar="MANIFEST", help="The owner's YAML file, as `anonymaly init` writes it.")
]


def plain(*texts: str) -> list[Text]:
    """Return a table's cells as plain text: what askers wrote is never markup."""
    return [Text(text) for text in texts]


@contextmanager
def progress_bar(*, reading: bool = False) -> Iterator[None]:
    """Show a progress bar on a terminal while a question is answered, in public units where there are any.

    With ``reading`` there is another one for what the embedded engine has read, which is a fact about rows:
    only for the terminal of whoever has the table, never beside a document that is passed on.
    """
    if not err.is_terminal:
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True) as bars, on_screen(bars):
        # A bar without an end while nothing public can be counted.
        tasks = {"asking": bars.add_task("asking", total=None, count="")}

        def show(unit: str, done: int, total: int) -> None:
            if unit not in tasks:
                bars.remove_task(tasks.popitem()[1])
                tasks[unit] = bars.add_task(unit, total=total, count="")
            bars.update(tasks[unit], completed=done, count=f"{done:,}/{total:,}")

        with listening(show), watching(shown_by(bars)) if reading else nullcontext():
            yield


_bars_shown: list[Progress] = []


@contextmanager
def on_screen(bars: Progress) -> Iterator[None]:
    """Remember bars while they are shown, so that others are added to them."""
    _bars_shown.append(bars)
    try:
        yield
    finally:
        _bars_shown.remove(bars)


def shown_bars() -> Progress | None:
    """Return the bars that are on the screen, if any: a terminal shows only one set of them at a time."""
    return _bars_shown[-1] if _bars_shown else None


def shown_by(bars: Progress) -> Callable[[float], None]:
    """Return what shows how many percent of the table a statement has read, from its first report on."""
    task: list[TaskID] = []

    def show(percent: float) -> None:
        if not task:
            task.append(bars.add_task("reading", total=100, count=""))
        bars.update(task[0], completed=percent, count=f"{percent:.0f} %")

    return show


@contextmanager
def still_kept() -> Iterator[None]:
    """Add to the error of a file that cannot be written that what was paid for is not lost with it."""
    try:
        yield
    except InputError as problem:
        kept = "The answer was charged and is stored: asking for it again is free."
        step = f"{problem.next_step} {kept}" if problem.next_step else kept
        raise InputError(problem.problem, field=problem.field, next_step=step) from None


def say(text: str) -> None:
    """Print plain text; square brackets in it are not markup."""
    out.print(text, markup=False)


def say_json(data: Mapping[str, Any]) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # of a locale without all letters, or half of a letter: JSON has a spelling
        text = json.dumps(data, indent=2)
    typer.echo(text)


def print_in_any_locale() -> None:
    """Spell out letters that the locale does not have: an answer that was paid for must be printed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

# SPDX-License-Identifier: Apache-2.0
"""What every study of ``anonymaly reproduce`` is told, and where each is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from studies.progress import Progress

# question → the module whose ``study`` measures and whose ``grid`` prints a table
STUDIES = {
    "score": "studies.grid_knn.printing",
    "identify": "studies.sensitive.printing",
    "explain": "studies.pcor.printing",
    "share": "studies.one_sided.printing",
    "stream": "studies.sensors.printing",
}


@dataclass(frozen=True)
class Run:
    """What a study is told; what was not given is the study's own choice.

    Examples
    --------
    >>> Run(None, Path("out"), outliers=3).given(outliers=3, seeds=None)
    {'outliers': 3}
    """

    data: Path | None
    output: Path
    outliers: int | None = None
    seeds: int | None = None
    runs: int | None = None
    force: bool = False
    progress: Progress | None = None

    @staticmethod
    def given(**options: int | None) -> dict[str, Any]:
        """Return the options that were given."""
        return {name: value for name, value in options.items() if value is not None}


def figures(
    title: str,
    heads: Sequence[str],
    lines: Iterable[Sequence[str]],
    *,
    texts: Collection[str] = (),
    once: bool = False,
) -> Grid:
    """Return a table of figures for the terminal, the first column and those of text on the left.

    With ``once`` what several lines are about is printed in the first of them.
    """
    printed = Grid(title=title, title_justify="left", box=None, pad_edge=False)
    for number, head in enumerate(heads):
        printed.add_column(head, justify="left" if number == 0 or head in texts else "right")
    before = None
    for first, *others in lines:
        printed.add_row("" if once and first == before else first, *others)
        before = first
    return printed

# SPDX-License-Identifier: Apache-2.0
"""A table of figures, for a terminal, a page and a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table as Grid


@dataclass(frozen=True)
class Cell:
    """What is printed in one place of a table, and the figures behind it.

    Attributes
    ----------
    text
        What is printed.
    figures
        The figures by name, unrounded.
    """

    text: str
    figures: Mapping[str, float]


Content = str | float | Cell
Line = tuple[Content, ...]


@dataclass(frozen=True)
class Table:
    """A table; the first column says what each line is about.

    Attributes
    ----------
    title, heads, lines, note
        The table as it is printed, the note below it.
    words
        Heads of further columns that hold words, which a terminal shows on the left.

    Examples
    --------
    >>> ours = Cell("0.90 (0.88, 0.93)", {"mean": 0.9, "low": 0.88, "high": 0.93})
    >>> table = Table("Utility", ("", "paper", "ours"), (("breadth first", 0.97, ours),))
    >>> print(table.to_markdown())
    ## Utility
    <BLANKLINE>
    |  | paper | ours |
    | --- | --- | --- |
    | breadth first | 0.97 | 0.90 (0.88, 0.93) |
    <BLANKLINE>
    >>> table.to_dict()["lines"]
    [['breadth first', 0.97, {'mean': 0.9, 'low': 0.88, 'high': 0.93}]]
    """

    title: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    note: str = ""
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for line in self.lines:
            if len(line) != len(self.heads):
                raise ValueError(f"{self.title}: a line has {len(line)} cells for {len(self.heads)} heads")

    def column(self, head: str) -> list[Content]:
        """Return the cells below the first column with this head."""
        place = self.heads.index(head)
        return [line[place] for line in self.lines]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data: ``lines`` holds figures unrounded, ``printed`` as they are read."""
        lines = [
            [dict(cell.figures) if isinstance(cell, Cell) else cell for cell in line] for line in self.lines
        ]
        return {
            "title": self.title,
            "heads": list(self.heads),
            "words": list(self.words),
            "lines": lines,
            "printed": [list(map(written, line)) for line in self.lines],
            "note": self.note,
        }

    def to_markdown(self) -> str:
        """Return the table as text for a page."""
        rows = [self.heads, ("---",) * len(self.heads), *(map(written, line) for line in self.lines)]
        drawn = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return f"## {self.title}\n\n{drawn}\n\n{self.note}".rstrip() + "\n"

    def to_terminal(self) -> Grid:
        """Return the table for a terminal; what several lines are about is printed in the first of them."""
        printed = Grid(title=self.title, title_justify="left", box=None, pad_edge=False)
        for number, head in enumerate(self.heads):
            printed.add_column(head, justify="left" if number == 0 or head in self.words else "right")
        before = None
        for line in self.lines:
            first, *others = map(written, line)
            printed.add_row("" if first == before else first, *others)
            before = first
        return printed


def written(cell: Content) -> str:
    """Write what is in a cell: a figure with three digits, or whole.

    Examples
    --------
    >>> [written(cell) for cell in ("auto", 1.2345, 12.3, 123456.7, 17665)]
    ['auto', '1.23', '12.3', '123,457', '17,665']
    """
    if isinstance(cell, Cell):
        return cell.text
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"


def duration(seconds: float) -> str:
    """Write how long something took.

    Examples
    --------
    >>> duration(0.4), duration(59), duration(600), duration(9000)
    ('under a second', '59 s', '10 min', '2.5 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"

# SPDX-License-Identifier: Apache-2.0
"""Why records score as they do: each column's and each pair's part, in words and numbers that were released.

All of it follows from the model and from the records that were given. It costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from rich.table import Table
from rich.text import Text

from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError
from anonymaly.pictures.chart import Chart
from anonymaly.pictures.page import cells, figure, fragment
from anonymaly.pictures.plain_table import table_lines
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.reasons_picture import picture

if TYPE_CHECKING:
    from anonymaly.questions.score.methods.parts import Cell, Parts
    from anonymaly.questions.score.space import Space

TOGETHER = "all numbers together"
NAMED = 3  # parts that are named of each record
SLIGHT = 0.05  # a smaller part, of a value that is 5 % rarer than usual, is no reason
MOST_NOISE = 0.5  # beyond this part of the records, noise leaves nothing to say of a share
LEAST = 1e-4  # a share that is written; of smaller ones it is said that they are under it
WIDTH = 160


@dataclass(frozen=True)
class Part:
    """What one column, or two of them together, add to a score; above 0 is odder than usual."""

    columns: tuple[str, ...]
    part: float
    words: str
    title: str  # what a picture calls it

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain data."""
        return {"columns": list(self.columns), "part": self.part, "words": self.words}


@dataclass(frozen=True)
class Reason:
    """Why one record scores as it does.

    Attributes
    ----------
    row
        The record's place among those that were given, from 0.
    score
        The sum of all parts.
    unusual
        Whether it is above the model's threshold; None where there is none.
    parts
        The largest parts, the largest first.
    """

    row: int
    score: float
    unusual: bool | None
    parts: tuple[Part, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as plain data."""
        found = {"row": self.row, "score": self.score}
        return {
            **found,
            **({} if self.unusual is None else {"unusual": self.unusual}),
            "reasons": [part.to_dict() for part in self.parts],
        }

    def __str__(self) -> str:
        return "; ".join(part.words for part in self.parts) or "nothing about it is unusual"


class Reasons(Sequence[Reason]):
    """The reasons of some records; each is put into words when it is looked at.

    Examples
    --------
    >>> import anonymaly as am, pandas
    >>> people = pandas.DataFrame({"age": [30, 31, 32, 33] * 50, "ward": ["A", "A", "B", "A"] * 50})
    >>> columns = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B", "C"])}
    >>> table = am.Dataset(people, name="people", public=True, columns=columns)
    >>> query = am.Score(columns=["age", "ward"], rows=200, bins=12, pair_bins=0, epsilon=4)
    >>> model = am.simulate(query, table, seed=0).value
    >>> (reason,) = model.reasons([{"age": 31, "ward": "A"}, {"age": 31, "ward": "C"}]).top(1)
    >>> reason.row, reason.parts[0].words
    (1, 'ward C: under about 0.7 % of the records have it')
    """

    def __init__(
        self,
        space: Space,
        parts: Parts,
        points: Floats,
        numbers: Floats,
        *,
        threshold: float | None,
        rows: Sequence[int] | None = None,
        named: int = NAMED,
    ) -> None:
        self._space, self._parts, self._points, self._numbers = space, parts, points, numbers
        self._threshold, self._named = threshold, named
        self._rows = list(range(len(points))) if rows is None else list(rows)
        self.scores: Floats = numbers.sum(axis=1)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Reason: ...

    @overload
    def __getitem__(self, place: slice) -> Reasons: ...

    def __getitem__(self, place: int | slice) -> Reason | Reasons:
        if isinstance(place, slice):
            return self._chosen(list(range(len(self)))[place])
        point, numbers = self._points[place], self._numbers[place]
        largest = [
            int(part)
            for part in np.argsort(-numbers, kind="stable")[: self._named]
            if numbers[part] >= SLIGHT
        ]
        score = float(self.scores[place])
        return Reason(
            row=self._rows[place],
            score=score,
            unusual=None if self._threshold is None else score > self._threshold,
            parts=tuple(self._part(part, point, float(numbers[part])) for part in largest),
        )

    def _part(self, part: int, point: Floats, number: float) -> Part:
        axes, cell = self._parts.axes[part], self._parts.cell(part, point)
        names = tuple(self._space.columns[axis] for axis in axes)
        title = TOGETHER if cell is None else " with ".join(names)
        return Part(names, number, _words(self._space, axes, cell, point), title)

    def __iter__(self) -> Iterator[Reason]:
        return (self[place] for place in range(len(self)))

    def top(self, count: int) -> Reasons:
        """Return the reasons of the records that score highest, the highest first."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(
                f"must be a whole number from 1 on, got {count!r}", field="top", next_step="Give, say, 10."
            )
        return self._chosen([int(place) for place in np.argsort(-self.scores, kind="stable")[:count]])

    def told(self, *, rows: Sequence[int] | None = None, named: int = NAMED) -> Reasons:
        """Return the same reasons with other numbers of their rows, and more or fewer parts named."""
        return Reasons(
            self._space,
            self._parts,
            self._points,
            self._numbers,
            threshold=self._threshold,
            rows=self._rows if rows is None else rows,
            named=named,
        )

    def _chosen(self, places: Sequence[int]) -> Reasons:
        return Reasons(
            self._space,
            self._parts,
            self._points[places],
            self._numbers[places],
            threshold=self._threshold,
            rows=[self._rows[place] for place in places],
            named=self._named,
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Return all of them as plain data."""
        return [reason.to_dict() for reason in self]

    def __str__(self) -> str:
        table = Table(box=None, pad_edge=False)
        for name in ("row", "score", "why"):
            table.add_column(name, justify="left" if name == "why" else "right", no_wrap=name != "why")
        for reason in self:
            table.add_row(str(reason.row), f"{reason.score:.2f}", Text(str(reason)))
        return "\n".join(table_lines(table, WIDTH))

    def __repr__(self) -> str:
        return f"Reasons of {len(self)} records"

    def pictures(self) -> list[Chart]:
        """Return a picture of the parts of each record, unless no part of any is unusual."""
        drawn = [(f"row {reason.row}", reason.score, _bars(reason)) for reason in self]
        return [picture(drawn)] if any(parts for _, _, parts in drawn) else []

    def svg(self) -> str:
        """Return the picture as the text of an SVG file."""
        return "".join(chart.to_svg(alone=True) for chart in self.pictures())

    def _repr_html_(self) -> str:
        rows = [[str(reason.row), f"{reason.score:.2f}", str(reason)] for reason in self]
        return fragment(*map(figure, self.pictures()), cells(["row", "score", "why"], rows, numbers=(0, 1)))


def _bars(reason: Reason) -> list[tuple[str, float]]:
    return [(part.title, part.part) for part in reason.parts]


def _words(space: Space, axes: tuple[int, ...], cell: Cell | None, point: Floats) -> str:
    """Say what a record has and how many of the reference records have the like."""
    names = [space.columns[axis] for axis in axes]
    if cell is None:
        listed = ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
        return f"{TOGETHER} ({listed}): a combination that is rarer than usual"
    share = _share(cell.share, cell.believed)
    values = [_value(space, axis, float(point[axis])) for axis in axes]
    if len(axes) == 2:
        # Beside "under about 4 %" an expected 3 % or 4 % would say nothing.
        unrelated = 0.0 if cell.expected is None else cell.expected
        more = unrelated > max(cell.share, cell.believed) and not share.endswith(f" {_percent(unrelated)}")
        expected = f", {_percent(unrelated)} would if they were unrelated" if more else ""
        both = " with ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
        return f"{both}: {share} of the records have both{expected}"
    if np.isnan(point[axes[0]]):
        return f"{names[0]} is missing: {share} of the records lack it"
    span = cell.spans[0]
    if span is None:
        return f"{names[0]} {values[0]}: {share} of the records have it"
    low, high = (_written(space, axes[0], end) for end in span)
    return f"{names[0]} {values[0]}: {share} of the records lie between {low} and {high}"


def _share(share: float, believed: float) -> str:
    """Write a share; one that may be noise alone is said to be below about what would be believed.

    Examples
    --------
    >>> _share(0.2, 0.01), _share(0.001, 0.04), _share(0.00002, 0.0), _share(0.3, 1.7)
    ('about 20 %', 'under about 4 %', 'under 0.01 %', 'noise hides how many')
    """
    least = max(believed, LEAST)
    if share < least and least >= MOST_NOISE:
        return "noise hides how many"
    if share >= least:
        return f"about {_percent(share)}"
    # Noise may hide more than that, now and then.
    return f"under {'about ' if believed > LEAST else ''}{_percent(_rounded_up(least))}"


def _rounded_up(share: float) -> float:
    """Round up to what is written, so that "under" stays true."""
    unit = 0.01 if share >= 0.01 else 10.0 ** math.floor(math.log10(share))
    return unit * math.ceil(share / unit - 1e-9)


def _percent(share: float) -> str:
    percent = 100 * max(share, LEAST)
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"


def _value(space: Space, axis: int, value: float) -> str:
    if np.isnan(value):
        return "missing"
    if isinstance(space, MixedSpace) and (labels := space.labels[axis]) is not None:
        place = int(value)
        if place >= len(labels):
            return f"({space.others[axis]})"
        label = labels[place]
        return str(label).lower() if isinstance(label, bool) else str(label)
    # What was outside was moved to the bound, and only that is known here.
    beyond = " or more" if value >= 1 else " or less" if value <= 0 else ""
    return f"{_written(space, axis, value)}{beyond}"


def _written(space: Space, axis: int, value: float) -> str:
    number = space.lows[axis] + value * (space.highs[axis] - space.lows[axis])
    if isinstance(space, MixedSpace) and space.kinds[axis] == "moment":
        moment = datetime.fromtimestamp(number, UTC).replace(tzinfo=None, microsecond=0)
        return str(moment.date()) if space.highs[axis] - space.lows[axis] > 30 * 86_400 else str(moment)
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"

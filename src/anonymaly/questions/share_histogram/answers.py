# SPDX-License-Identifier: Apache-2.0
"""Sums, shares, quantiles and roll-ups of a released histogram: computed from it alone, and free."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError
from anonymaly.questions.share_histogram.error_bars import NOT_KNOWN, UNKNOWN, Release
from anonymaly.questions.share_histogram.figures import Figure, QuantileFigure
from anonymaly.questions.share_histogram.selection import no_column, read_part

Where = Mapping[str, Any]
USUAL_LEVEL = 0.95
MOST_EXACT = 256  # bins for which a quantile's interval is the narrowest; for more it is found quickly


class HistogramAnswers:
    """What may be asked of a histogram that was released.

    Parts of it are named by column: a value, a list of values, or of a binned column a pair of edges,
    ``age=(18, 65)``, the lower one included. A column that is not named is summed over. Intervals are for
    one figure that was chosen without looking at the histogram: of several, or of the largest, more may miss.
    A histogram with two views is summed in the one that is for sums.
    """

    by: tuple[Attribute, ...]
    estimates: npt.NDArray[Any]
    sums: npt.NDArray[Any] | None  # what sums are taken of; None if that is the estimates
    release: Release | None  # how it was released; None if that is not known
    source: HistogramAnswers | None  # the histogram that this one is a roll-up of

    def range(self, where: Where | None = None, /, *, level: float = USUAL_LEVEL, **columns: Any) -> Figure:
        """Return how many records some cells hold together, with an interval if one is proved.

        Parameters
        ----------
        where : mapping, optional
            The parts by column, for columns whose names are not Python's.
        level : float
            In which part of all releases the interval holds the true number, at least.
        **columns
            The parts by column.

        Examples
        --------
        >>> from fractions import Fraction
        >>> from anonymaly.declare.domain import Bins
        >>> from anonymaly.questions.share_histogram.value import ReleasedHistogram
        >>> ages = Bins("age", [0, 18, 65, 120])
        >>> by = [Attribute("ward", ("A", "B")), Attribute("age", ages.labels, ages)]
        >>> release = Release("geometric", {"two_sided": Fraction(1, 2)})
        >>> histogram = ReleasedHistogram(by, [40, 31, -1, 70, 12, 3], release=release)
        >>> print(histogram.range(age=(0, 65)))
        153, between 142 and 164 in 95 of 100 releases
        counts          all records of these cells
        """
        inside, _ = self._root()._split(_joined(where, columns))
        return self._root()._figure(inside, _read_level(level))

    def share(self, where: Where | None = None, /, *, level: float = USUAL_LEVEL, **columns: Any) -> Figure:
        """Return which share of all counted records some cells hold; parameters as for ``range``."""
        root, missing = self._root(), 1 - _read_level(level)
        inside, outside = root._split(_joined(where, columns))
        own, other = (max(0.0, root._estimate(cells)) for cells in (inside, outside))
        released = float(root._summed().sum())
        low, high = None, None
        # Both numbers are between their bounds together, if each end misses a quarter.
        found, rest = (root._bounds(cells, missing / 4) for cells in (inside, outside))
        if found is not None and rest is not None:
            low, high = _share(found[0], rest[1], 0.0), _share(found[1], rest[0], 1.0)
        return Figure(
            estimate=_share(own, other, math.nan),
            released=float(inside.sum()) / released if released else math.nan,
            low=low,
            high=high,
            level=1 - missing,
            cells=inside.size,
            covers=root._covers,
            why_no_interval=root._why_no_bounds,
        )

    def quantile(
        self,
        column: str,
        part: float,
        where: Where | None = None,
        /,
        *,
        level: float = USUAL_LEVEL,
        **columns: Any,
    ) -> QuantileFigure:
        """Return the bin of a column below whose upper edge a part of the records lies.

        Parameters
        ----------
        column : str
            A column in bins.
        part : float
            The part, as 0.5 for the median.
        where, level, **columns
            Which records, as for ``range``; the column itself may not be among them.
        """
        root, missing = self._root(), 1 - _read_level(level)
        places = {attribute.column: place for place, attribute in enumerate(root.by)}
        if column not in places or root.by[places[column]].bins is None:
            binned = [item.column for item in root.by if item.bins is not None]
            raise InputError(
                f"{column!r} is not a column in bins",
                field="column",
                next_step=f"Columns in bins: {', '.join(binned) or 'none'}.",
            )
        if isinstance(part, bool) or not isinstance(part, Real) or not 0 < float(part) < 1:
            raise InputError("must be between 0 and 1", field="part", next_step="Give 0.5 for the median.")
        chosen = root._chosen(_joined(where, columns))
        axis = places[column]
        if len(chosen[axis]) < len(root.by[axis].values):
            raise InputError("is the quantile's own", field=column, next_step="Leave it out of the parts.")
        lines = np.moveaxis(root._summed()[np.ix_(*chosen)], axis, 0).reshape(len(chosen[axis]), -1)
        found, low, high = _crossing(root, lines, float(part), missing)
        bins, edges = root.by[axis].values, root.by[axis].edges or ()
        return QuantileFigure(
            estimate=str(bins[found]),
            low=None if low is None else edges[low],
            high=None if high is None else edges[high + 1],
            level=1 - missing,
            covers=root._covers,
            why_no_interval=root._why_no_bounds,
        )

    def roll_up(self, *columns: str) -> Self:
        """Return the histogram by fewer columns: sums of the released cells, so that all roll-ups agree.

        Of a histogram with two views they are sums in the view that is for sums. Where every column stays,
        nothing is summed, and both views do, too.

        Parameters
        ----------
        *columns : str
            The columns that stay, in the order wanted.
        """
        places = {attribute.column: place for place, attribute in enumerate(self.by)}
        for name in columns:
            if not isinstance(name, str) or name not in places:
                raise no_column(str(name), self.by, "columns")
        if not columns or len(set(columns)) < len(columns):
            raise InputError(
                "must name columns, each once", field="columns", next_step="range() is the sum of all cells."
            )
        kept = [places[name] for name in columns]
        others = tuple(place for place in places.values() if place not in kept)
        order = [sorted(kept).index(place) for place in kept]

        def turned(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
            # Axes that stay keep their order in the sum.
            summed: npt.NDArray[Any] = cells.sum(axis=others)
            return summed.transpose(order).reshape(-1)

        sums = turned(self._summed())
        views = (sums,) if others or self.sums is None else (turned(self._array()), sums)
        by = [self.by[place] for place in kept]
        return type(self)(by, *views, release=self.release, source=self._root())  # type: ignore[call-arg]

    def cell_figures(self, level: float = USUAL_LEVEL) -> list[Figure]:
        """Return the figure of every cell, in order: what ``range`` says of it."""
        root, wanted = self._root(), _read_level(level)
        axes = [[item.column for item in root.by].index(item.column) for item in self.by]
        lines = np.moveaxis(root._summed(), axes, range(len(axes))).reshape(len(self.estimates), -1)
        return [root._figure(line, wanted) for line in lines]

    def _figure(self, cells: npt.NDArray[Any], level: float) -> Figure:
        bounds = self._bounds(cells, (1 - level) / 2)
        low, high = (None, None) if bounds is None else bounds
        return Figure(
            estimate=self._estimate(cells),
            released=cells.sum().item(),
            low=low,
            high=high,
            level=level,
            cells=cells.size,
            covers=self._covers,
            why_no_interval=self._why_no_bounds,
        )

    def _root(self) -> HistogramAnswers:
        # A roll-up asks the cells that were released: of their sums alone less is known.
        return self if self.source is None else self.source

    def _array(self) -> npt.NDArray[Any]:
        return self.estimates.reshape([len(attribute.values) for attribute in self.by])

    def _summed(self) -> npt.NDArray[Any]:
        if self.sums is None:
            return self._array()
        return self.sums.reshape([len(attribute.values) for attribute in self.by])

    def _estimate(self, cells: npt.NDArray[Any]) -> float:
        return float(cells.sum()) if self.release is None else self.release.estimate(cells)

    def _bounds(
        self, cells: npt.NDArray[Any], missing: float, *, quick: bool = False
    ) -> tuple[float, float] | None:
        return None if self.release is None else self.release.bounds(cells, missing, quick=quick)

    @property
    def _covers(self) -> str:
        return NOT_KNOWN if self.release is None else self.release.covers

    @property
    def _why_no_bounds(self) -> str | None:
        return UNKNOWN if self.release is None else self.release.why_no_bounds

    def _split(self, where: Where) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the cells that are wanted, and all others."""
        array = self._summed()
        wanted = np.zeros(array.shape, bool)
        wanted[np.ix_(*self._chosen(where))] = True
        return array[wanted], array[~wanted]

    def _chosen(self, where: Where) -> list[list[int]]:
        for name in where:
            if name not in {attribute.column for attribute in self.by}:
                raise no_column(name, self.by, name)
        return [
            read_part(attribute, where[attribute.column])
            if attribute.column in where
            else list(range(len(attribute.values)))
            for attribute in self.by
        ]


def _joined(where: Where | None, columns: Where) -> Where:
    if where is not None and not isinstance(where, Mapping):
        raise InputError(
            "must name parts by column",
            field="where",
            next_step='Give for instance age=(18, 65), or {"age": (18, 65)}.',
        )
    return {**({} if where is None else where), **columns}


def _read_level(level: Any) -> float:
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise InputError("must be between 0 and 1", field="level", next_step="Give for instance 0.95.")
    return float(level)


def _share(part: float, rest: float, of_nothing: float) -> float:
    return part / (part + rest) if part + rest > 0 else of_nothing


def _crossing(
    histogram: HistogramAnswers, lines: npt.NDArray[Any], part: float, missing: float
) -> tuple[int, int | None, int | None]:
    """Return the bin where the part is reached, and the first and last that cannot be ruled out.

    The true bin k is the first with (1 - part)·left >= part·right, where left counts records up to and with
    it, and right those after it. Each of the four numbers that this and the same of k - 1 are about is beyond
    its bound in at most a quarter of ``missing``, so k is ruled out in at most ``missing`` of releases.
    """
    count = len(lines)
    total = histogram._estimate(lines)
    if total <= 0:
        raise InputError(
            "is 0 or less, so that there is no quantile",
            field="total",
            next_step="Ask for more cells, or with a larger epsilon.",
        )
    # In exact numbers, because a part of 0.55 of 55 and 45 records is reached by the first, and just so.
    share = Fraction(str(part))
    reached = [
        Fraction(histogram._estimate(lines[: place + 1])) >= share * Fraction(total) for place in range(count)
    ]
    found = reached.index(True) if True in reached else count - 1
    quick = count > MOST_EXACT
    lefts = [histogram._bounds(lines[:cut], missing / 4, quick=quick) for cut in range(count + 1)]
    rights = [histogram._bounds(lines[cut:], missing / 4, quick=quick) for cut in range(count + 1)]
    possible = []
    for place in range(count):
        left, right, before, after = lefts[place + 1], rights[place + 1], lefts[place], rights[place]
        if left is None or right is None or before is None or after is None:
            return found, None, None
        enough = (1 - share) * Fraction(left[1]) >= share * Fraction(right[0])
        not_yet = place == 0 or (1 - share) * Fraction(before[0]) < share * Fraction(after[1])
        if enough and not_yet:
            possible.append(place)
    return found, min([found, *possible]), max([found, *possible])

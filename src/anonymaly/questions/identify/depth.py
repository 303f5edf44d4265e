# SPDX-License-Identifier: Apache-2.0
"""In how many boxes one place can lie: the greatest depth of boxes of one size, along any number of axes.

Boxes are closed, and given by their corners as doubles, which are compared exactly. All have the same widths
but for rounding, so that those that begin later along an axis also end later along it.

The deepest place can be moved down along every axis until a box that holds it begins there. So only places
where boxes begin are tried: on a line all at once, on a plane by one sweep. With more axes every box is asked
about the places where it begins along the first axis, which leaves one axis fewer and the few boxes that meet
it. What that takes is counted, never timed: where it is too much, the result is a bound and no longer exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers

CALL = 4_000  # numbers that are added in the time that one call of numpy takes
MOST = 4_000_000_000  # numbers added: a few seconds


@dataclass
class _Effort:
    """How much may still be done, half of it for bounds where exact depths would take too much."""

    left: int
    kept: int
    exact: bool = True  # nothing was left out so far

    def pays(self, work: int) -> bool:
        """Say whether there is enough for exact work, and take it if so."""
        enough = work <= self.left - self.kept
        self.left -= work if enough else 0
        self.exact &= enough
        return enough

    def ends(self) -> bool:
        """Say whether nothing is left, not even for bounds."""
        self.exact &= self.left > 0
        return self.left <= 0


def deepest(lows: Floats, highs: Floats, weights: Integers, most: int = MOST) -> tuple[int, bool]:
    """Return the largest total weight of boxes that share a place, and true; or a larger number, and false.

    Parameters
    ----------
    lows, highs
        The lower and the upper corner of each box, (n, d).
    weights
        How often each box counts.
    most
        How much may be done.

    Examples
    --------
    >>> lows = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 3.0]])
    >>> deepest(lows, lows + 2, np.array([1, 1, 5])), deepest(lows, lows + 0.5, np.array([1, 1, 5]))
    ((6, True), (5, True))
    """
    # The axis along which the fewest boxes share a place tells the most of them apart.
    depths = [_on_line(*side, weights) for side in zip(lows.T, highs.T, strict=True)]
    order, effort = np.argsort(depths, kind="stable"), _Effort(most, most // 2)
    return _deepest(lows[:, order], highs[:, order], weights, 0, effort), effort.exact


def _deepest(lows: Floats, highs: Floats, weights: Integers, known: int, effort: _Effort) -> int:
    """Return the depth if it is above what is known of another place, otherwise that; never less."""
    effort.left -= lows.shape[1] * (50 * len(lows) + 5 * CALL)
    bound = min(_on_line(*side, weights) for side in zip(lows.T, highs.T, strict=True))
    if bound <= known or lows.shape[1] == 1:
        return max(known, bound)
    if lows.shape[1] == 2:
        return max(known, _on_plane(lows, highs, weights, effort) or bound)
    return min(bound, _in_space(lows, highs, weights, known, effort) or bound)


def _on_line(lows: Floats, highs: Floats, weights: Integers) -> int:
    """Return the depth of intervals: where one begins, those that have begun without those that ended."""
    order = np.lexsort((highs, lows))
    lows, highs = lows[order], highs[order]
    begun = np.concatenate([[0], np.cumsum(weights[order])])
    return int((begun[1:] - begun[np.searchsorted(highs, lows)]).max())


def _on_plane(lows: Floats, highs: Floats, weights: Integers, effort: _Effort) -> int | None:
    """Return the depth of rectangles by a sweep along the first axis, or None if it takes too much."""
    order = np.lexsort((highs[:, 0], lows[:, 0]))
    lows, highs, weights = lows[order], highs[order], weights[order]
    places = np.unique(lows[:, 1])
    first, last = np.searchsorted(places, lows[:, 1]), np.searchsorted(places, highs[:, 1], "right")
    if not effort.pays(int(3 * (last - first + CALL).sum())):
        return None
    ended = np.searchsorted(highs[:, 0], lows[:, 0]).tolist()  # how many did before each one begins
    spans = list(zip(first.tolist(), last.tolist(), weights.tolist(), strict=True))
    depths = np.zeros(len(places), np.int64)
    found = done = 0
    for (start, end, weight), before in zip(spans, ended, strict=True):
        for past, until, gone in spans[done:before]:
            depths[past:until] -= gone
        done = before
        depths[start:end] += weight
        found = max(found, int(depths[start:end].max()))
    return found


def _in_space(lows: Floats, highs: Floats, weights: Integers, known: int, effort: _Effort) -> int | None:
    """Return what `_deepest` does, for three axes and more, or None if it takes too much."""
    order = np.lexsort((highs[:, 0], lows[:, 0]))
    lows, highs, weights = lows[order], highs[order], weights[order]
    # Which have begun and not ended where each one begins.
    ended, begun = np.searchsorted(highs[:, 0], lows[:, 0]), np.searchsorted(lows[:, 0], lows[:, 0], "right")
    axes = lows.shape[1] - 1
    if not effort.pays(int((5 * axes * (begun - ended) + 20 * CALL).sum())):
        return None

    def met(box: int) -> tuple[slice, Booleans]:
        """Return the boxes that share a place with this one where it begins."""
        there = slice(int(ended[box]), int(begun[box]))
        near = (lows[there, 1:] <= highs[box, 1:]) & (highs[there, 1:] >= lows[box, 1:])
        meet: Booleans = np.all(near, axis=1)
        return there, meet

    totals = np.empty(len(lows), np.int64)
    for box in range(len(lows)):
        there, meet = met(box)
        totals[box] = weights[there][meet].sum()
    for box in np.argsort(-totals, kind="stable").tolist():
        if totals[box] <= known or effort.ends():
            return max(known, int(totals[box]))  # no box that is left meets more
        there, meet = met(box)
        known = _deepest(lows[there, 1:][meet], highs[there, 1:][meet], weights[there][meet], known, effort)
    return known

# SPDX-License-Identifier: Apache-2.0
"""From noisy histograms to parts of a score, and to points like the records. All of it is post-processing.

A part says how much rarer a record's cell is than even, as a logarithm, less what that is for records on
average: 0 is usual, above 0 is odder than most. So a value that is missing can be left out as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.noise.public import PublicCoins
from anonymaly.questions.score.methods.nearest_counts import nearest_counts

if TYPE_CHECKING:
    from anonymaly.questions.score.methods.mixed_layout import HistogramLayout

KERNEL = (0.25, 0.5, 0.25)
SMOOTHED = math.sqrt(sum(weight**2 for weight in KERNEL))  # of a count's deviation, after smoothing
# A pair counts so much divided by the number of columns, at most fully; less beside bins that follow the
# records, which see more alone. Both, and the next, were chosen on the tuning half of `score_sets.py`.
PAIR_WEIGHT, PAIR_WEIGHT_BESIDE_ADAPTIVE = 4.0, 2.0
SKETCH_WEIGHT = 0.35  # of the sketches' spread beside that of columns and pairs
DRAWN = 400  # points that spreads are measured on


def held_number(noisy: Integers, edges: Integers) -> Floats:
    """Return the smoothed counts of a number's bins, cut off at 0; wide neighbours lend by their density.

    Examples
    --------
    >>> held_number(np.array([0, 80, 0, 0]), np.array([0, 1024, 2048, 3072, 4096])).tolist()
    [20.0, 40.0, 20.0, 0.0]
    """
    counts, widths = (np.pad(part.astype(np.float64), 1, mode="edge") for part in (noisy, np.diff(edges)))
    own = widths[1:-1]
    left = counts[:-2] * np.minimum(1, own / widths[:-2])
    right = counts[2:] * np.minimum(1, own / widths[2:])
    held: Floats = np.maximum(KERNEL[0] * left + KERNEL[1] * counts[1:-1] + KERNEL[2] * right, 0.0)
    return held


def number_table(noisy: Integers, edges: Integers, deviation: float) -> Floats:
    """Return the parts of a number's bins and, last, of what is missing."""
    held = held_number(noisy[:-1], edges)
    even = held.sum() * np.diff(edges) / edges[-1]
    floor = 1.0 + deviation * SMOOTHED
    parts = np.log(even + floor) - np.log(held + floor)
    missing, raw = max(float(noisy[-1]), 0.0), 1.0 + deviation
    lost = math.log(held.mean() + raw) - math.log(missing + raw)
    return _centred(np.append(parts, lost), np.append(held, missing))


def label_table(noisy: Integers, deviation: float) -> Floats:
    """Return the parts of a column's labels and, last, of what is missing.

    Examples
    --------
    >>> label_table(np.array([90, 10, 0]), 0.0).round(2).tolist()
    [-0.21, 1.9, 4.3]
    """
    held, floor = np.maximum(noisy, 0).astype(np.float64), 1.0 + deviation
    return _centred(np.log(held[:-1].mean() + floor) - np.log(held + floor), held)


def pair_table(noisy: Integers, deviation: float, columns: int, *, adaptive: bool = False) -> Floats:
    """Return the parts of a pair's cells: how much rarer each is than its row and its column say."""
    held, floor = np.maximum(noisy, 0).astype(np.float64), 1.0 + deviation
    total = max(held.sum(), 1.0)
    expected = held.sum(axis=1, keepdims=True) * held.sum(axis=0, keepdims=True) / total
    weight = min(1.0, (PAIR_WEIGHT_BESIDE_ADAPTIVE if adaptive else PAIR_WEIGHT) / columns)
    return _centred(weight * (np.log(expected + floor) - np.log(held + floor)), held)


def _centred(parts: Floats, held: Floats) -> Floats:
    total = held.sum()
    mean = float((parts * held).sum() / total) if total > 0 else float(parts.mean())
    centred: Floats = parts - mean
    return centred


def on_lattice(table: Floats, edges: Integers) -> Floats:
    """Return a number's parts for every cell of the fine lattice and, last, for what is missing."""
    return np.append(np.repeat(table[:-1], np.diff(edges)), table[-1])


def fine_mass(noisy: Integers, edges: Integers) -> Floats:
    """Return how much of the records each cell of the fine lattice and, last, no value has."""
    counts, widths = nearest_counts(noisy), np.diff(edges)
    return np.append(np.repeat(counts[:-1] / widths, widths), counts[-1])


def draw(
    layout: HistogramLayout, masses: Sequence[Floats], pairs: Sequence[Integers], count: int, seed: int = 0
) -> Floats:
    """Return points like those that the model was made of, with NaN for what is missing.

    Columns are drawn one after another. Where pairs were measured, each follows the earlier column that it
    goes with most, and is otherwise independent of it. The coins are public.
    """
    coins = PublicCoins(seed)
    points = np.empty((count, len(layout.labels)))
    sides = np.empty((count, len(layout.labels)), np.int64)
    leaders = _leaders(layout, pairs)
    for axis, number in enumerate(layout.labels):
        mass = np.maximum(masses[axis], 0.0)
        mass = mass if mass.sum() > 0 else np.ones_like(mass)
        if axis in leaders:
            leader, joint = leaders[axis]
            steps = np.cumsum(joint[sides[:, leader]], axis=1)
            side = (coins.even(count)[:, None] * steps[:, -1:] >= steps).sum(axis=1)
            side = np.minimum(side, joint.shape[1] - 1)
            cells = side if number else _within(side, mass, layout.pair_bins, coins)
        else:
            cells = coins.places(mass, count)
        lost = cells == len(mass) - 1
        within = cells.astype(np.float64) if number else (cells + coins.even(count)) / (len(mass) - 1)
        points[:, axis] = np.where(lost, np.nan, within)
        if layout.pair_bins:
            sides[:, axis] = layout.code(points[:, axis], axis, layout.pair_bins)
    return points


def _within(side: Integers, mass: Floats, sides: int, coins: PublicCoins) -> Integers:
    """Return a cell of the lattice within each side, by the column's own mass there."""
    fine = len(mass) - 1
    steps = np.append(0.0, np.cumsum(mass[:-1] + mass[:-1].sum() * 1e-9 + 1e-12))
    first, last = (np.minimum(-(-(side + more) * fine // sides), fine) for more in (0, 1))
    wanted = steps[first] + coins.even(len(side)) * (steps[last] - steps[first])
    cells = np.clip(np.searchsorted(steps, wanted, "right") - 1, first, np.maximum(last - 1, first))
    return np.where(side >= sides, fine, cells)


def _leaders(layout: HistogramLayout, pairs: Sequence[Integers]) -> dict[int, tuple[int, Floats]]:
    """Return, for each column, the earlier one that it goes with most, and how their cells go together."""
    best: dict[int, tuple[float, int, Floats]] = {}
    for (left, right), noisy in zip(layout.pairs, pairs, strict=True):
        joint = nearest_counts(noisy) + 1e-3
        share = joint / joint.sum()
        alone = share.sum(axis=1, keepdims=True) * share.sum(axis=0, keepdims=True)
        together = float((share * np.log(share / alone)).sum())
        if left not in best or together > best[left][0]:
            best[left] = (together, right, joint.T)  # rows are the earlier column's
    return {axis: (leader, joint) for axis, (_, leader, joint) in best.items()}

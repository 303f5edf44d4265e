# SPDX-License-Identifier: Apache-2.0
"""Scores from noisy histograms by smoothing, shrinking and adding up. All of it is post-processing.

A point's score is how much rarer its cells are than they would be if every column were spread evenly and
columns had nothing to do with each other, as a logarithm:
−Σ_j log(p_j / even) − w·Σ_{i<j} log(p_ij / (p_i·p_j)).
"""

from __future__ import annotations

import math

import numpy as np

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.compiled import compiled

KERNEL = (0.25, 0.5, 0.25)
# A spanning tree has (d-1) of the d(d-1)/2 pairs: weight 2/d would make the sum the mean log-likelihood over
# all trees. Twice that found broken correlations better and cost nothing elsewhere; 1 counts each pair fully.
PAIR_WEIGHT = 4.0


def column_tables(noisy: Integers, deviation: float) -> Floats:
    """Return, for each cell of each column's histogram, how much rarer than even it is.

    Counts are smoothed with their neighbours', cut off at 0 and, before the logarithm, raised by one record
    and one standard deviation of their noise, so that differences as small as the noise hardly matter.

    Examples
    --------
    >>> column_tables(np.array([[0, 80, 0, 0]]), 0.0).round(2).tolist()
    [[0.0, -0.67, 0.0, 3.04]]
    """
    padded = np.pad(noisy.astype(np.float64), ((0, 0), (1, 1)), mode="edge")
    smooth = KERNEL[0] * padded[:, :-2] + KERNEL[1] * padded[:, 1:-1] + KERNEL[2] * padded[:, 2:]
    held = np.maximum(smooth, 0.0)
    floor = 1.0 + deviation * math.sqrt(sum(weight**2 for weight in KERNEL))
    rarity: Floats = np.log(held.mean(axis=1, keepdims=True) + floor) - np.log(held + floor)
    return rarity


def pair_tables(noisy: Integers, deviation: float, dimensions: int) -> Floats:
    """Return, for each cell of each pair's histogram, how much rarer it is than its row and column say.

    Examples
    --------
    >>> pair_tables(np.array([[[9, 0], [0, 9]]]), 0.0, 2).round(2).tolist()
    [[[-0.6, 1.7], [1.7, -0.6]]]
    """
    held = np.maximum(noisy, 0).astype(np.float64)
    rows, columns = held.sum(axis=2, keepdims=True), held.sum(axis=1, keepdims=True)
    total = np.maximum(held.sum(axis=(1, 2), keepdims=True), 1.0)
    floor = 1.0 + deviation
    weight = min(1.0, PAIR_WEIGHT / dimensions)
    rarity: Floats = weight * (np.log(rows * columns / total + floor) - np.log(held + floor))
    return rarity


@compiled
def _sum_tables(points: Floats, columns: Floats, pairs: Floats, places: Integers, scores: Floats) -> None:
    rows, dimensions = points.shape
    bins, side = columns.shape[1], pairs.shape[1]
    for row in range(rows):
        score = 0.0
        for axis in range(dimensions):
            value = points[row, axis]
            score += columns[axis, min(int(value * bins), bins - 1)]
            places[axis] = min(int(value * side), side - 1)
        if side:
            number = 0
            for left in range(dimensions):
                for right in range(left):
                    score += pairs[number, places[left], places[right]]
                    number += 1
        scores[row] = score


def sum_tables(points: Floats, columns: Floats, pairs: Floats) -> Floats:
    """Return, for each point of the unit cube, the sum of its cells' entries.

    Examples
    --------
    >>> sum_tables(np.array([[0.0], [1.0]]), np.array([[-1.0, 2.0]]), np.zeros((0, 0, 0))).tolist()
    [-1.0, 2.0]
    """
    scores = np.empty(len(points))
    _sum_tables(points, columns, pairs, np.empty(points.shape[1], np.int64), scores)
    return scores

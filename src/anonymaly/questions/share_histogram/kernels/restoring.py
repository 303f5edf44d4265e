# SPDX-License-Identifier: Apache-2.0
"""What smoothing took from sums given back to them: differences too large to be noise, at any scale.

Smoothing moves single cells a little, often all in one direction, and a sum over many of them a lot. The
difference between released and smoothed counts is noise and what smoothing lost. In the orthogonal Haar
transform, along every column, noise of a standard deviation σ has that deviation in every coefficient, and
what many neighbouring cells lost together is in a few large ones. Those below a multiple of σ are set to 0.
A range of cells is a sum of few coefficients, and so is a box of several columns.

Only released numbers and public rates are used, so it costs nothing (Lemma 0).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from anonymaly.core.arrays import Floats


def restore(lost: Floats, least: float) -> Floats:
    """Return the part of an array that coefficients of at least a size make up.

    Parameters
    ----------
    lost : array
        Released minus smoothed counts, with one axis for each column.
    least : float
        Coefficients below this are taken to be noise.

    Examples
    --------
    >>> restore(np.array([3.0, 5.0, 4.0, 4.0]), 2.0).round(9).tolist()
    [4.0, 4.0, 4.0, 4.0]
    """
    longer = [(0, (1 << (size - 1).bit_length()) - size) for size in lost.shape]
    found = np.pad(lost.astype(np.float64), longer)
    for axis in range(found.ndim):
        found = _forward(found, axis)
    found[np.abs(found) < least] = 0.0
    for axis in range(found.ndim):
        found = _back(found, axis)
    return found[tuple(slice(0, size) for size in lost.shape)]


def _forward(numbers: Floats, axis: int) -> Floats:
    found = np.moveaxis(numbers, axis, 0).copy()
    size = len(found)
    while size > 1:
        first, second = found[0:size:2].copy(), found[1:size:2].copy()
        size //= 2
        found[:size], found[size : 2 * size] = (first + second) / sqrt(2), (first - second) / sqrt(2)
    return np.moveaxis(found, 0, axis)


def _back(numbers: Floats, axis: int) -> Floats:
    found = np.moveaxis(numbers, axis, 0).copy()
    size = 1
    while size < len(found):
        mean, difference = found[:size].copy(), found[size : 2 * size].copy()
        found[0 : 2 * size : 2], found[1 : 2 * size : 2] = mean + difference, mean - difference
        found[: 2 * size] /= sqrt(2)
        size *= 2
    return np.moveaxis(found, 0, axis)

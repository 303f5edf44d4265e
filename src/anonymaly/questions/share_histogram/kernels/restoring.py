# SPDX-License-Identifier: Apache-2.0
"""What smoothing took from sums given back to them: differences too large to be noise, at any scale.

Smoothing moves single cells a little, often all in one direction, and a sum over many of them a lot. The
difference between released and smoothed counts is noise and what smoothing lost. In the orthogonal Haar
transform, along every column, noise of a standard deviation σ has that deviation in every coefficient, and
what many neighbouring cells lost together is in a few large ones. Small ones are set to 0: of n coefficients
of one scale, those below σ·√(2 ln n), which none of n draws of noise alone is likely to reach (Donoho and
Johnstone 1994), and at least √2·σ, below which even a single one is nearer to 0 than to what was seen. A
range of cells is a sum of few coefficients, and so is a box of several columns.

Only released numbers and public rates are used, so it costs nothing (Lemma 0).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from anonymaly.core.arrays import Floats


def restore(lost: Floats, deviation: float, *, least: float = sqrt(2), total: bool = False) -> Floats:
    """Return the part of an array that coefficients make up which are too large to be noise.

    Parameters
    ----------
    lost : array
        Released minus smoothed counts, with one axis for each column.
    deviation : float
        The standard deviation of the noise.
    least : float
        Coefficients below this multiple of it are taken to be noise, whatever their scale.
    total : bool
        Whether the sum of all is kept, however small it is: then that of all cells is right on average.

    Examples
    --------
    >>> restore(np.array([3.0, 5.0, 4.0, 4.0]), 1.0).round(9).tolist()
    [4.0, 4.0, 4.0, 4.0]
    >>> restore(np.array([0.4, 0.0, 0.2]), 1.0, total=True).round(9).tolist()
    [0.2, 0.2, 0.2]
    """
    longer = [(0, (1 << (size - 1).bit_length()) - size) for size in lost.shape]
    found = np.pad(lost.astype(np.float64), longer)
    for axis in range(found.ndim):
        found = _forward(found, axis)
    number = np.ones([1] * found.ndim)  # of coefficients of the same scale
    for axis, size in enumerate(found.shape):
        # The mean of all, then twice as many coefficients of each scale as of the one before.
        scales = [1, *(1 << scale for scale in range(size.bit_length() - 1))]
        own = np.repeat(scales, scales).astype(np.float64)
        number = number * np.expand_dims(own, [other for other in range(found.ndim) if other != axis])
    found[np.abs(found) < deviation * np.maximum(least, np.sqrt(2 * np.log(number)))] = 0.0
    for axis in range(found.ndim):
        found = _back(found, axis)
    found = found[tuple(slice(0, size) for size in lost.shape)]
    return found + (lost.sum() - found.sum()) / lost.size if total else found


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

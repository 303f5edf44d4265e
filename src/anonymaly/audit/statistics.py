# SPDX-License-Identifier: Apache-2.0
"""What events are made of: an answer, its parts, their sum and differences, and the low bits of floats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Statistic = tuple[str, npt.NDArray[Any], npt.NDArray[Any]]  # a name, and its values on either table

FIFTH = 5  # one answer in so many chooses, and has alone a say in what is looked at
MOST_OUTCOMES = 1000
NUMBERS = "iufb"  # the kinds of arrays whose values have an order
DIGITS = 53  # of a double
OTHER = "another"
NO_BIT = 2000  # of zero, infinity and NaN: above every bit of a double


def statistics_of(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Iterator[Statistic]:
    """Yield every statistic of answers that are single values, or rows of values.

    Examples
    --------
    >>> [name for name, *_ in statistics_of(np.array([[1, 2]] * 5), np.array([[5, 6]] * 5))]
    ['part 1', 'part 2', 'combination', 'sum', 'part 2 - part 1']
    """
    if one.ndim == 1:
        yield from _of_column("answer", one, other)
        return
    for place in range(one.shape[1]):
        yield from _of_column(f"part {place + 1}", one[:, place], other[:, place])
    combinations = _combinations(one, other)
    if combinations is not None:
        yield "combination", *combinations
    if one.dtype.kind in NUMBERS and one.shape[1] > 1:
        # Parts that share noise, or are each noised as if they were alone, betray themselves together.
        wide = float if one.dtype.kind == "f" else np.int64
        one, other = one.astype(wide), other.astype(wide)
        yield "sum", one.sum(axis=1), other.sum(axis=1)
        for place in range(1, one.shape[1]):
            yield f"part {place + 1} - part 1", one[:, place] - one[:, 0], other[:, place] - other[:, 0]


def _combinations(
    one: npt.NDArray[Any], other: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Return which row each answer is, if those that choose have few; what only others have is OTHER."""
    cut = len(one) // FIFTH
    known = np.unique(np.concatenate([one[:cut], other[:cut]]), axis=0)
    if not 0 < len(known) <= MOST_OUTCOMES:
        return None
    every, places = np.unique(np.concatenate([known, one, other]), axis=0, return_inverse=True)
    # As text, because the numbers of combinations have no order of their own.
    names = np.full(len(every), OTHER, dtype=f"<U{len(OTHER)}")
    names[places.ravel()[: len(known)]] = np.arange(1, len(known) + 1).astype(str)
    said = names[places.ravel()[len(known) :]]
    return said[: len(one)], said[len(one) :]


def _of_column(name: str, one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Iterator[Statistic]:
    yield name, one, other
    if one.dtype.kind == "f":
        yield f"lowest bit of {name}", lowest_bit(one), lowest_bit(other)


def lowest_bit(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int64]:
    """Return which power of two the last binary digit of each number is.

    Noise that is added in floating point is rounded to the digits of the sum, so that this depends on what it
    was added to (Mironov 2012).

    Examples
    --------
    >>> lowest_bit(np.array([1.0, 0.75, 12.0, 1 + 2.0**-52, 0.0])).tolist()
    [0, -2, 2, -52, 2000]
    """
    digits, exponents = np.frexp(np.asarray(values, np.float64))
    usable = np.isfinite(digits) & (digits != 0)
    whole = (np.where(usable, digits, 0.5) * 2.0**DIGITS).astype(np.int64)
    # A number and its complement share one bit, the lowest; as a float its exponent says which it is.
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(usable, exponents.astype(np.int64) - DIGITS + lowest, NO_BIT)

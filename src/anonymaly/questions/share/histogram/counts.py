# SPDX-License-Identifier: Apache-2.0
"""What every method takes and gives: counts, the rates of its draws, and levels over runs of cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Floats, Integers
from anonymaly.errors import InputError
from anonymaly.noise.checks import read_integers

Counts = npt.NDArray[Any]  # integers, or floats where a total is spread over cells
Rates = Mapping[str, Fraction]


def read_counts(counts: npt.ArrayLike, field: str) -> Integers:
    """Return a histogram as one row of 64-bit integers from 0."""
    numbers = read_integers(counts, field)
    if numbers.ndim != 1 or numbers.size == 0:
        raise InputError("must be one row of at least one count", field=field)
    if int(numbers.min()) < 0:
        raise InputError("must not be negative", field=field)
    return numbers


def read_parts(every: npt.ArrayLike, non_sensitive: npt.ArrayLike) -> tuple[Integers, Integers]:
    """Return both histograms; the non-sensitive records are among all of them."""
    whole, part = read_counts(every, "every"), read_counts(non_sensitive, "non_sensitive")
    if whole.shape != part.shape:
        raise InputError(
            f"has {part.size:,} bins where all records have {whole.size:,}", field="non_sensitive"
        )
    if bool((part > whole).any()):
        raise InputError("has more records in a bin than there are in all", field="non_sensitive")
    return whole, part


@dataclass(frozen=True)
class Pieces:
    """A histogram that is level over each of some consecutive runs of cells.

    Examples
    --------
    >>> Pieces.of(np.array([3.0, 3.0, 0.0, 5.0])).lengths.tolist()
    [2, 1, 1]
    """

    lengths: Integers
    levels: Floats

    @classmethod
    def of(cls, counts: Counts) -> Pieces:
        """Return the runs of equal counts."""
        starts = np.flatnonzero(np.diff(counts, prepend=counts[0] - 1) != 0)
        return cls(np.diff(starts, append=len(counts)), counts[starts].astype(np.float64))

    def spread(self) -> Floats:
        """Return the count of each cell."""
        return np.repeat(self.levels, self.lengths)

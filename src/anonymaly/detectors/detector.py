# SPDX-License-Identifier: Apache-2.0
"""`Detector`, the base of all detectors: a frozen rule that says whether a value is an outlier."""

from __future__ import annotations

import dataclasses
import sys
from abc import ABC, abstractmethod
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt


class Detector(ABC):
    """A deterministic rule on the values of one group.

    Verdicts are exact: every comparison with a threshold is one of rational numbers, so that a compiled
    kernel which computes the same rule in another way cannot differ by a rounding. A parameter means the
    decimal number it prints as (0.1 is one tenth).

    Attributes
    ----------
    name
        The name by which queries choose it.

    Examples
    --------
    >>> from anonymaly.detectors import DETECTORS
    >>> DETECTORS["mad"].is_outlier([3, 4, 5, 4, 3, 90], position=5)
    True
    """

    name: ClassVar[str]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters by name."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]  # every detector is one

    @abstractmethod
    def is_outlier(self, values: npt.ArrayLike, position: int) -> bool:
        """Return whether the value at a position stands out among all of them, itself included."""

    def is_outlier_among(
        self, values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], position: int
    ) -> bool:
        """Return the same where each value is there as often as its count says.

        A detector that can do without a list of all of them has its own way.

        Examples
        --------
        >>> from anonymaly.detectors import DETECTORS
        >>> values, counts = np.array([90, 3, 4, 5]), np.array([1, 400, 400, 200])
        >>> DETECTORS["mad"].is_outlier_among(values, counts, 0)
        True
        """
        before = int(counts[:position].sum())
        return self.is_outlier(np.repeat(values, counts), before)


def decimal(number: float) -> Fraction:
    """Return the decimal number that a parameter prints as, exactly.

    Examples
    --------
    >>> decimal(0.0025)
    Fraction(1, 400)
    """
    return Fraction(repr(float(number)))


def is_number(value: object) -> bool:
    """Say whether a parameter is a number that a double holds: no text, no true or false, nothing longer.

    A parameter that cannot be used must be refused as it is given: later, a failure would tell of a row.

    Examples
    --------
    >>> is_number(2), is_number(1.5), is_number(True), is_number(10**400), is_number("2")
    (True, True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return bool(abs(value) <= sys.float_info.max)  # type: ignore[operator]  # all real numbers compare


def on_grid(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return whole numbers in the same proportions: integers as they are, floats times a power of two.

    No detector's verdict depends on the unit, so floats lose nothing. Numbers that do not fit the 62 bits
    in which differences are exact are refused.

    Examples
    --------
    >>> on_grid([0.5, 2.25]).tolist()
    [2, 9]
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise ValueError("a detector takes one row of values")
    if given.dtype.kind in "bui":
        whole = [int(value) for value in given] if given.dtype == np.uint64 else given
    elif given.dtype.kind == "f":
        if not np.isfinite(given).all():
            raise ValueError("a detector takes finite values only")
        fractions = [Fraction(float(value)) for value in given]
        unit = max((fraction.denominator for fraction in fractions), default=1)
        whole = [int(fraction * unit) for fraction in fractions]
    else:
        raise TypeError(f"a detector takes numbers, not {given.dtype}")
    if len(given) and max(abs(int(min(whole))), abs(int(max(whole)))) >= 1 << 62:
        raise ValueError("the values need more than 62 bits; round them to a coarser grid")
    return np.asarray(whole, dtype=np.int64)


def place(values: npt.NDArray[np.int64], position: int) -> int:
    """Return V's value, refusing a position outside the array.

    Examples
    --------
    >>> place(on_grid([7, 8]), 1)
    8
    """
    if not 0 <= position < len(values):
        raise IndexError(f"there is no value at position {position} of {len(values)}")
    return int(values[position])

# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of samplers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.rate import LARGEST_TERM
from anonymaly.errors import InputError

LARGEST_COUNT = 2**62 - 1  # the difference of two such numbers still fits in 64 bits


def read_rate(rate: Fraction, *, zero_allowed: bool = False, field: str = "rate") -> tuple[int, int]:
    """Return a rate's numerator and denominator, both small enough for 64-bit arithmetic."""
    if isinstance(rate, bool) or not isinstance(rate, Fraction | int):
        raise InputError(
            f"must be exact, got {type(rate).__name__}",
            field=field,
            next_step="Give a fractions.Fraction, such as Fraction(1, 10).",
        )
    if rate < 0 or (rate == 0 and not zero_allowed):
        raise InputError(
            f"must {'not be negative' if zero_allowed else 'be positive'}",
            field=field,
            next_step="Give ε divided by the sensitivity, such as Fraction(1, 10).",
        )
    if rate.numerator > LARGEST_TERM or rate.denominator > LARGEST_TERM:
        raise InputError(
            "has a numerator or denominator above 2^56, too large for exact sampling",
            field=field,
            next_step="Round the rate down to a fraction with smaller terms.",
        )
    return rate.numerator, rate.denominator


def read_integer(value: int, field: str, least: int = 0) -> int:
    """Return a whole number of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InputError(
            f"must be a whole number, got {type(value).__name__}",
            field=field,
            next_step=f"Give an integer of at least {least}.",
        )
    if value < least:
        raise InputError(
            f"must be at least {least}, got {value}", field=field, next_step="Give a larger integer."
        )
    return int(value)


def read_integers(values: npt.ArrayLike, field: str) -> npt.NDArray[np.int64]:
    """Return an integer array of any shape as 64-bit integers of size below 2^62."""
    array: npt.NDArray[Any] = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    # Floats are inexact, and Python integers beyond 64 bits, which become objects, are too large.
    if array.dtype.kind not in "iu":
        raise InputError(
            f"must hold 64-bit integers, got {array.dtype}",
            field=field,
            next_step="Convert the array to whole numbers first.",
        )
    # The message leaves the offending value out: it may come from a row.
    if int(array.max()) > LARGEST_COUNT or int(array.min()) < -LARGEST_COUNT:
        raise InputError(
            "must be below 2^62 in size", field=field, next_step="Count in larger units, or fewer things."
        )
    return array.astype(np.int64)

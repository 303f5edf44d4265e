# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of samplers, without numpy: whoever looks at a law draws nothing."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral

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
    if isinstance(value, bool) or not isinstance(value, Integral):  # numpy's whole numbers are, too
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

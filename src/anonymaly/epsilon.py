# SPDX-License-Identifier: Apache-2.0
"""Privacy loss as a whole number of billionths: what is charged is what is computed with.

A float ε would make "0.1 spent ten times" differ from 1.0, and a mechanism calibrated to a float that
differs from the ledger's number would break its promise. So ε is read once, exactly, into an integer
number of nano-ε, and every mechanism parameter derives from that integer.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from anonymaly.errors import InputError

NANO = 10**9
LARGEST = 1000 * NANO  # e^1000 bounds nothing; a larger number is a slip of the keyboard
DECIMALS = 9
LONGEST_TEXT = 60  # more digits than any ε has; keeps a megabyte of zeros from being read as a number

Number = int | float | str | Decimal


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else "too long"


def to_nano(value: Number, *, field: str = "epsilon") -> int:
    """Read a privacy loss as integer nano-ε, or say why it cannot be.

    Examples
    --------
    >>> to_nano(0.1)
    100000000
    """
    advice = "Give a positive number with at most nine decimals, such as 0.1."
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise InputError(f"must be a number, got {type(value).__name__}", field=field, next_step=advice)
    try:
        # repr of a float is the shortest text that reads back as it: 0.1 means 0.1, not 0.1000000000000000055.
        number = Decimal(repr(value) if isinstance(value, float) else _short(str(value).strip()))
    except InvalidOperation:
        raise InputError("must be a number", field=field, next_step=advice) from None
    if not number.is_finite():
        raise InputError("must be finite, got NaN or infinity", field=field, next_step=advice)
    if number <= 0:
        raise InputError(f"must be positive, got {number}", field=field, next_step=advice)
    # Compared before scaling, because Decimal would round 1e999999 × 10^9 or build a huge integer.
    if number > LARGEST // NANO:
        raise InputError(
            f"must be at most {LARGEST // NANO}, got {number}: a larger one promises nothing",
            field=field,
            next_step=advice,
        )
    # Through a fraction, because Decimal rounds to 28 digits; the adjusted exponent keeps the power of ten small.
    nano = Fraction(number) * NANO if number.adjusted() >= -DECIMALS else Fraction(1, 2)
    if nano.denominator != 1:
        rounded = max(Decimal(round(nano)), Decimal(1)).scaleb(-DECIMALS).normalize()
        raise InputError(
            f"has more than nine decimals ({number}), and the ledger counts billionths",
            field=field,
            next_step=f"Round it, for instance to {rounded:f}.",
        )
    return int(nano)


def to_text(nano: int) -> str:
    """Write integer nano-ε as the shortest exact decimal.

    Examples
    --------
    >>> to_text(100_000_000), to_text(2_000_000_000)
    ('0.1', '2')
    """
    return f"{Decimal(nano).scaleb(-DECIMALS).normalize():f}"


def to_fraction(nano: int) -> Fraction:
    """Return the exact rational ε that a mechanism derives its parameters from."""
    return Fraction(nano, NANO)

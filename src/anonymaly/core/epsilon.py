# SPDX-License-Identifier: Apache-2.0
"""Privacy loss as a whole number of billionths of ε: the ledger and the noise use the same number.

A float ε would make "0.1 spent ten times" differ from 1.0, and a mechanism calibrated to a float that
differs from the ledger's number would break its promise. So ε is read once, exactly, into an integer
number of nano-ε, and every mechanism parameter derives from that integer.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral

from anonymaly.errors import InputError

NANO = 10**9
LARGEST = 1000 * NANO  # e^1000 bounds nothing; a larger number is a typing mistake
# The most that an account may hold: a stream's total grows with every reading, and is an honest number even
# when it bounds little. Two such sums fit in 64 bits.
LARGEST_TOTAL = 10**9 * NANO
DECIMALS = 9
LONGEST_TEXT = 60  # more digits than any ε has; keeps a megabyte of zeros from being read as a number

Number = int | float | str | Decimal


def _read(value: Number) -> Decimal:
    """Read a number as it is written: 0.1 is 0.1, although the float nearest to it is a little more."""
    if isinstance(value, float):
        return Decimal(repr(float(value)))
    if isinstance(value, Integral):
        return Decimal(int(value))  # not through text, which Python refuses for thousands of digits
    text = str(value).strip()
    # Decimal also reads 1_000 and other alphabets' digits; in a budget they are typing mistakes.
    if len(text) > LONGEST_TEXT or "_" in text or not text.isascii():
        raise InvalidOperation
    return Decimal(text)


def read_amount(text: str) -> int:
    """Read what `to_text` wrote of an amount, which may be nothing, as integer nano-ε.

    Examples
    --------
    >>> read_amount("0"), read_amount("0.25")
    (0, 250000000)
    """
    return int(Decimal(text) * NANO)


def to_nano(value: Number, *, field: str = "epsilon", largest: int = LARGEST) -> int:
    """Read a privacy loss of at most ``largest`` as integer nano-ε, or raise an error that says why not.

    Examples
    --------
    >>> to_nano(0.1)
    100000000
    """
    advice = "Give a positive number with at most nine decimals, such as 0.1."
    if isinstance(value, bool) or not isinstance(value, Integral | float | str | Decimal):
        raise InputError(f"must be a number, got {type(value).__name__}", field=field, next_step=advice)
    try:
        number = _read(value)
    except InvalidOperation:
        got = repr(str(value)[:LONGEST_TEXT])
        raise InputError(f"must be a number, got {got}", field=field, next_step=advice) from None
    if not number.is_finite():
        raise InputError("must be finite, got NaN or infinity", field=field, next_step=advice)
    if number <= 0:
        raise InputError(f"must be positive, got {_shown(number)}", field=field, next_step=advice)
    # Compared before scaling, because Decimal would round 1e999999 × 10^9 or build a huge integer.
    if number > largest // NANO:
        raise InputError(
            f"must be at most {largest // NANO}, got {_shown(number)}: a larger one promises nothing",
            field=field,
            next_step=advice,
        )
    # Through a fraction, because Decimal rounds to 28 digits; the exponent keeps the power of ten small.
    nano = Fraction(number) * NANO if number.adjusted() >= -DECIMALS else Fraction(1, 2)
    if nano.denominator != 1:
        raise InputError(
            f"has more than nine decimals ({_shown(number)}), and the ledger counts billionths",
            field=field,
            next_step=f"Round it, for instance to {to_text(max(round(nano), 1))}.",
        )
    return int(nano)


def _shown(number: Decimal) -> str:
    text = str(number)
    return text if len(text) <= LONGEST_TEXT else f"{text[:20]}…"


def to_text(nano: int) -> str:
    """Write integer nano-ε as the shortest exact decimal.

    Examples
    --------
    >>> to_text(100_000_000), to_text(2_000_000_000)
    ('0.1', '2')
    """
    # By its digits: arithmetic on Decimal rounds to 28 of them, and Python's int has a longest text.
    digits = str(Decimal(abs(nano))).zfill(DECIMALS + 1)
    text = f"{digits[:-DECIMALS]}.{digits[-DECIMALS:]}".rstrip("0").rstrip(".")
    return f"-{text}" if nano < 0 else text


def to_number(nano: int) -> float:
    """Return ε as the number that people read and compute with; charges are counted in nano-ε.

    Examples
    --------
    >>> to_number(5_700_000_000)
    5.7
    """
    return float(to_text(nano))


def to_fraction(nano: int) -> Fraction:
    """Return the exact rational ε that a mechanism derives its parameters from."""
    return Fraction(nano, NANO)

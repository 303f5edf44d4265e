# SPDX-License-Identifier: Apache-2.0
"""Irrational probabilities, and exact decisions with them.

To decide an event of probability p, a uniform number U is drawn bit by bit until the bits known of U and
the bounds known of p show on which side of p it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.errors import InputError
from anonymaly.noise.bounds import ceiling_divide, exp_minus

if TYPE_CHECKING:
    from anonymaly.noise.chacha import Words

Bounds = Callable[[int], tuple[int, int]]
DIGITS = 64  # binary digits taken at a time


@dataclass(frozen=True)
class ExactProbability:
    """exp(-decay), or exp(-decay)/(1 + exp(-odds)), or one minus that, for rational decay and odds >= 0.

    Make one with `exponential`, `logistic` and `complement`. By the theorem of Lindemann and Weierstrass it
    is irrational except where decay = 0 and odds is absent or 0; there the bounds are exact.

    Examples
    --------
    >>> empty_cell_kept = ExactProbability.logistic(Fraction(3, 10) * 5, Fraction(3, 10))
    >>> round(float(empty_cell_kept), 6)
    0.128175
    """

    decay: Fraction
    odds: Fraction | None = None
    complemented: bool = False

    def __post_init__(self) -> None:
        for name, value in (("decay", self.decay), ("odds", self.odds)):
            if value is None and name == "odds":
                continue
            if not isinstance(value, Fraction | int) or isinstance(value, bool):
                raise InputError(
                    f"must be an exact number, got {type(value).__name__}",
                    field=name,
                    next_step="Give a fractions.Fraction.",
                )
            if value < 0:
                raise InputError("must not be negative", field=name, next_step="Give 0 or more.")
            object.__setattr__(self, name, Fraction(value))

    @classmethod
    def exponential(cls, decay: Fraction) -> ExactProbability:
        """Return exp(-decay).

        Examples
        --------
        >>> round(float(ExactProbability.exponential(Fraction(1))), 6)
        0.367879
        """
        return cls(decay)

    @classmethod
    def logistic(cls, decay: Fraction, odds: Fraction) -> ExactProbability:
        """Return exp(-decay)/(1 + exp(-odds)): the chance that two-sided noise reaches decay/odds.

        Examples
        --------
        >>> float(ExactProbability.logistic(Fraction(0), Fraction(0)))
        0.5
        """
        return cls(decay, odds)

    def complement(self) -> ExactProbability:
        """Return one minus this probability.

        Examples
        --------
        >>> round(float(ExactProbability.exponential(Fraction(1)).complement()), 6)
        0.632121
        """
        return ExactProbability(self.decay, self.odds, not self.complemented)

    def bounds(self, bits: int) -> tuple[int, int]:
        """Return integers with low <= p·2^bits <= high, equal only if p is exactly that fraction.

        Examples
        --------
        >>> ExactProbability.exponential(Fraction(1)).bounds(20)
        (385749, 385750)
        """
        if self.odds is None:
            low, high = exp_minus(self.decay, bits)
        else:
            scale = bits + 8
            low, high = exp_minus(self.decay, scale)
            other_low, other_high = exp_minus(self.odds, scale)
            low = (low << bits) // ((1 << scale) + other_high)
            high = ceiling_divide(high << bits, (1 << scale) + other_low)
        return ((1 << bits) - high, (1 << bits) - low) if self.complemented else (low, high)

    def __float__(self) -> float:
        # Below e^-750 there is no float but 0, and the bits of a vast decay would fill the memory.
        if self.decay > 750:
            return 1.0 if self.complemented else 0.0
        # The relative precision of a float, also for probabilities near 0.
        bits = 64 + int(self.decay * 3 / 2)
        low, high = self.bounds(bits)
        return float(Fraction(low + high, 2 << bits))


def read_probability(probability: Fraction | ExactProbability, field: str = "probability") -> Bounds:
    """Return the bounds of a probability in either form, or raise an error if it is not one."""
    if isinstance(probability, ExactProbability):
        return probability.bounds
    if isinstance(probability, bool) or not isinstance(probability, Fraction | int):
        raise InputError(
            f"must be exact, got {type(probability).__name__}",
            field=field,
            next_step="Give a fractions.Fraction from 0 to 1, or an ExactProbability.",
        )
    if not 0 <= probability <= 1:
        raise InputError(
            "must be between 0 and 1", field=field, next_step="Give a probability such as Fraction(1, 2)."
        )
    numerator, denominator = probability.numerator, probability.denominator

    def bounds(bits: int) -> tuple[int, int]:
        scaled = numerator << bits
        return scaled // denominator, ceiling_divide(scaled, denominator)

    return bounds


def decide(words: Words, bounds: Bounds, prefix: int = 0, bits: int = 0) -> bool:
    """Return true with probability p, given that the uniform number begins with `prefix` of `bits` bits."""
    while True:
        if bits:
            low, high = bounds(bits)
            if prefix < low:  # U < (prefix + 1)/2^bits <= p
                return True
            if prefix >= high:
                return False
        prefix = (prefix << DIGITS) | words.take(DIGITS)
        bits += DIGITS


def floor_of(bounds: Bounds, bits: int) -> tuple[int, bool]:
    """Return floor(p·2^bits), and whether p·2^bits is that integer exactly."""
    extra = 32
    while True:
        low, high = bounds(bits + extra)
        # Bounds that differ enclose a number that is no integer at this scale, so it lies below `high`.
        if low == high or low >> extra == (high - 1) >> extra:
            return low >> extra, low == high and low % (1 << extra) == 0
        extra *= 2


def binary_digits(bounds: Bounds) -> Iterator[int]:
    """Yield the binary digits of a probability below 1, until all further digits are 0."""
    known = 0
    ended = False
    while not ended:
        known += DIGITS
        block, ended = floor_of(bounds, known)
        yield from (block >> (DIGITS - 1 - position) & 1 for position in range(DIGITS))

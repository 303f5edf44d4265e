# SPDX-License-Identifier: Apache-2.0
"""What an asker may choose, and the public numbers that limit it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

MARGIN_NAMES = ("fence", "rare", "histogram")
STEPS, MOST_STEPS = 1_024, 1 << 16
GROUPS, MOST_GROUPS = 1, 20
WHY, LARGEST_WHY = Decimal("0.2"), Decimal("0.9")
WRONG = Fraction(1, 20)  # the chance, at most, of naming a group in which the record does not stand out

MOST_LISTED = 1 << 24  # groups that are all looked at
MOST_NUMBERS = 1 << 25  # cells of codes times steps: a few hundred megabytes
SAMPLED = 20_000  # groups of a public sample, besides the simple ones
MOST_VALUES = 62  # of an attribute whose subsets are drawn: an option's bits are one number
MOST_SAMPLED_ATTRIBUTES = 12
MOST_POSITIONS = 1_024  # of an ordered attribute
MOST_CELLS = 1 << 62  # combinations of codes: a cell's number has 64 bits

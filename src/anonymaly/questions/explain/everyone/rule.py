# SPDX-License-Identifier: Apache-2.0
"""A margin as compiled kernels take it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymaly.core.arrays import Integers


class MarginRule(NamedTuple):
    """Pairs (a, b) of edges of the grid for either side of the value, or, if there are none, a share.

    Along each list of pairs fewer and fewer records lie from ``lower`` on, and more and more below ``upper``.
    """

    fences: bool
    high_upper: Integers
    high_lower: Integers
    low_upper: Integers
    low_lower: Integers
    numerator: int
    denominator: int
    width: int  # numbers of a group: below each edge, or in the window and in all

    @classmethod
    def of_fences(
        cls, high: tuple[Integers, Integers], low: tuple[Integers, Integers], width: int
    ) -> MarginRule:
        """Return the rule of two lists of pairs, each as (lower, upper)."""
        return cls(True, high[1], high[0], low[1], low[0], 0, 1, width)

    @classmethod
    def of_share(cls, numerator: int, denominator: int) -> MarginRule:
        """Return the rule that at most a share of the group is in the window."""
        none = np.empty(0, np.int64)
        return cls(False, none, none, none, none, numerator, denominator, 2)

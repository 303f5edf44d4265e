# SPDX-License-Identifier: Apache-2.0
"""`Margin`, the base of all margins: how clearly a value stands out in a group, in units of public size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency
from anonymaly.detectors.detector import decimal, is_number
from anonymaly.questions.explain.everyone.metric_grid import MetricGrid
from anonymaly.questions.explain.everyone.rule import MarginRule

MOST_DECIMALS = 6  # so that kernels compare in 64 bits


class Margin(ABC):
    """A rule of standing out whose margin one row changes by a bounded amount (GUARANTEE.md, Lemmas 2 and 3).

    A class is a frozen dataclass of the rule's parameters. It raises ValueError for those that do not fit.
    """

    name: ClassVar[str]
    asks: ClassVar[str]
    """What standing out means, in words."""

    @property
    @abstractmethod
    def unit(self) -> int:
        """How many units of the margin make one record."""

    @abstractmethod
    def spread(self, rows: int, adjacency: Adjacency) -> int:
        """Return how far a person of up to ``rows`` rows moves the margins of two groups apart."""

    @abstractmethod
    def rule(self, grid: MetricGrid, value: float) -> MarginRule:
        """Return the rule for a record's value, as the compiled kernels take it."""

    @abstractmethod
    def columns(self, counts: Integers, grid: MetricGrid, value: float) -> Integers:
        """Return what is added up: from counts of a row of steps for each cell, as many rows."""


def read_decimal(number: object, what: str, least: float, most: float) -> Fraction:
    """Return a parameter as the decimal number it prints as, within bounds and of few digits.

    Examples
    --------
    >>> read_decimal(1.5, "the factor", 0, 100)
    Fraction(3, 2)
    """
    if is_number(number) and least < float(number) <= most:  # type: ignore[arg-type]
        found = decimal(float(number))  # type: ignore[arg-type]
        if 10**MOST_DECIMALS % found.denominator == 0:
            return found
    raise ValueError(
        f"{what} should be above {least} and at most {most}, with at most {MOST_DECIMALS} decimals"
    )


def below(counts: Integers) -> Integers:
    """Return how many records lie below each edge of the grid, the first edge and the last one included.

    Examples
    --------
    >>> below(np.array([[2, 0, 3]])).tolist()
    [[0, 2, 2, 5]]
    """
    edges = np.zeros((len(counts), counts.shape[1] + 1), counts.dtype)
    np.cumsum(counts, axis=1, dtype=counts.dtype, out=edges[:, 1:])
    return edges

# SPDX-License-Identifier: Apache-2.0
"""A number that was computed from a released histogram, with its interval, and whom it is about."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A sum of cells or a share, and where the true one lies in at least ``level`` of all releases.

    Examples
    --------
    >>> print(Figure(66.0, 66, 24.0, 108.0, 0.95, 2, "all records of these cells"))
    66, between 24 and 108 in 95 of 100 releases
    counts          all records of these cells
    """

    estimate: float
    released: float  # the sum of the released cells themselves, as roll-ups show it, or its share
    low: float | None
    high: float | None
    level: float
    cells: int
    covers: str
    why_no_interval: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return _written(shown(self.estimate), self, shown)


@dataclass(frozen=True)
class QuantileFigure:
    """The bin that holds a quantile, and the bins that the true one is in with probability ``level``."""

    estimate: str
    low: float | None  # the lower edge of the lowest bin
    high: float | None  # the upper edge of the highest
    level: float
    covers: str
    why_no_interval: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        return _written(f"in {self.estimate}", self, lambda edge: f"{edge:,}")


def _written(head: str, figure: Figure | QuantileFigure, write: Any) -> str:
    if figure.low is None or figure.high is None:
        return f"{head}, no interval: {figure.why_no_interval}\ncounts          {figure.covers}"
    times = f"{100 * figure.level:.10g} of 100 releases"
    between = f"between {write(figure.low)} and {write(figure.high)}"
    return f"{head}, {between} in {times}\ncounts          {figure.covers}"


def shown(number: float) -> str:
    """Write whole records in full, and what is less than a few in digits."""
    return f"{number:.3g}" if abs(number) < 10 and not float(number).is_integer() else f"{number:,.0f}"

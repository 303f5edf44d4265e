# SPDX-License-Identifier: Apache-2.0
"""What released cells say of the true sum of their counts: an estimate, and an interval where one is proved.

GUARANTEE.md has the proofs (Lemma 15). Only released numbers and public rates are used, so it costs nothing
(Lemma 0). Methods that smooth have no interval: how far smoothing moves a sum depends on the records, and no
released number bounds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from anonymaly.noise import laws
from anonymaly.noise.sums import GeometricSum, interval_of_sum, two_sided
from anonymaly.questions.share_histogram.methods.rates import Rates

Numbers = npt.NDArray[Any]
Bounds = tuple[float, float]

EVERY = "all records of these cells"
NON_SENSITIVE = "the non-sensitive records of these cells; sensitive ones are not counted"
EITHER = "all records of these cells, or if few seemed sensitive only those that are not"
NOT_KNOWN = "records of these cells, as the method counts them"
SMOOTHED = (
    "{method} smooths: how far that moves a sum depends on the records, and nothing that was released bounds "
    "it; ask by geometric, one_sided or sample for sums with an interval"
)
GIVEN_BACK = (
    "auto gives sums back what is too large to be noise, and what it leaves out depends on the records: "
    "nothing that was released bounds it; ask by geometric, one_sided or sample for sums with an interval"
)
UNKNOWN = "the histogram does not say how it was released; that of an answer does"


@dataclass(frozen=True)
class Release:
    """How a histogram was released: the method and its public rates.

    Examples
    --------
    >>> import numpy as np
    >>> release = Release("geometric", {"two_sided": Fraction(1, 10)})
    >>> release.estimate(np.array([70, -4])), release.bounds(np.array([70, -4]), missing=0.025)
    (66.0, (25.0, 107.0))
    >>> release.covers
    'all records of these cells'
    """

    method: str
    rates: Rates

    @property
    def covers(self) -> str:
        """Whose number the sum of cells is."""
        if "one_sided_alone" in self.rates:
            return EITHER
        return NON_SENSITIVE if self.method in ("one_sided", "one_sided_l1", "sample") else EVERY

    @property
    def why_no_bounds(self) -> str | None:
        """Why there is no interval; None if there is one."""
        if self.method in _BOUNDS:
            return None
        # Of the first versions, which had one view, the rates are known.
        return SMOOTHED.format(method=self.method) if self.rates else GIVEN_BACK

    def estimate(self, cells: Numbers) -> float:
        """Return the estimate of the true sum: without bias where the method has none that is known."""
        total = cells.sum().item()
        if self.method == "one_sided":
            return float(total + GeometricSum(self.rates["one_sided"], cells.size).mean)
        if self.method == "sample":
            # Of k records that are kept, 1/(e^ε - 1) are left out for each on average.
            return float(total + GeometricSum(self.rates["left_out"], int(total)).mean)
        return float(total)

    def bounds(self, cells: Numbers, missing: float, *, quick: bool = False) -> Bounds | None:
        """Return numbers that the true sum is below, and above, in at most ``missing`` of releases each.

        Parameters
        ----------
        cells : array
            Released numbers of cells that were chosen without looking at them.
        missing : float
            The most that either end may miss.
        quick : bool
            Whether a wider interval will do.
        """
        find = _BOUNDS.get(self.method)
        if find is None:
            return None
        if cells.size == 0:
            return 0.0, 0.0
        low, high = find(cells, self.rates, missing, quick)
        # Nobody counts fewer than no records.
        return float(max(0, low)), float(max(0, high))


def _geometric(cells: Numbers, rates: Rates, missing: float, quick: bool) -> tuple[int, int]:
    low, high = interval_of_sum(two_sided(rates["two_sided"], cells.size), missing, quick=quick)
    total = int(cells.sum())
    return total - high, total - low


def _one_sided(cells: Numbers, rates: Rates, missing: float, quick: bool) -> tuple[int, int]:
    low, high = interval_of_sum([GeometricSum(rates["one_sided"], cells.size)], missing, quick=quick)
    total = int(cells.sum())
    return total + low, total + high


def _one_sided_l1(cells: Numbers, rates: Rates, missing: float, quick: bool) -> tuple[int, int]:
    """A cell above 0 is its count minus noise, plus the median; at 0 the count is at most the noise."""
    median = laws.one_sided_geometric_quantile(rates["one_sided"], Fraction(1, 2))
    above = cells[cells > 0]
    least = int(above.sum()) - median * above.size  # never more than there are
    _, high = interval_of_sum([GeometricSum(rates["one_sided"], cells.size)], missing, quick=quick)
    return least, least + high


def _sample(cells: Numbers, rates: Rates, missing: float, quick: bool) -> tuple[int, int]:
    """Left out before the kth that is kept: a sum of k one-sided variables, which tells how many."""
    kept = int(cells.sum())
    low, _ = interval_of_sum([GeometricSum(rates["left_out"], kept)], missing, quick=quick)
    _, high = interval_of_sum([GeometricSum(rates["left_out"], kept + 1)], missing, quick=quick)
    return kept + low, kept + high


_BOUNDS: dict[str, Callable[[Numbers, Rates, float, bool], tuple[int, int]]] = {
    "geometric": _geometric,
    "one_sided": _one_sided,
    "one_sided_l1": _one_sided_l1,
    "sample": _sample,
}

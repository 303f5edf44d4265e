# SPDX-License-Identifier: Apache-2.0
"""What a histogram's asker may know before the charge: the noise of each method, and the error it makes."""

from __future__ import annotations

import math
from fractions import Fraction

from anonymaly.noise import (
    one_sided_geometric_quantile,
    two_sided_geometric_deviation,
    two_sided_geometric_half_width,
)
from anonymaly.query import Expectation
from anonymaly.share.histogram.counts import Rates
from anonymaly.share.histogram.method import Method
from anonymaly.share.mechanism import kept_probability

MOST = Fraction(95, 100)
DRAWS = "in 95 of 100 draws"
LEFT_OUT = "sensitive records are not counted"


def expectation(method: Method, rates: Rates) -> Expectation:
    """Say what noise a method's draws have and how far off a cell may be.

    Examples
    --------
    >>> from anonymaly.share.histogram.method import METHODS
    >>> method = METHODS["geometric"]
    >>> expectation(method, method.rates(10**9, adjacency="add_remove", bins=9)).error
    'each cell within ±3 of its true count in 95 of 100 draws'
    """
    noise = f"{method.says}; {'; '.join(_draws(rates))}"
    if method.name == "geometric":
        width = two_sided_geometric_half_width(rates["two_sided"], MOST)
        return Expectation(noise, f"each cell within ±{width:,} of its true count {DRAWS}", width)
    return Expectation(noise, _error(method.name, rates))


def _error(name: str, rates: Rates) -> str:
    match name:
        case "sample":
            kept = float(kept_probability(rates["left_out"]))
            return f"{100 * kept:.3g} of 100 non-sensitive records are counted on average; {LEFT_OUT}"
        case "one_sided" | "one_sided_l1":
            below = _below(rates["one_sided"])
            return f"each cell within {below} of its non-sensitive count {DRAWS}; {LEFT_OUT}"
        case "smoothed":
            around = _around(rates["two_sided"])
            return f"each cell within about ±{around} of its true count {DRAWS}, less where level"
        case "dawa" | "dawaz":
            return (
                f"each bucket's total within ±{_around(rates['totals'])} {DRAWS}; "
                "a cell's own error depends on how level its bucket is"
            )
        case _:
            both = (
                f"each cell's non-sensitive part within {_below(rates['one_sided'])}, "
                f"its sensitive part within about ±{_around(rates['two_sided'])}, {DRAWS}"
            )
            return f"{both}; or {LEFT_OUT}, if few are found" if "one_sided_alone" in rates else both


def _draws(rates: Rates) -> list[str]:
    """Say the law of each kind of draw."""
    words = []
    for name, rate in rates.items():
        if name in ("two_sided", "totals", "sensitive"):
            deviation = two_sided_geometric_deviation(rate)
            words.append(f"two-sided geometric{_of(name)}, standard deviation {deviation:.4g}")
        elif name in ("one_sided", "one_sided_alone", "zero_bins"):
            mean = 1 / math.expm1(float(rate))
            words.append(f"one-sided geometric{_of(name)}, mean {mean:.4g}")
        elif name == "left_out":
            words.append(
                f"a coin for each record, heads with probability {float(kept_probability(rate)):.4g}"
            )
    return words


def _of(name: str) -> str:
    parts = {
        "totals": " on totals",
        "sensitive": " on the number of sensitive records",
        "one_sided_alone": " if few are sensitive",
        "zero_bins": " to find empty cells",
    }
    return parts.get(name, "")


def _below(rate: Fraction) -> str:
    return f"{one_sided_geometric_quantile(rate, MOST):,}"


def _around(rate: Fraction) -> str:
    return f"{two_sided_geometric_half_width(rate, MOST):,}"

# SPDX-License-Identifier: Apache-2.0
"""What a histogram's asker may know before the charge: the noise of each method, and the error it makes."""

from __future__ import annotations

import math
from fractions import Fraction

from anonymaly.ask.binding import Expectation
from anonymaly.noise import (
    one_sided_geometric_quantile,
    two_sided_geometric_deviation,
    two_sided_geometric_half_width,
)
from anonymaly.questions.share_histogram.kernels.smoothing import LEAST_LEVEL, lone_count
from anonymaly.questions.share_histogram.methods.auto import FEWEST_BINS
from anonymaly.questions.share_histogram.methods.counts import Rates
from anonymaly.questions.share_histogram.methods.table import METHODS, Method
from anonymaly.questions.share_sample.mechanism import kept_share

MOST = Fraction(95, 100)
DRAWS = "in 95 of 100 draws"
LEFT_OUT = "sensitive records are not counted"


def expectation(method: Method, rates: Rates, cells: int) -> Expectation:
    """Say what noise a method's draws have and how far off a cell may be.

    Examples
    --------
    >>> from anonymaly.questions.share_histogram.methods.table import METHODS
    >>> method = METHODS["geometric"]
    >>> expectation(method, method.rates(10**9, adjacency="add_remove", bins=9), 9).error
    'each cell within ±3 of its true count in 95 of 100 draws'
    """
    noise = f"{_says(method, rates)}; {'; '.join(_draws(rates))}"
    if method.name == "geometric":
        width = two_sided_geometric_half_width(rates["two_sided"], MOST)
        return Expectation(noise, f"each cell within ±{width:,} of its true count {DRAWS}", width)
    return Expectation(noise, _error(method.name, rates, cells))


def _says(method: Method, rates: Rates) -> str:
    if method.name == "auto" and "one_sided_alone" not in rates:
        return f"hybrid, as there are fewer than {FEWEST_BINS} cells: {METHODS['hybrid'].says}"
    return method.says


def _error(name: str, rates: Rates, cells: int) -> str:
    match name:
        case "sample":
            kept = kept_share(rates["left_out"])
            return f"{100 * kept:.3g} of 100 non-sensitive records are counted on average; {LEFT_OUT}"
        case "one_sided" | "one_sided_l1":
            below = _below(rates["one_sided"])
            return f"each cell within {below} of its non-sensitive count {DRAWS}; {LEFT_OUT}"
        case "smoothed":
            around = _around(rates["two_sided"])
            smoothed = _smoothed("counts", rates["two_sided"], cells)
            return f"before smoothing, each cell within ±{around} of its true count {DRAWS}; {smoothed}"
        case "dawa" | "dawaz":
            return (
                f"before smoothing, each bucket's total within ±{_around(rates['totals'])} {DRAWS}, shared "
                "equally by its cells, however unequal they are; "
                f"{_smoothed('counts', rates['totals'], cells)}"
            )
        case _:
            both = (
                f"each cell's non-sensitive part within {_below(rates['one_sided'])}, and before smoothing "
                f"its sensitive part within ±{_around(rates['two_sided'])}, {DRAWS}; "
                f"{_smoothed('sensitive counts', rates['two_sided'], cells)}"
            )
            return f"{both}; or {LEFT_OUT}, if few are found" if "one_sided_alone" in rates else both


def _smoothed(what: str, rate: Fraction, cells: int) -> str:
    """Say what smoothing may do on top of the noise; how much of it is done depends on the records."""
    least, lone = math.ceil(LEAST_LEVEL / rate), math.ceil(lone_count(cells, rate))
    return (
        f"smoothing may then move a cell further: it gives runs of neighbouring {what} one level, "
        f"sets levels below {least:,} to 0, and may set to 0 {what} below about {lone:,} that stand alone"
    )


def _draws(rates: Rates) -> list[str]:
    """Say the law of each kind of draw."""
    words = []
    for name, rate in rates.items():
        if name in ("two_sided", "totals", "sensitive"):
            deviation = two_sided_geometric_deviation(rate)
            words.append(f"two-sided geometric{_of(name)}, standard deviation {deviation:.4g}")
        elif name in ("one_sided", "one_sided_alone", "zero_bins"):
            # 1/(e^rate - 1), written so that no rate is too large.
            mean = math.exp(-float(rate)) / -math.expm1(-float(rate))
            words.append(f"one-sided geometric{_of(name)}, mean {mean:.4g}")
        elif name == "left_out":
            words.append(f"a coin for each record, heads with probability {kept_share(rate):.4g}")
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

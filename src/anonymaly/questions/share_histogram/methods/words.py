# SPDX-License-Identifier: Apache-2.0
"""The noise and the error of each method in words, known before the charge; one line for each fact."""

from __future__ import annotations

import math
from fractions import Fraction

from anonymaly.ask.binding import Expectation, Measure
from anonymaly.noise import laws
from anonymaly.questions.share_histogram.methods import BEFORE, METHODS
from anonymaly.questions.share_histogram.methods.method import HistogramMethod
from anonymaly.questions.share_histogram.methods.prices import LEAST_LEVEL, lone_count
from anonymaly.questions.share_histogram.methods.rates import FEWEST_BINS, Rates

MOST = Fraction(95, 100)
DRAWS = "in 95 of 100 draws"
LEFT_OUT = "sensitive records are not counted"
TWO_SIDED = {
    "two_sided": "two-sided geometric",
    "totals": "two-sided geometric on totals",
    "sensitive": "two-sided geometric on the number of sensitive records",
    "numbers": "two-sided geometric on the numbers of sensitive and of other records",
}
ONE_SIDED = {
    "one_sided": "one-sided geometric",
    "one_sided_alone": "one-sided geometric if few are sensitive",
    "zero_bins": "one-sided geometric to find empty cells",
}

# What each method is good for, and what it is bad for.
GOOD_AND_BAD = {
    "auto": "good for cells, and by for_sums for sums; bad for small counts among zeros and long level runs",
    "hybrid": "good for cells, if many records are not sensitive; bad for sums, from which smoothing takes",
    "one_sided": "good for sums of records that are not sensitive; bad if many are sensitive",
    "one_sided_l1": "good for sparse cells of records that are not sensitive; bad if many are sensitive",
    "sample": "good where counts must be of records that exist; bad for totals: it leaves records out",
    "geometric": "good for sums and for dense cells; bad for sparse cells, each of which gets noise",
    "smoothed": "good for sparse or level cells; bad for sums, and for counts that differ by less than noise",
    "dawa": "good for long level runs at a small ε; bad for sums, and for dense counts that differ",
    "dawaz": "good for sparse cells where few are sensitive; bad under a policy by value, which it empties",
}


def expectation(method: HistogramMethod, rates: Rates, cells: int) -> Expectation:
    """Say what noise a method's draws have and how far off a cell may be.

    Examples
    --------
    >>> from anonymaly.questions.share_histogram.methods import BEFORE, METHODS
    >>> method = METHODS["geometric"]
    >>> expectation(method, method.rates(10**9, adjacency="add_remove", bins=9), 9).error
    'each cell within ±3 of its true count in 95 of 100 draws'
    """
    # The score of dawa's partition is no noise on a count.
    drawn = [_law(name, rate) for name, rate in rates.items() if name != "score"]
    noise = "\n".join([_says(method, rates), GOOD_AND_BAD[method.name], *drawn])
    width = (
        laws.two_sided_geometric_half_width(rates["two_sided"], MOST) if method.name == "geometric" else None
    )
    error = "\n".join(_chosen_error(rates, cells) if method.chooses else _error(method.name, rates, cells))
    runs = "smoothed" if method.chooses and "one_sided" not in rates else method.name
    return Expectation(noise, error, width, measure=_measure(runs, rates))


def _says(method: HistogramMethod, rates: Rates) -> str:
    if method.chooses and "numbers" not in rates:
        runs = "hybrid" if "one_sided" in rates else "geometric"
        return f"{runs}, as public facts decide: {METHODS[runs].says}"
    if method is BEFORE and "one_sided_alone" not in rates:
        return f"hybrid, as there are fewer than {FEWEST_BINS} cells: {METHODS['hybrid'].says}"
    return method.says


def _law(name: str, rate: Fraction) -> str:
    """Say the law of one kind of draw."""
    if name in TWO_SIDED:
        return f"{TWO_SIDED[name]}, standard deviation {laws.two_sided_geometric_deviation(rate):.4g}"
    if name in ONE_SIDED:
        return f"{ONE_SIDED[name]}, mean {laws.one_sided_geometric_mean(rate):.4g}"
    return f"a coin for each record, heads with probability {_kept(rate):.4g}"


def _error(name: str, rates: Rates, cells: int) -> list[str]:
    match name:
        case "sample":
            kept = 100 * _kept(rates["left_out"])
            return [f"{kept:.3g} of 100 non-sensitive records are counted on average", LEFT_OUT]
        case "one_sided" | "one_sided_l1":
            return [
                f"each cell within {_below(rates['one_sided'])} of its non-sensitive count {DRAWS}",
                LEFT_OUT,
            ]
        case "geometric":
            return [f"each cell within ±{_around(rates['two_sided'])} of its true count {DRAWS}"]
        case "smoothed":
            around = _around(rates["two_sided"])
            return [
                f"before smoothing, each cell within ±{around} of its true count {DRAWS}",
                *_smoothed("counts", rates["two_sided"], cells),
            ]
        case "dawa" | "dawaz":
            return [
                f"before smoothing, each bucket's total within ±{_around(rates['totals'])} {DRAWS}",
                "a bucket's cells share its total equally, however unequal they are",
                *_smoothed("counts", rates["totals"], cells),
            ]
    return [
        f"each cell's non-sensitive part within {_below(rates['one_sided'])} {DRAWS}",
        f"before smoothing, its sensitive part within ±{_around(rates['two_sided'])} {DRAWS}",
        *_smoothed("sensitive counts", rates["two_sided"], cells),
        *([f"{LEFT_OUT} if few are found"] if "one_sided_alone" in rates else []),
    ]


def _chosen_error(rates: Rates, cells: int) -> list[str]:
    """Say the error of whichever method auto may run, and of its two views."""
    around = _around(rates["two_sided"])
    if "one_sided" not in rates:
        first = [f"before smoothing, each cell within ±{around} of its true count {DRAWS}"]
    else:
        first = [
            f"each cell's non-sensitive part within {_below(rates['one_sided'])} {DRAWS}",
            f"before smoothing, its sensitive part within ±{around} {DRAWS}",
        ]
        if "numbers" in rates:
            first.append(f"or all of it within {around}, if records are many and geometric runs")
    return [
        *first,
        *_smoothed("counts", rates["two_sided"], cells),
        "for_sums gives back what that takes from sums",
    ]


def _measure(name: str, rates: Rates) -> Measure:
    """Return the error of a cell as one number: that of the noise alone, without what smoothing adds."""
    within = "95 of 100 draws are within this"
    match name:
        case "sample":
            return Measure(
                math.exp(-float(rates["left_out"])),
                "share",
                "of the non-sensitive records, not counted on average",
            )
        case "one_sided" | "one_sided_l1":
            below = laws.one_sided_geometric_quantile(rates["one_sided"], MOST)
            return Measure(below, "records", f"{within} of a cell's non-sensitive count; {LEFT_OUT}")
        case "geometric":
            around = laws.two_sided_geometric_half_width(rates["two_sided"], MOST)
            return Measure(around, "records", f"{within} of a cell's true count")
        case "smoothed":
            around = laws.two_sided_geometric_half_width(rates["two_sided"], MOST)
            return Measure(around, "records", f"{within} of a cell's true count, before smoothing")
        case "dawa" | "dawaz":
            around = laws.two_sided_geometric_half_width(rates["totals"], MOST)
            return Measure(around, "records", f"{within} of a bucket's true total, before smoothing")
    parts = (
        laws.one_sided_geometric_quantile(rates["one_sided"], MOST),
        laws.two_sided_geometric_half_width(rates["two_sided"], MOST),
    )
    return Measure(
        max(parts),
        "records",
        f"{within} of a cell's non-sensitive part, and of its sensitive part before smoothing",
    )


def _smoothed(what: str, rate: Fraction, cells: int) -> list[str]:
    """Say what smoothing may do on top of the noise; how much of it is done depends on the records."""
    least, lone = math.ceil(LEAST_LEVEL / rate), math.ceil(lone_count(cells, rate))
    return [
        f"smoothing may then move a cell further: it gives neighbouring {what} one level",
        f"it sets levels below {least:,} to 0, unless nothing else is left",
        f"it may set to 0 {what} below about {lone:,} that stand alone",
    ]


def _kept(rate: Fraction) -> float:
    """Return 1 − e^-rate as a float: to write the exact number as one takes minutes at a vast rate."""
    return -math.expm1(-float(rate))


def _below(rate: Fraction) -> str:
    return f"{laws.one_sided_geometric_quantile(rate, MOST):,}"


def _around(rate: Fraction) -> str:
    return f"{laws.two_sided_geometric_half_width(rate, MOST):,}"

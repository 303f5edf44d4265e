# SPDX-License-Identifier: Apache-2.0
"""How columns are cut into groups, by what is declared about them alone."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from numbers import Real
from typing import Any

from anonymaly.declare.dates import Dates
from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval, Timestamps, read_moment

WANTED = 10  # bins of a number, about
# Dates are cut so that there are about ten parts: (days at most, cut).
BY_DAYS = ((60, "weekday"), (730, "month"), (1830, "quarter"))


def round_edges(low: float, high: float) -> tuple[float, ...]:
    """Return edges at round numbers, 1, 2 or 5 times a power of ten apart, from one bound to the other.

    Examples
    --------
    >>> round_edges(0, 120), round_edges(0, 168)[-3:], round_edges(0.25, 1)[:3]
    ((0, 20, 40, 60, 80, 100, 120), (140, 160, 168), (0.25, 0.3, 0.4))
    """
    width = (high - low) / WANTED
    power = 10.0 ** math.floor(math.log10(width))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    first, last = math.floor(low / step) + 1, math.ceil(high / step) - 1
    digits = max(0, -math.floor(math.log10(step)))
    inner = [round(number * step, digits) for number in range(first, last + 1)]
    return tuple(_whole(edge) for edge in (low, *(edge for edge in inner if low < edge < high), high))


def _whole(number: float) -> float:
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else number


def cut(name: str, domain: Domain) -> str | Bins | Dates | None:
    """Return a column as an attribute of groups; None if it can be none."""
    match domain:
        case Categories() | Flag():
            return name
        case Interval():
            return Bins(name, round_edges(float(domain.low), float(domain.high)))
        case Timestamps():
            days = (domain.end - domain.start).days
            by: Any = next((by for most, by in BY_DAYS if days <= most), "year")
            return Dates(name, by=by)
        case _:
            return None


def own_value(value: Any, domain: Domain) -> Any:
    """Return a record's value as the table is read: None if it has none, or one that no group holds.

    Examples
    --------
    >>> own_value(2003.0, Categories([2003, 2004])), own_value("Q", Categories(["A"], other="else"))
    (2003, 'else')
    >>> own_value(130, Interval(0, 120)) is None
    True
    """
    if value is None:
        return None
    match domain:
        case Categories():
            known = not isinstance(value, bool) and isinstance(value, str | Real)
            return next((label for label in domain.values if known and label == value), domain.other)
        case Flag():
            return value if isinstance(value, bool) else None
        case Interval():
            number = float(value) if isinstance(value, Decimal) else value
            return number if domain.contains(number) else None
        case Timestamps():
            moment = _moment(value)
            return moment if moment is not None and domain.contains(moment) else None
        case _:
            return None


def moved_within(value: Any, domain: Interval) -> float | int | None:
    """Return a number at the nearer bound if it is outside, as questions read the table's own."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    number: float | int = value if isinstance(value, int | float) else float(value)
    return min(max(number, domain.low), domain.high) if math.isfinite(number) else None


def _moment(value: Any) -> datetime | None:
    try:
        return read_moment(value)
    except ValueError:
        return None

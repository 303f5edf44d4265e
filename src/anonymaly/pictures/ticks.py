# SPDX-License-Identifier: Apache-2.0
"""Axes that end, and are read, at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime

from anonymaly.pictures.chart import ChartAxis


def linear(title: str, unit: str, numbers: Iterable[float]) -> ChartAxis:
    """Return an axis from 0, or below it, to a round number that holds all of these.

    Examples
    --------
    >>> linear("left", "ε", [3, 7.2]).ticks
    ((0.0, '0'), (2.0, '2'), (4.0, '4'), (6.0, '6'), (8.0, '8'))
    """
    known = [0.0, *numbers]
    low, high = min(known), max(known)
    if high <= low:
        high = low + 1
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    places = [round(number * step, 12) for number in range(first, last + 1)]
    ticks = tuple((place, f"{place:,g}" if abs(place) < 1e6 else f"{place:,.0f}") for place in places)
    return ChartAxis(title, unit, places[0], places[-1], ticks=ticks)


def powers(title: str, unit: str, numbers: Iterable[float], *, ends: bool = False) -> ChartAxis:
    """Return an axis of powers of ten that holds all of these numbers; those of 0 are at its lower end.

    With ``ends`` it ends with the least and the largest of them, and is read there and between them.

    Examples
    --------
    >>> powers("error", "records", [0, 3, 250]).ticks
    ((1.0, '1'), (10.0, '10'), (100.0, '100'), (1000.0, '1,000'))
    >>> powers("ε", "", [0.05, 0.1, 0.5], ends=True).ticks
    ((0.05, '0.05'), (0.1, '0.1'), (0.5, '0.5'))
    """
    known = sorted({number for number in numbers if number > 0}) or [1.0]
    if ends and len(known) > 1:
        # Between the ends, one that is short to read.
        middle = sorted(
            known[1:-1], key=lambda at: (len(f"{at:g}") > 4, abs(known.index(at) - len(known) / 2))
        )
        read = [known[0], *middle[:1], known[-1]]
        return ChartAxis(title, unit, known[0], known[-1], "powers", tuple((at, _power(at)) for at in read))
    lowest, highest = math.floor(math.log10(known[0])), math.ceil(math.log10(known[-1]))
    highest = max(highest, lowest + 1)
    every = max(1, (highest - lowest) // 4)
    ticks = [10.0**power for power in range(lowest, highest + 1, every)]
    axis_ticks = tuple((at, _power(at)) for at in ticks)
    return ChartAxis(title, unit, 10.0**lowest, 10.0**highest, "powers", axis_ticks)


def _power(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:g}"


def times(first: float, last: float) -> ChartAxis:
    """Return an axis of time between two moments, in seconds since 1970; it is read at its ends.

    Examples
    --------
    >>> times(0, 86_400 * 30).ticks
    ((0, '1970-01-01'), (2592000, '1970-01-31'))
    >>> times(43_200, 86_400).ticks
    ((43200, '1970-01-01 12:00'), (86400, '1970-01-02 00:00'))
    """
    last = max(last, first + 1)
    days = last - first >= 2 * 86_400
    over_midnight = not days and first // 86_400 != last // 86_400
    form = "%Y-%m-%d" if days else "%H:%M" if last - first >= 120 else "%H:%M:%S"
    form = f"%Y-%m-%d {form}" if over_midnight else form
    ticks = tuple((at, datetime.fromtimestamp(at, UTC).strftime(form)) for at in (first, last))
    day = datetime.fromtimestamp(last, UTC).strftime("%Y-%m-%d")
    title = "time" if days or over_midnight else f"{day}, time"
    return ChartAxis(title, "UTC", first, last, "time", ticks)

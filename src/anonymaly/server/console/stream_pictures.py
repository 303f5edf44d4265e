# SPDX-License-Identifier: Apache-2.0
"""Pictures of a stream: faults and missing sensors by window, and the sensors with most faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from anonymaly.core.stream_status import StreamStatus, WindowStatus
from anonymaly.pictures.chart import Bar, Chart, ChartAxis, ChartLine
from anonymaly.pictures.ticks import linear, times

LEAST_WINDOWS = 2  # fewer are no course of time
MOST_BARS = 6
LEAST_HEIGHT = 4  # so that an axis of whole numbers is read at whole numbers
Value = Callable[[WindowStatus], int]


def pictures_of(status: StreamStatus) -> Iterator[Chart]:
    """Return what there is to be drawn."""
    timed = sorted((item for item in status.recent if item.begins is not None), key=_begins)
    if sum(item.readings is not None for item in timed) >= LEAST_WINDOWS:
        yield _by_window("Faults in each window", "readings", timed, lambda item: item.to_look_at)
        yield _by_window("Sensors without a reading", "sensors", timed, lambda item: item.missing or 0)
    faulty = sorted(status.listed, key=lambda sensor: -sensor.to_look_at)[:MOST_BARS]
    bars = tuple(
        Bar(item.name, item.to_look_at / item.readings, f"{item.to_look_at:,} of {item.readings:,} readings")
        for item in faulty
        if item.to_look_at
    )
    if bars:
        words = "; ".join(f"{bar.name}: {bar.said}" for bar in bars)
        axis = ChartAxis("share of its readings, from 0 to all", "", 0, 1)
        yield Chart("Sensors with most to look at", f"{words}.", axis, bars)


def _by_window(title: str, unit: str, windows: Sequence[WindowStatus], value: Value) -> Chart:
    """Draw a number of each window over time; where nothing was judged the line breaks."""
    starts = [_begins(item) for item in windows]
    length = min((later - earlier for earlier, later in pairwise(starts) if later > earlier), default=1.0)
    known = [(_begins(item), value(item)) for item in windows if item.readings is not None]
    numbers = [number for _, number in known]
    lines = tuple(
        ChartLine("", (*run, (run[-1][0] + length, run[-1][1])), stepped=True, filled=True)
        for run in _runs(known, length)
    )
    return Chart(
        title=title,
        words=f"{min(numbers):,} to {max(numbers):,} {unit} in each of {len(numbers):,} judged windows from "
        f"{windows[0].window} to {windows[-1].window}, {numbers[-1]:,} in the newest.",
        x=times(starts[0], starts[-1] + length),
        marks=lines,
        y=linear(unit, "", [*numbers, LEAST_HEIGHT]),
    )


def _runs(known: Sequence[tuple[float, int]], length: float) -> list[list[tuple[float, float]]]:
    """Return the windows that follow each other without a gap."""
    runs: list[list[tuple[float, float]]] = []
    for at, number in known:
        if runs and at - runs[-1][-1][0] <= 1.5 * length:
            runs[-1].append((at, number))
        else:
            runs.append([(at, number)])
    return runs


def _begins(window: WindowStatus) -> float:
    return datetime.fromisoformat(window.begins or "").timestamp()

# SPDX-License-Identifier: Apache-2.0
"""A picture of reasons: the largest parts of each record's score as bars."""

from __future__ import annotations

from collections.abc import Sequence

from anonymaly.pictures.chart import Bar, Chart, ChartAxis

AXIS = "part of the score: how much rarer than usual"
Drawn = tuple[str, float, Sequence[tuple[str, float]]]  # a record's title, its score, and its named parts


def picture(records: Sequence[Drawn]) -> Chart:
    """Return a group of bars for each record; all have one scale.

    Examples
    --------
    >>> chart = picture([("row 0", 4.2, [("age", 3.0), ("age with ward", 1.2)])])
    >>> chart.marks[0].heading, chart.marks[1].said, chart.x.high
    ('row 0, score 4.20', '+1.20', 3.0)
    """
    largest = max((part for _, _, parts in records for _, part in parts), default=1.0) or 1.0
    bars = [
        Bar(name, part, f"{part:+.2f}", heading=f"{title}, score {score:.2f}" if place == 0 else None)
        for title, score, parts in records
        for place, (name, part) in enumerate(parts)
    ]
    said = "; ".join(
        f"{title}, score {score:.2f}: {', '.join(f'{name} {part:+.2f}' for name, part in parts)}"
        for title, score, parts in records
    )
    return Chart(
        "The largest parts of each score", f"{said}.", ChartAxis(AXIS, "", 0.0, largest), tuple(bars)
    )


def one_record(parts: Sequence[tuple[str, float]], largest: float) -> Chart:
    """Return the bars of one record, on a scale that it shares with others."""
    said = ", ".join(f"{name} {part:+.2f}" for name, part in parts)
    bars = tuple(Bar(name, part, f"{part:+.2f}") for name, part in parts)
    return Chart("", f"The largest parts of the score: {said}.", ChartAxis(AXIS, "", 0.0, largest), bars)

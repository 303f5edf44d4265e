# SPDX-License-Identifier: Apache-2.0
"""A chart as text for a terminal, in block characters."""

from __future__ import annotations

import math
from collections.abc import Iterator

from anonymaly.pictures.chart import Bar, Box, Chart, ChartAxis, ChartLine, Level, Point
from anonymaly.pictures.names import short_names

COLUMNS = 40  # of the longest bar
STRIP = 60  # of a box with its record
LONGEST = 28  # letters of a name


def to_text(chart: Chart) -> str:
    """Draw a chart as lines of text: a bar for each bar and each point of a line, a strip for each box.

    Examples
    --------
    >>> axis = ChartAxis("pay", "", 100, 400)
    >>> print(to_text(Chart("", "…", axis, (Box(100, 150, 200, 400, "100 to 200", "this one 400"),))))
    ▒▒▒▒▒▒▒▒▒▒┃▒▒▒▒▒▒▒▒▒▒──────────────────────────────────────◆
    """
    lines = [chart.title] if chart.title else []
    bars = [mark for mark in chart.marks if isinstance(mark, Bar)]
    names = short_names([bar.name for bar in bars], LONGEST)
    width, named = max(map(len, names), default=0), iter(names)
    for mark in chart.marks:
        match mark:
            case Bar():
                lines += [mark.heading] if mark.heading is not None else []
                bar = f"{_bar(mark.value, chart.x):<{COLUMNS}}"
                lines.append(f"{next(named):<{width}}  {bar}  {mark.said}".rstrip())
            case Box():
                lines.append(strip(mark, chart.x))
            case ChartLine() if chart.y is not None:
                lines += _line(mark, chart.x, chart.y)
            case Point() | Level():
                lines.append(f"◆ {mark.said}")
            case _:
                pass
    return "\n".join(lines)


def strip(box: Box, axis: ChartAxis) -> str:
    """Draw the middle half as a box, the median in it, and the record as a diamond."""
    line = ["─"] * STRIP
    first, middle, last, record = (
        round((STRIP - 1) * part_of(number, axis)) for number in (box.low, box.middle, box.high, box.record)
    )
    line[first : last + 1] = ["▒"] * (last - first + 1)
    line[middle] = "┃"
    line[record] = "◆"
    return "".join(line).rstrip()


def bar_of(part: float, columns: int) -> str:
    """Return a bar that is a part of so many columns, to half a column.

    Examples
    --------
    >>> bar_of(0.5, 4), bar_of(0.4, 4), bar_of(0.0, 4)
    ('██', '█▌', '')
    """
    whole, half = divmod(round(2 * part * columns), 2)
    return "█" * whole + "▌" * half


def _bar(value: float, axis: ChartAxis) -> str:
    first, last = sorted(part_of(number, axis) for number in (0.0, value))
    return " " * round(COLUMNS * first) + bar_of(last - first, COLUMNS)


def _line(line: ChartLine, x: ChartAxis, y: ChartAxis) -> Iterator[str]:
    yield f"{x.label}, {line.name or y.label}"
    said = [f"{at:g}" for at, _ in line.points]
    width = max(map(len, said), default=0)
    for text, (_, height) in zip(said, line.points, strict=True):
        yield f"{text:>{width}}  {bar_of(part_of(height, y), COLUMNS):<{COLUMNS}}  {height:g}"


def part_of(number: float, axis: ChartAxis) -> float:
    """Return where a number lies on an axis, from 0 to 1."""
    if axis.scale == "powers":
        low, high = math.log10(axis.low), math.log10(axis.high)
        number = math.log10(number) if number > 0 else low
    else:
        low, high = axis.low, axis.high
    return min(max((number - low) / (high - low), 0.0), 1.0) if high > low else 0.0

# SPDX-License-Identifier: Apache-2.0
"""A chart as SVG: presentation attributes only, so that no policy of a page forbids any of it.

Places across are percentages and text has its own size, so a picture is as wide as what it stands in, and
its words are as large on a phone as elsewhere. Text and axes have the colour of the words around them, which
is right on light and dark; what a mark is, its form or a word says, never its colour alone. The classes are
there for a page that has a style sheet of its own.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator

from anonymaly.pictures.chart import Bar, Box, Chart, ChartAxis, ChartLine, Level, Point
from anonymaly.pictures.names import short_names

ACCENT = "#1f83c4"  # at least 4 : 1 against white, and against black
FONT = 14
ROW, BAR, HEADING = 42, 9, 30  # heights, in pixels
PLANE = 220
LONGEST = 34  # letters of a name
LINE = 18  # the height of a second line
MOST_LETTERS = 36  # of a name and a figure that a phone has room for side by side
EDGE = 2.5  # per cent on each side, so that marks at the ends are whole
SIDES = 1000  # units across a plane's own drawing, which is stretched to its place


def to_svg(
    chart: Chart, *, width: int | None = None, ink: str | None = None, paper: str | None = None
) -> str:
    """Draw a chart.

    Parameters
    ----------
    chart : Chart
        What is drawn.
    width : int, optional
        In pixels, for a file of its own; without it, the picture is as wide as what it stands in.
    ink : str, optional
        The colour of text and axes; without it, that of the text around the picture.
    paper : str, optional
        The colour behind it; without it there is none.

    Examples
    --------
    >>> svg = to_svg(Chart("By ward", "A: 20.", ChartAxis("records", "", 0, 20), (Bar("<A>", 20, "20"),)))
    >>> svg.count("<rect"), "<A>" in svg, "style" in svg
    (1, False, False)
    """
    drawn, height = _plane(chart, chart.y) if chart.y is not None else _rows(chart, width)
    back = [] if paper is None else [f'<rect width="100%" height="100%" fill="{paper}"/>']
    colour = "" if ink is None else f' color="{ink}"'
    across = "100%" if width is None else str(width)
    said = html.escape(". ".join(filter(None, (chart.title, chart.words))), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" width="{across}" height="{height:.0f}" '
        f'role="img" aria-label="{said}" font-family="system-ui, sans-serif" font-size="{FONT}" '
        f'fill="currentColor"{colour}>{"".join([*back, *drawn])}</svg>'
    )


def _rows(chart: Chart, width: int | None) -> tuple[list[str], float]:
    """Draw bars and boxes one below the other."""
    parts = [*_title(chart.title)]
    top = 36.0 if chart.title else 6.0
    share = _share(chart.x)
    bars = [mark for mark in chart.marks if isinstance(mark, Bar)]
    # Without a width it may be a phone's: where one line would be too long there, all bars have two.
    names = short_names([bar.name for bar in bars], LONGEST)
    long = any(len(name) + len(bar.said) > MOST_LETTERS for name, bar in zip(names, bars, strict=True))
    second = LINE if long and width is None else 0
    named = iter(names)
    for mark in chart.marks:
        if isinstance(mark, Bar):
            if mark.heading is not None:
                parts.append(_text(0, top + 18, mark.heading, weight=600))
                top += HEADING
            parts += _bar(mark, next(named), top, share, second)
            top += ROW + second
        elif isinstance(mark, Box):
            parts += _box(mark, top, share)
            top += 78
    if chart.x.label:
        parts.append(_text(0, top + 13, chart.x.label, faint=True))
        top += 22
    return parts, top


def _bar(bar: Bar, name: str, top: float, share: Callable[[float], float], second: int) -> Iterator[str]:
    """Draw a bar below its name and its figure; ``second`` is the height of a second line, or 0."""
    yield _text(0, top + 13, name)
    yield _text(0 if second else 100, top + 13 + second, bar.said, anchor="start" if second else "end")
    y = top + 19 + second
    zero, end = share(0.0), share(bar.value)
    if bar.of is not None:
        yield (f'<rect class="whole" x="0" y="{y}" width="100%" height="{BAR}" rx="2" fill-opacity="0.15"/>')
    first, last = sorted((zero, end))
    yield (
        f'<rect class="accent" x="{first:.2f}%" y="{y}" width="{_wide(first, last, mark=bar.value):.2f}%" '
        f'height="{BAR}" rx="1" fill="{ACCENT}"/>'
    )
    if bar.low is not None and bar.high is not None:
        low, high, middle = share(bar.low), share(bar.high), y + BAR / 2
        yield _line(low, high, middle, middle, 1.5)
        yield _line(low, low, middle - 5, middle + 5, 1.5)
        yield _line(high, high, middle - 5, middle + 5, 1.5)


def _box(box: Box, top: float, share: Callable[[float], float]) -> Iterator[str]:
    """Draw the record above the line and the group below it, so that their words never meet."""
    # Within the edges, so that the record's mark is whole at an end.
    low, middle, high, record = (
        EDGE + share(number) * (100 - 2 * EDGE) / 100
        for number in (box.low, box.middle, box.high, box.record)
    )
    y = top + 36
    yield _text(record, top + 14, box.record_said, anchor=_side(record), weight=600)
    yield _line(0, 100, y, y, 1, opacity=0.4)
    yield (
        f'<rect class="box" x="{low:.2f}%" y="{y - 10}" width="{max(high - low, 0.3):.2f}%" height="20" '
        f'rx="2" fill="{ACCENT}" fill-opacity="0.3" stroke="{ACCENT}" stroke-width="1.5"/>'
    )
    yield _line(middle, middle, y - 10, y + 10, 3)
    yield (
        f'<svg aria-hidden="true" x="{record:.2f}%" y="{y}" overflow="visible"><path class="record" '
        'd="M0 -8 L8 0 L0 8 L-8 0 Z"/></svg>'
    )
    centre = (low + high) / 2
    yield _text(centre, y + 28, box.said, anchor=_side(centre), faint=True)


def _plane(chart: Chart, y_axis: ChartAxis) -> tuple[list[str], float]:
    """Draw lines, points and levels between two axes."""
    top = 70.0 if chart.title else 44.0
    bottom = top + PLANE
    share_x, share_y = _share(chart.x), _share(y_axis)

    def across(x: float) -> float:
        return EDGE + share_x(x) * (100 - 2 * EDGE) / 100

    def down(y: float) -> float:
        return bottom - share_y(y) / 100 * PLANE

    parts = [*_title(chart.title), _text(0, top - 26, y_axis.label, faint=True)]
    # Where the lines are not: an error falls to the right, and the names of steps stand there.
    place, anchor = (
        (0, "start") if any(isinstance(m, ChartLine) and m.stepped for m in chart.marks) else (100, "end")
    )
    for value, said in y_axis.ticks:
        parts.append(_line(0, 100, down(value), down(value), 1, opacity=0.15))
        parts.append(_text(place, down(value) - 4, said, anchor=anchor, faint=True))
    for value, said in chart.x.ticks:
        x = across(value)
        parts.append(_text(x, bottom + 20, said, anchor=_side(x), faint=True))
    for mark in chart.marks:
        if isinstance(mark, ChartLine):
            parts += _curve(mark, across, down, bottom)
        elif isinstance(mark, Level):
            y = down(mark.y)
            parts.append(_line(0, 100, y, y, 1.5, dashed=True))
            parts.append(_text(0, y - 6, mark.said))
    # Points last: nothing lies over what is named.
    for mark in chart.marks:
        if isinstance(mark, Point):
            x, y = across(mark.x), down(mark.y)
            parts.append(
                f'<svg aria-hidden="true" x="{x:.2f}%" y="{y:.1f}" overflow="visible"><path class="record" '
                'd="M0 -8 L8 0 L0 8 L-8 0 Z"/></svg>'
            )
            parts.append(_text(x, y - 14, mark.said, anchor="start" if x < 70 else "end", weight=600))
    parts.append(_text(100, bottom + 42, chart.x.label, anchor="end", faint=True))
    return parts, bottom + 50


def _curve(
    line: ChartLine, across: Callable[[float], float], down: Callable[[float], float], bottom: float
) -> Iterator[str]:
    places = [(across(x), down(y)) for x, y in line.points]
    corners: list[tuple[float, float]] = []
    for x, y in places:
        if line.stepped and corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    listed = " ".join(f"{x * SIDES / 100:.1f},{y:.1f}" for x, y in corners)
    height = f"{bottom:.0f}"
    # A drawing of its own, stretched across: points of a line cannot be percentages.
    yield (
        f'<svg aria-hidden="true" x="0" y="0" width="100%" height="{height}" viewBox="0 0 {SIDES} {height}" '
        'preserveAspectRatio="none" overflow="visible">'
    )
    if line.filled and corners:
        first, last = (f"{corners[place][0] * SIDES / 100:.1f},{height}" for place in (0, -1))
        yield (
            f'<polygon class="accent" points="{first} {listed} {last}" fill="{ACCENT}" fill-opacity="0.15"/>'
        )
    stroke, kind = ("currentColor", "limit") if line.dashed else (ACCENT, "accent-line")
    dashes = ' stroke-dasharray="6 5" stroke-opacity="0.7"' if line.dashed else ""
    yield (
        f'<polyline class="{kind}" points="{listed}" fill="none" stroke="{stroke}" '
        f'stroke-width="{1.5 if line.dashed else 2.5}" stroke-linejoin="round" '
        f'vector-effect="non-scaling-stroke"{dashes}/></svg>'
    )
    if line.dots:
        for x, y in places:
            yield f'<circle class="accent" cx="{x:.2f}%" cy="{y:.1f}" r="4" fill="{ACCENT}"/>'
    if line.name and corners:
        x, y = places[-1]
        # Within its area if there is room, so that two lines at one height have names on either side.
        below = line.filled and y < bottom - 30
        yield _text(x, y + 20 if below else y - 8, line.name, anchor=_side(x), faint=True)


def _wide(first: float, last: float, *, mark: float) -> float:
    """Return a width that can be seen of whatever is not 0."""
    return max(last - first, 0.3) if mark else 0.0


def _title(title: str) -> Iterator[str]:
    if title:
        yield _text(0, 18, title, weight=600, size=15)


def _share(axis: ChartAxis) -> Callable[[float], float]:
    """Return where a value lies on an axis, in per cent."""
    log = axis.scale == "powers"
    low, high = (math.log10(axis.low), math.log10(axis.high)) if log else (axis.low, axis.high)

    def place(value: float) -> float:
        if log and value <= 0:
            return 0.0
        at = math.log10(value) if log else value
        return 100 * min(max((at - low) / (high - low), 0.0), 1.0) if high > low else 50.0

    return place


def _side(place: float) -> str:
    return "start" if place < 25 else "end" if place > 75 else "middle"


def _line(
    x1: float, x2: float, y1: float, y2: float, width: float, *, opacity: float = 1, dashed: bool = False
) -> str:
    more = (' stroke-dasharray="6 5"' if dashed else "") + (
        f' stroke-opacity="{opacity}"' if opacity < 1 else ""
    )
    return (
        f'<line x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-width="{width}"{more}/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    weight: int = 400,
    size: int | None = None,
    faint: bool = False,
) -> str:
    more = "" if weight == 400 else f' font-weight="{weight}"'
    more += "" if size is None else f' font-size="{size}"'
    more += ' fill-opacity="0.75" font-size="13"' if faint else ""
    return f'<text x="{x:.2f}%" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(text)}</text>'

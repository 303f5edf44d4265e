# SPDX-License-Identifier: Apache-2.0
"""An explanation as a picture: a group's middle half, and the record. Released figures only."""

from __future__ import annotations

import html
from collections.abc import Callable

from anonymaly.questions.explain.everyone.value import Explanation, Group, shown_value

WIDTH, HEIGHT, EDGE = 520, 64, 24
CLOSE = 70  # pixels between two labels, below which they are written as one
COLUMNS = 60  # of the picture in a terminal
BOX, RECORD, INK = "#0072b2", "#d55e00", "#2b2b2b"  # colour-blind readers can distinguish them too


def in_terminal(value: Explanation) -> str:
    """Return the words, with a strip below each group whose quartiles are known.

    Examples
    --------
    >>> from anonymaly.questions.explain.everyone.value import GroupPart
    >>> job = GroupPart("job", "values", ["Nurse"])
    >>> print(in_terminal(Explanation("pay", 400, [Group([job], 2310, 12, [100, 150, 200])], 9, True)))
    stands out in pay among records with job = Nurse
    about 2,310 records; about half of them between 100 and 200; this one has 400
    100 [=========|=========]                                      * 400
    """
    if not value.groups:
        return str(value)
    lines = []
    for group in value.groups:
        lines += value.lines(group)
        if group.quartiles is not None and value.record_value is not None:
            lines.append(strip(value.record_value, group.quartiles))
    return "\n".join(lines)


def strip(record: float, quartiles: tuple[float, float, float]) -> str:
    """Draw the middle half as a box, the median in it, and the record as a star."""
    low, high = min(record, quartiles[0]), max(record, quartiles[2])
    line = [" "] * COLUMNS
    first, middle, last, place = (
        round((COLUMNS - 1) * _share(number, low, high)) for number in (*quartiles, record)
    )
    line[first : last + 1] = ["="] * (last - first + 1)
    line[first], line[last] = "[", "]"
    line[middle] = "|"
    line[place] = "*"
    return f"{shown_value(low)} {''.join(line)} {shown_value(high)}"


def _share(number: float, low: float, high: float) -> float:
    return (number - low) / (high - low) if high > low else 0.0


def to_svg(value: Explanation, group: Group) -> str:
    """Return a box of a group's middle half with the record marked; nothing, if either is not known.

    Examples
    --------
    >>> from anonymaly.questions.explain.everyone.value import GroupPart
    >>> group = Group([GroupPart("job", "values", ["Nurse"])], 2310, 12, [100, 150, 200])
    >>> svg = to_svg(Explanation("pay", 400, [group], 9, True), group)
    >>> svg.startswith("<svg"), svg.count("<rect"), svg.count("<circle")
    (True, 1, 1)
    """
    own = value.record_value
    if group.quartiles is None or own is None:
        return ""
    low, high = min(own, group.quartiles[0]), max(own, group.quartiles[2])

    def across(number: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * _share(number, low, high)

    first, middle, last = (across(number) for number in group.quartiles)
    record, said = across(own), html.escape(value.reason(group))
    marks = [
        f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="24" y2="24" stroke="{INK}" stroke-width="0.5"/>',
        f'<rect x="{first:.1f}" y="12" width="{max(last - first, 1):.1f}" height="24" fill="{BOX}" '
        f'fill-opacity="0.2" stroke="{BOX}"/>',
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="12" y2="36" stroke="{BOX}" stroke-width="3"/>',
        f'<circle cx="{record:.1f}" cy="24" r="6" fill="{RECORD}"/>',
        *_labels((group.quartiles[0], group.quartiles[2]), own, across),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}" '
        f'font-family="sans-serif" font-size="11">{"".join(marks)}</svg>'
    )


def _labels(box: tuple[float, float], record: float, across: Callable[[float], float]) -> list[str]:
    """Write the ends of the box and the record's value below them."""
    low, high = box
    ends = [(low, shown_value(low), BOX), (high, shown_value(high), BOX)]
    if across(high) - across(low) < CLOSE:  # or one would be written over the other
        ends = [((low + high) / 2, f"{shown_value(low)} to {shown_value(high)}", BOX)]
    found = []
    for number, text, colour in (*ends, (record, shown_value(record), RECORD)):
        place = across(number)
        anchor = "start" if place < WIDTH / 4 else "end" if place > 3 * WIDTH / 4 else "middle"
        found.append(f'<text x="{place:.1f}" y="54" text-anchor="{anchor}" fill="{colour}">{text}</text>')
    return found


def to_html(value: Explanation) -> str:
    """Return the words and the pictures for a notebook or a report."""
    if not value.groups:
        return f"<div>{html.escape(str(value))}</div>"
    parts = [
        f"<p>{'<br>'.join(map(html.escape, value.lines(group)))}</p>{to_svg(value, group)}"
        for group in value.groups
    ]
    return f"<div>{''.join(parts)}</div>"

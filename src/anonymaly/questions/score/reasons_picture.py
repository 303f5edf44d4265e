# SPDX-License-Identifier: Apache-2.0
"""A picture of reasons: the largest parts of each record's score as bars, in SVG without any package."""

from __future__ import annotations

import html
from collections.abc import Sequence

BAR, LINE, LABEL, WIDTH = 14, 18, 190, 640
COLOUR, INK, FAINT = "#0072b2", "#2b2b2b", "#e4e4e4"


def picture(records: Sequence[tuple[str, float, Sequence[tuple[str, float]]]]) -> str:
    """Return an SVG with a group of bars for each record: a title, its score, and its named parts.

    Examples
    --------
    >>> svg = picture([("row 0", 4.2, [("age", 3.0), ("age with ward", 1.2)])])
    >>> svg.count("<rect"), "age with ward" in svg, svg.startswith("<svg")
    (2, True, True)
    """
    largest = max((part for _, _, parts in records for _, part in parts), default=1.0) or 1.0
    lines: list[str] = []
    top = 8
    for title, score, parts in records:
        lines.append(_text(4, top + BAR, f"{title}, score {score:.2f}", weight="bold"))
        top += LINE + 2
        for name, part in parts:
            width = (WIDTH - LABEL - 70) * part / largest
            lines.append(_text(LABEL - 6, top + BAR - 3, name, anchor="end"))
            lines.append(
                f'<rect x="{LABEL}" y="{top}" width="{max(width, 1):.1f}" height="{BAR}" fill="{COLOUR}"/>'
            )
            lines.append(_text(LABEL + width + 6, top + BAR - 3, f"+{part:.2f}"))
            top += LINE
        lines.append(
            f'<line x1="4" x2="{WIDTH - 4}" y1="{top + 4}" y2="{top + 4}" stroke="{FAINT}" stroke-width="1"/>'
        )
        top += 12
    size = f'width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}"'
    title = "<title>The largest parts of each record's score</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}{"".join(lines)}</svg>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-family="sans-serif" font-size="12" '
        f'font-weight="{weight}" fill="{INK}">{html.escape(shown)}</text>'
    )

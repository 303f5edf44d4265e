# SPDX-License-Identifier: Apache-2.0
"""The error over ε as a picture: bars of text for a terminal, and SVG without any package."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

LONGEST = 30  # characters of a bar
WIDTH, HEIGHT, LEFT, BELOW = 520, 260, 70, 46
LINE, INK, FAINT, MARK = "#0072b2", "#2b2b2b", "#e4e4e4", "#d55e00"  # as in all pictures


def bar(error: float, errors: Sequence[float]) -> str:
    """Return a bar as long as the error is among all of them, on a scale of powers.

    Examples
    --------
    >>> [len(bar(error, [1, 10, 100])) for error in (1, 10, 100)]
    [1, 15, 30]
    >>> bar(0, [0, 10])
    ''
    """
    if error <= 0:
        return ""
    low, high = min(item for item in errors if item > 0), max(errors)
    part = math.log(error / low) / math.log(high / low) if high > low else 1.0
    return "█" * (1 + round((LONGEST - 1) * part))


def picture(points: Sequence[tuple[float, float]], wanted: float | None, *, label: str) -> str:
    """Return an SVG of errors over ε, both by powers of ten; errors of 0 are at the lower edge.

    Examples
    --------
    >>> svg = picture([(0.1, 30), (1, 3)], 10, label="error (records)")
    >>> svg.startswith("<svg"), svg.count("<circle"), "error (records)" in svg
    (True, 2, True)
    """
    above = [error for _, error in points if error > 0] + ([wanted] if wanted else [])
    least, most = (min(above), max(above)) if above else (1.0, 1.0)
    lowest, highest = math.floor(math.log10(least)), math.ceil(math.log10(most))
    highest = max(highest, lowest + 1)
    first, last = math.log10(points[0][0]), math.log10(points[-1][0])

    def across(epsilon: float) -> float:
        part = (math.log10(epsilon) - first) / (last - first) if last > first else 0.5
        return LEFT + part * (WIDTH - LEFT - 20)

    def down(error: float) -> float:
        part = (math.log10(error) - lowest) / (highest - lowest) if error > 0 else 0.0
        return HEIGHT - BELOW - part * (HEIGHT - BELOW - 20)

    places = [(across(epsilon), down(error)) for epsilon, error in points]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="{INK}">'
    ]
    for power in range(lowest, highest + 1, max(1, (highest - lowest) // 5)):
        y = down(10.0**power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - 20}" y2="{y:.1f}" stroke="{FAINT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    parts += [
        f'<text x="{across(epsilon):.1f}" y="{HEIGHT - BELOW + 18}" text-anchor="middle">{epsilon:g}</text>'
        for epsilon, _ in (points[0], points[len(points) // 2], points[-1])
    ]
    if wanted:
        y = down(wanted)
        parts.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - 20}" y2="{y:.1f}" '
            f'stroke="{MARK}" stroke-dasharray="4"/>'
        )
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{LINE}"/>' for x, y in places]
    parts.append(f'<text x="{LEFT}" y="14">{html.escape(label)}</text>')
    parts.append(f'<text x="{WIDTH - 20}" y="{HEIGHT - 8}" text-anchor="end">ε</text></svg>')
    return "".join(parts)

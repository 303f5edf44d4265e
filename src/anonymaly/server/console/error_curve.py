# SPDX-License-Identifier: Apache-2.0
"""The expected error over ε as a picture: classes instead of colours, so that it follows light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BELOW = 420, 230, 58, 16, 26, 40


def error_curve(points: Sequence[tuple[float, float]], here: float, unit: str) -> Markup:
    """Draw errors over ε, both by powers of ten, and mark the question's own ε.

    Examples
    --------
    >>> svg = error_curve([(0.1, 30), (1, 3)], 0.1, "records")
    >>> svg.count("<circle"), 'class="here"' in svg, "error (records)" in svg
    (2, True, True)
    """
    errors = [error for _, error in points if error > 0] or [1.0]
    lowest, highest = math.floor(math.log10(min(errors))), math.ceil(math.log10(max(errors)))
    highest = max(highest, lowest + 1)
    first, last = math.log10(points[0][0]), math.log10(points[-1][0])

    def across(epsilon: float) -> float:
        part = (math.log10(epsilon) - first) / (last - first) if last > first else 0.5
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def down(error: float) -> float:
        part = (math.log10(error) - lowest) / (highest - lowest) if error > 0 else 0.0
        return HEIGHT - BELOW - part * (HEIGHT - BELOW - TOP)

    marks = [
        Markup('<line class="rule" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/><text x="{3}" y="{4:.1f}" '
               'text-anchor="end">{5:g}</text>').format(
            LEFT, WIDTH - RIGHT, down(10.0**power), LEFT - 8, down(10.0**power) + 5, 10.0**power
        )
        for power in range(lowest, highest + 1, max(1, (highest - lowest) // 4))
    ]  # fmt: skip
    marks += [
        Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{:g}</text>').format(
            across(epsilon), HEIGHT - BELOW + 20, anchor, epsilon
        )
        for epsilon, anchor in ((points[0][0], "start"), (points[-1][0], "end"))
    ]
    places = [(epsilon, across(epsilon), down(error)) for epsilon, error in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for _, x, y in places)
    marks.append(Markup('<polyline points="{}"/>').format(line))
    for epsilon, x, y in places:
        own = math.isclose(epsilon, here, rel_tol=1e-9)
        if own:
            marks.append(
                Markup(
                    '<text class="here" x="{:.1f}" y="{:.1f}" text-anchor="middle">ε = {:g}</text>'
                ).format(min(max(x, LEFT + 30), WIDTH - 45), y - 12, epsilon)
            )
        marks.append(
            Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(
                "here" if own else "dot", x, y, 6 if own else 3.5
            )
        )
    marks.append(Markup('<text x="{}" y="15">error ({})</text>').format(LEFT, unit))
    marks.append(Markup('<text x="{}" y="{}" text-anchor="end">ε</text>').format(WIDTH - RIGHT, HEIGHT - 4))
    return Markup('<svg class="curve" viewBox="0 0 {} {}" aria-hidden="true">{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(marks)
    )

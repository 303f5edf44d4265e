# SPDX-License-Identifier: Apache-2.0
"""The error over ε as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from anonymaly.pictures.chart import Chart, ChartLine, Level, Mark, Point
from anonymaly.pictures.ticks import powers


def error_chart(
    points: Sequence[tuple[float, float]], here: float, unit: str, wanted: float | None = None
) -> Chart:
    """Return errors over ε, both by powers of ten, with the question's own ε marked.

    Examples
    --------
    >>> chart = error_chart([(0.1, 30), (1, 3)], 0.1, "records", wanted=10)
    >>> [type(mark).__name__ for mark in chart.marks], chart.y.label
    (['ChartLine', 'Level', 'Point'], 'error (records)')
    """
    errors = [error for _, error in points] + ([wanted] if wanted else [])
    marks: list[Mark] = [ChartLine("", tuple(points), dots=True)]
    if wanted:
        marks.append(Level(wanted, f"wanted: at most {wanted:g}"))
    marks += [Point(at, error, f"ε = {at:g}") for at, error in points if abs(at - here) <= 1e-9 * here]
    said = "; ".join(f"{error:.3g} at ε = {at:g}" for at, error in points)
    return Chart(
        title="Expected error by ε",
        words=f"Expected error in {unit}: {said}.",
        x=powers("ε", "", [at for at, _ in points], ends=True),
        marks=tuple(marks),
        y=powers("error", unit, errors),
    )

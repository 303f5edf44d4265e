# SPDX-License-Identifier: Apache-2.0
"""The expected error over ε as a picture of the console."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from anonymaly.ask.plan_picture import error_chart


def error_curve(points: Sequence[tuple[float, float]], here: float, unit: str) -> Markup:
    """Draw errors over ε, both by powers of ten, and mark the question's own ε.

    Examples
    --------
    >>> svg = error_curve([(0.1, 30), (1, 3)], 0.1, "records")
    >>> svg.count("<circle"), 'class="record"' in svg, "error (records)" in svg
    (2, True, True)
    """
    return Markup(error_chart(points, here, unit).to_svg())  # noqa: S704  (escaped where it is drawn)

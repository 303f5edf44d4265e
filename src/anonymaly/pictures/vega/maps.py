# SPDX-License-Identifier: Apache-2.0
"""Pictures of a plane in coloured squares, and of errors that span powers of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from anonymaly.pictures.vega.charts import Row, in_panels, series_colours, styled, titled

SQUARES = 56  # on each side of a map
LEAST = 1e-12  # errors below are drawn as this one


Floats = npt.NDArray[np.float64]  # not from `core`: pictures import nothing else of the package


def squares(x: Floats, y: Floats, value: Floats | None, panel: str) -> list[dict[str, Any]]:
    """Return the mean value of the points in each square of the plane, or their number.

    Examples
    --------
    >>> places = np.array([0.0, 0.1, 10.0])
    >>> found = squares(places, places, np.array([1.0, 3.0, 5.0]), "a")
    >>> [row["value"] for row in found]
    [2.0, 5.0]
    """
    low = float(min(x.min(), y.min()))
    side = (float(max(x.max(), y.max())) - low) / SQUARES or 1.0
    across = np.minimum((x - low) // side, SQUARES - 1).astype(np.int64)
    up = np.minimum((y - low) // side, SQUARES - 1).astype(np.int64)
    cells, place = np.unique(across * SQUARES + up, return_inverse=True)
    number = np.bincount(place)
    shown = number if value is None else np.bincount(place, value) / number
    return [
        {
            "panel": panel, "value": float(mean),
            "x": low + side * (cell // SQUARES), "x2": low + side * (cell // SQUARES + 1),
            "y": low + side * (cell % SQUARES), "y2": low + side * (cell % SQUARES + 1),
        }
        for cell, mean in zip(cells.tolist(), shown.tolist(), strict=True)
    ]  # fmt: skip


def maps(
    rows: Sequence[Row],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    label: str,
    logarithmic: bool = False,
) -> alt.FacetChart:
    """Return planes side by side, their squares coloured by value on one scale.

    Parameters
    ----------
    rows
        What ``squares`` returns, for one or several panels.
    title, subtitle, x_label, y_label, label
        What the picture, its axes and its colours say.
    logarithmic
        Whether values span powers of ten.

    Examples
    --------
    >>> rows = squares(np.array([0.0, 1.0]), np.array([0.0, 1.0]), None, "records")
    >>> maps(rows, title="", subtitle="", x_label="x", y_label="y", label="records").spec.width
    250
    """
    scale = alt.Scale(scheme="viridis", type="log" if logarithmic else "linear", zero=False)
    colour = alt.Color(
        "value:Q",
        scale=scale,
        legend=alt.Legend(title=label, format="~g", gradientLength=200),
    )
    chart = (
        alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X(
                "x:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title=x_label, grid=False, tickCount=5)
            ),
            x2="x2:Q",
            y=alt.Y(
                "y:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title=y_label, grid=False, tickCount=5)
            ),
            y2="y2:Q",
            color=colour,
        )
        .properties(width=250, height=250)
    )
    return in_panels(chart, rows, title, subtitle)


def error_boxes(
    rows: Sequence[Row], *, title: str, subtitle: str, x_label: str, y_label: str, order: Sequence[str]
) -> alt.FacetChart:
    """Return boxes from quartile to quartile with their median and range, on a scale of powers of ten.

    Parameters
    ----------
    rows
        ``{"panel": …, "x": …, "series": …, "least": …, "q1": …, "median": …, "q3": …, "most": …}``.
    title, subtitle, x_label, y_label
        What the picture says.
    order
        The series, in the order of their colours.

    Examples
    --------
    >>> parts = {"least": 0.01, "q1": 0.02, "median": 0.03, "q3": 0.1, "most": 0.4}
    >>> row = {"panel": "a", "x": "1", "series": "SP", **parts}
    >>> len(error_boxes([row], title="", subtitle="", x_label="ε", y_label="error", order=["SP"]).spec.layer)
    3
    """
    raised = [
        {name: max(LEAST, item) if isinstance(item, float) else item for name, item in row.items()}
        for row in rows
    ]
    least = min(row["least"] for row in rows)
    groups = list(dict.fromkeys(row["x"] for row in rows))
    base = alt.Chart().encode(
        x=alt.X("x:N", sort=groups, axis=alt.Axis(title=x_label, labelAngle=0, ticks=False)),
        xOffset=alt.XOffset("series:N", sort=list(order)),
        color=series_colours(order),
    )
    whole = base.mark_rule(strokeWidth=1.2).encode(y=_errors("least:Q", y_label, least), y2="most:Q")
    box = base.mark_bar(size=18, fillOpacity=0.35, strokeWidth=1.2).encode(
        y=_errors("q1:Q", y_label, least), y2="q3:Q"
    )
    middle = base.mark_tick(size=18, thickness=3).encode(y=_errors("median:Q", y_label, least))
    chart = alt.layer(whole, box, middle, data=alt.InlineData(values=raised)).properties(
        width=210, height=190
    )
    return in_panels(chart, rows, title, subtitle)


def error_lines(
    rows: Sequence[Row], *, title: str, subtitle: str, x_label: str, y_label: str, order: Sequence[str]
) -> alt.FacetChart:
    """Return lines in panels with axes of their own along x, on a scale of powers of ten.

    Parameters
    ----------
    rows
        ``{"panel": …, "series": …, "x": …, "y": …}`` for each point.
    title, subtitle, x_label, y_label
        What the picture says.
    order
        The series, in the order of their colours.

    Examples
    --------
    >>> rows = [{"panel": "a", "series": "SP", "x": 1, "y": 0.1}]
    >>> error_lines(rows, title="", subtitle="", x_label="rank", y_label="error", order=["SP"]).spec.width
    230
    """
    raised = [{**row, "y": max(LEAST, row["y"])} for row in rows]
    chart = (
        alt.Chart(alt.InlineData(values=raised))
        .mark_line(strokeWidth=2, interpolate="step-after")
        .encode(
            x=alt.X("x:Q", axis=alt.Axis(title=x_label, tickCount=4, grid=False)),
            y=_errors("y:Q", y_label, min(row["y"] for row in rows)),
            color=series_colours(order),
        )
        .properties(width=230, height=180)
    )
    drawn: alt.FacetChart = in_panels(chart, rows, title, subtitle).resolve_scale(x="independent")
    return drawn


def error_dots(
    rows: Sequence[Row], *, title: str, subtitle: str, y_label: str, order: Sequence[str]
) -> alt.LayerChart:
    """Return a dot for each series above each name, with its figure, on a scale of powers of ten.

    Parameters
    ----------
    rows
        ``{"x": …, "series": …, "y": …}`` for each dot.
    title, subtitle, y_label
        What the picture says.
    order
        The series, in the order of their colours.

    Examples
    --------
    >>> rows = [{"x": "a", "series": "SP", "y": 0.1}]
    >>> len(error_dots(rows, title="", subtitle="", y_label="", order=["SP"]).layer)
    2
    """
    names = list(dict.fromkeys(row["x"] for row in rows))
    base = alt.Chart(alt.InlineData(values=[dict(row) for row in rows])).encode(
        x=alt.X("x:N", sort=names, axis=alt.Axis(title=None, labelAngle=0, ticks=False)),
        xOffset=alt.XOffset("series:N", sort=list(order)),
        y=_errors("y:Q", y_label, min(row["y"] for row in rows)),
    )
    dots = base.mark_point(filled=True, size=110, opacity=1).encode(color=series_colours(order))
    figures = base.mark_text(dy=-14, fontSize=10).encode(text=alt.Text("y:Q", format=".1e"))
    chart = alt.layer(dots, figures).properties(width=620, height=240, title=titled(title, subtitle))
    finished: alt.LayerChart = styled(chart)
    return finished


def _errors(field: str, label: str, least: float) -> alt.Y:
    """Return an axis for errors from the power of ten below the least of them up to 1."""
    lowest = math.floor(math.log10(max(LEAST, least)))
    ticks = [10.0**power for power in range(lowest, 1, 1 if lowest > -7 else 2)]
    return alt.Y(
        field,
        scale=alt.Scale(type="log", domain=[10.0**lowest, 1]),
        axis=alt.Axis(title=label, values=ticks, format=".0e"),
    )

# SPDX-License-Identifier: Apache-2.0
"""A picture of values that span powers of ten: points in a grid of panels, with lines if x has an order."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from anonymaly.pictures.vega.charts import INK, Row, finish_panels, series_colours


def levels(
    rows: Sequence[Row],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    order: Sequence[str],
    x_order: Sequence[str],
    columns: Sequence[str],
    joined: bool = True,
    width: int = 230,
) -> alt.FacetChart:
    """Return a panel for each ``panel`` of the rows, with a logarithmic axis and a line at 1.

    Parameters
    ----------
    rows
        ``{"panel": …, "series": …, "x": …, "value": …}`` for each point; values are positive.
    title, subtitle, x_label, y_label
        What the picture says.
    order, x_order, columns
        The series in the order of their colours, the places along x, and the panels from left to right.
    joined
        Whether a line joins the points of a series.
    width
        Of a panel.

    Examples
    --------
    >>> rows = [{"panel": "Close", "series": "auto", "x": "0.5", "value": 1.2}]
    >>> chart = levels(rows, title="", subtitle="", x_label="", y_label="regret", order=["auto"],
    ...                x_order=["0.5"], columns=["Close"])
    >>> len(chart.spec.layer)
    3
    """
    band = alt.Undefined if joined else alt.Scale(paddingInner=0.4, paddingOuter=0.2)
    angle = 0 if joined else -40
    x = alt.X("x:N", sort=list(x_order), scale=band, axis=alt.Axis(title=x_label, labelAngle=angle))
    ticks = [step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5)]
    axis = alt.Axis(title=y_label, format="~g", values=ticks)
    y = alt.Y("value:Q", scale=alt.Scale(type="log", nice=False), axis=axis)
    base = alt.Chart().encode(x=x, y=y, color=series_colours(order))
    one = alt.Chart().mark_rule(strokeDash=[4, 3], color=INK).encode(y=alt.datum(1))
    lines = base.mark_line(strokeWidth=2, opacity=1 if joined else 0)
    points = base.mark_point(filled=True, size=46, opacity=1)
    if not joined:
        # Side by side, so that equal ones are all seen.
        points = points.encode(xOffset=alt.XOffset("series:N", sort=list(order)))
    data = alt.InlineData(values=[dict(row) for row in rows])
    chart = alt.layer(one, lines, points, data=data).properties(width=width, height=210)
    faceted = chart.facet(column=alt.Column("panel:N", sort=list(columns), title=None))
    return finish_panels(faceted, title, subtitle)

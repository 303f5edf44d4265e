# SPDX-License-Identifier: Apache-2.0
"""A picture of lines through means, one panel for each table, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from anonymaly.pictures.vega.charts import Row, in_panels, series_colours


def panels(
    rows: Sequence[Row],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    order: Sequence[str],
    logarithmic: bool = False,
    columns: int = 5,
) -> alt.FacetChart:
    """Return a panel of lines for each ``panel`` of the rows, all with the same axes.

    Parameters
    ----------
    rows
        ``{"panel": …, "series": …, "x": …, "mean": …, "low": …, "high": …}`` for each point; where series
        overlap, the last one is seen.
    title, subtitle, x_label, y_label
        What the picture says.
    order
        The series, in the order of their colours.
    logarithmic
        Whether x spans powers of ten.
    columns
        Panels in a line.

    Examples
    --------
    >>> rows = [{"panel": "Pima", "series": "ours", "x": 0.1, "mean": 0.8, "low": 0.7, "high": 0.9}]
    >>> chart = panels(rows, title="", subtitle="", x_label="ε", y_label="AUROC", order=["ours"])
    >>> len(chart.spec.layer)
    3
    """
    ticks = sorted({row["x"] for row in rows})
    scale = alt.Scale(type="log", nice=False, padding=8) if logarithmic else alt.Scale(zero=False, padding=8)
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title=x_label, values=ticks, format="~g", labelOverlap=True))
    y = alt.Y("mean:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title=y_label, format=".1f"))
    colour = series_colours(order)
    base = alt.Chart().encode(x=x, color=colour)
    lines = base.mark_line(strokeWidth=2).encode(y=y)
    intervals = base.mark_rule(strokeWidth=1.2, opacity=0.7).encode(y=alt.Y("low:Q"), y2="high:Q")
    points = base.mark_point(filled=True, size=28, opacity=1).encode(y=y)
    data = alt.InlineData(values=[dict(row) for row in rows])
    chart = alt.layer(lines, intervals, points, data=data).properties(width=190, height=190)
    return in_panels(chart, rows, title, subtitle, columns)

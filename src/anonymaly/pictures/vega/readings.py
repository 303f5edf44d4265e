# SPDX-License-Identifier: Apache-2.0
"""A picture of readings in the order they came, as measured and as perturbed."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from anonymaly.pictures.vega.charts import OURS, PAPER, Row, finish_panels

KINDS = {
    "ordinary": "#b9b9b9",
    "ordinary, shown": "#56b4e9",
    "outlier, found": OURS,
    "outlier, missed": PAPER,
}


def readings_before_and_after(
    rows: Sequence[Row], *, title: str, subtitle: str, y_label: str, panels: Sequence[str]
) -> alt.FacetChart:
    """Return one panel of points above another, coloured by what became of each reading.

    Parameters
    ----------
    rows
        ``{"panel": …, "x": …, "y": …, "what": …}`` for each point.
    title, subtitle, y_label
        What the picture says.
    panels
        From top to bottom.

    Examples
    --------
    >>> rows = [{"panel": "before", "x": 0, "y": 20.0, "what": "ordinary"}]
    >>> readings_before_and_after(rows, title="", subtitle="", y_label="°C", panels=["before"]).spec.height
    190
    """
    colours = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    points = (
        alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))
        .mark_circle(size=22, opacity=0.75)
        .encode(
            x=alt.X("x:Q", axis=alt.Axis(title="reading of the window", grid=False)),
            y=alt.Y("y:Q", axis=alt.Axis(title=y_label)),
            color=alt.Color(
                "what:N",
                scale=colours,
                legend=alt.Legend(title=None, orient="top", labelLimit=0, symbolOpacity=1),
            ),
        )
        .properties(width=620, height=190)
    )
    chart = points.facet(row=alt.Row("panel:N", sort=list(panels), title=None)).resolve_scale(y="independent")
    return finish_panels(chart, title, subtitle)

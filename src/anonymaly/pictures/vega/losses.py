# SPDX-License-Identifier: Apache-2.0
"""A picture of what was seen of each promise: bars for the part of ε that is lost, a line at all of it."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import altair as alt

from anonymaly.pictures.vega.charts import INK, OTHERS, OURS, PAPER, WIDTH, Row, room_for, styled, titled

LINE = 17  # the height of a bar and its gap


def losses(rows: Sequence[Row], *, title: str, subtitle: str, label: str, power: float) -> alt.LayerChart:
    """Return a bar for each case, in their order.

    Parameters
    ----------
    rows
        ``{"group": …, "value": …, "tight": …}`` for each bar: the part of what was claimed, and whether all
        of it is known to be lost. A value above 1 is drawn red.
    title, subtitle, label
        Above the picture, and along its axis.
    power
        The part that must be seen where all is known to be lost: a dashed line.

    Examples
    --------
    >>> rows = [{"group": "count", "value": 0.9, "tight": True}]
    >>> len(losses(rows, title="", subtitle="", label="part of ε", power=0.85).layer)
    4
    """
    order = [row["group"] for row in rows]
    data = alt.InlineData(values=[{**row, "colour": _colour(row)} for row in rows])
    group = alt.Y(
        "group:N",
        sort=order,
        title=None,
        axis=alt.Axis(domain=False, ticks=False, labelLimit=0, labelPadding=8, labelFontSize=11),
    )
    largest = max([1.1, *(1.1 * row["value"] for row in rows)])
    scale = alt.Scale(domain=[0, largest], nice=False)
    axis = alt.Axis(title=label, format=".0%", tickCount=6)
    colour = alt.Color("colour:N", scale=None)
    base = alt.Chart(data).encode(y=group)
    bars = base.mark_bar(size=LINE - 5).encode(x=alt.X("value:Q", scale=scale, axis=axis), color=colour)
    texts = base.mark_text(align="left", dx=4, color=INK, fontSize=10).encode(
        x=alt.X("value:Q", scale=scale, axis=axis), text=alt.Text("value:Q", format=".0%")
    )
    all_of_it = alt.Chart().mark_rule(color=INK).encode(x=alt.datum(1))
    enough = alt.Chart().mark_rule(strokeDash=[4, 3], color=INK).encode(x=alt.datum(power))
    chart = alt.layer(bars, enough, all_of_it, texts).properties(
        width=WIDTH,
        height=LINE * len(rows),
        title=titled(title, subtitle),
        padding=room_for(order),
    )
    finished: alt.LayerChart = styled(chart)
    return finished


def _colour(row: Row) -> str:
    if row["value"] > 1:
        return PAPER
    return OURS if row["tight"] else OTHERS[2]


def as_svg(chart: alt.TopLevelMixin) -> str:
    """Return a picture as the text of an SVG, to be put into a page.

    Examples
    --------
    >>> rows = [{"group": "count", "value": 0.9, "tight": True}]
    >>> as_svg(losses(rows, title="", subtitle="", label="part of ε", power=0.85)).startswith("<svg")
    True
    """
    text = StringIO()
    chart.save(text, format="svg")
    return text.getvalue()

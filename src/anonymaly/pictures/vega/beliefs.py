# SPDX-License-Identifier: Apache-2.0
"""A picture of beliefs from 0 to 1: bars, with diamonds for the largest that is allowed and a prior."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from anonymaly.pictures.vega.charts import INK, OURS, PAPER, WIDTH, Row, room_for, styled, titled


def beliefs(rows: Sequence[Row], *, title: str, subtitle: str, label: str, before: float) -> alt.LayerChart:
    """Return a bar for each group, in their order.

    Parameters
    ----------
    rows
        ``{"group": …, "value": …, "bound": …}`` for each bar; a bound of 1 is none, and drawn red.
    title, subtitle, label
        Above the picture, and along its axis.
    before
        The belief before the release.

    Examples
    --------
    >>> rows = [{"group": "sample", "value": 0.4, "bound": 0.45}]
    >>> len(beliefs(rows, title="", subtitle="", label="belief", before=0.2).layer)
    4
    """
    order = [row["group"] for row in rows]
    data = alt.InlineData(values=[{**row, "unlimited": row["bound"] >= 1} for row in rows])
    group = alt.Y(
        "group:N",
        sort=order,
        title=None,
        axis=alt.Axis(domain=False, ticks=False, labelLimit=0, labelPadding=8),
    )
    scale = alt.Scale(domain=[0, 1.1], nice=False)
    axis = alt.Axis(title=label, format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    colour = alt.condition("datum.unlimited", alt.value(PAPER), alt.value(OURS))
    base = alt.Chart(data).encode(y=group)
    bars = base.mark_bar(size=18).encode(x=alt.X("value:Q", scale=scale, axis=axis), color=colour)
    texts = base.mark_text(align="left", dx=12, color=INK, fontSize=12).encode(
        x=alt.X("value:Q", scale=scale, axis=axis), text=alt.Text("value:Q", format=".0%")
    )
    allowed = (
        base.transform_filter("!datum.unlimited")
        .mark_point(shape="diamond", size=90, filled=True, opacity=1, color=INK)
        .encode(x=alt.X("bound:Q", scale=scale, axis=axis))
    )
    earlier = alt.Chart().mark_rule(strokeDash=[4, 3], color=INK).encode(x=alt.datum(before))
    chart = alt.layer(bars, earlier, allowed, texts).properties(
        width=WIDTH, height=36 * len(order), title=titled(title, subtitle), padding=room_for(order)
    )
    finished: alt.LayerChart = styled(chart)
    return finished

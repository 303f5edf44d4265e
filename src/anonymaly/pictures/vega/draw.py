# SPDX-License-Identifier: Apache-2.0
"""Any `Chart` by altair, for whoever wants to change it further."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

import altair as alt

from anonymaly.pictures.chart import Bar, Box, Chart, ChartAxis, ChartLine, Level, Mark, Point
from anonymaly.pictures.svg import ACCENT
from anonymaly.pictures.vega.charts import INK, WIDTH, room_for, styled

ROW = 34  # the height of a bar and its gap


class StandaloneChart(alt.LayerChart):
    """Altair's chart, which shows itself as SVG, and whose saved HTML holds all it needs."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        text = StringIO()
        super().save(text, format="svg")
        return {"image/svg+xml": text.getvalue()}

    def save(self, fp: Any, format: Any = None, *further: Any, **options: Any) -> None:
        """Save as altair does; HTML with the scripts in it, instead of the address of another host."""
        html = format == "html" or str(fp).lower().endswith(".html")
        super().save(fp, format, **({"inline": True} if html else {}) | options)


def to_altair(chart: Chart) -> alt.LayerChart:
    """Return altair's chart of a description.

    Examples
    --------
    >>> chart = Chart("By ward", "…", ChartAxis("records", "", 0, 20), (Bar("A", 20, "20", 17, 23),))
    >>> len(to_altair(chart).layer)
    3
    """
    layers = _rows(chart) if chart.y is None else _plane(chart, chart.y)
    height = ROW * max(len(chart.marks), 2) if chart.y is None else 260
    title = alt.TitleParams(chart.title, anchor="start", offset=14)
    edges = room_for(_names(_of_kind(chart.marks, Bar)) if chart.y is None else [])
    drawn: alt.LayerChart = styled(
        StandaloneChart(
            layer=layers, width=WIDTH, height=height, title=title, description=chart.words, padding=edges
        )
    )
    return drawn


def _of_kind(marks: Sequence[Mark], kind: type[Any]) -> list[Any]:
    return [mark for mark in marks if isinstance(mark, kind)]


def _rows(chart: Chart) -> list[alt.Chart]:
    """Return the layers of bars and boxes, one below the other."""
    bars: list[Bar] = _of_kind(chart.marks, Bar)
    boxes: list[Box] = _of_kind(chart.marks, Box)
    names = _names(bars)
    group = alt.Y(
        "line:N",
        sort=names,
        title=None,
        axis=alt.Axis(domain=False, ticks=False, labelLimit=0, labelPadding=8),
    )
    scale, axis = _scale(chart.x), _axis(chart.x)
    layers: list[alt.Chart] = []
    if bars:
        rows = [
            {"line": name, "value": bar.value, "low": bar.low, "high": bar.high, "said": bar.said}
            for name, bar in zip(names, bars, strict=True)
        ]
        base = alt.Chart(alt.InlineData(values=rows)).encode(y=group)
        value = alt.X("value:Q", scale=scale, axis=axis)
        layers.append(base.mark_bar(size=12, color=ACCENT).encode(x=value, tooltip="said:N"))
        whole = base.transform_filter("isValid(datum.low)")
        layers.append(whole.mark_rule(color=INK, strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q"))
        layers.append(base.mark_text(align="left", dx=6, color=INK).encode(x=value, text="said:N"))
    if boxes:
        rows = [{"line": "", **_fields(box)} for box in boxes]
        base = alt.Chart(alt.InlineData(values=rows)).encode(y=group)
        low = alt.X("low:Q", scale=scale, axis=axis)
        layers.append(
            base.mark_bar(size=22, color=ACCENT, fillOpacity=0.3, stroke=ACCENT).encode(x=low, x2="high:Q")
        )
        layers.append(base.mark_tick(size=22, thickness=3, color=INK).encode(x=alt.X("middle:Q")))
        record = base.mark_point(shape="diamond", size=120, filled=True, opacity=1, color=INK)
        layers.append(record.encode(x=alt.X("record:Q"), tooltip="record_said:N"))
        layers.append(base.mark_text(dy=-18, color=INK).encode(x=alt.X("record:Q"), text="record_said:N"))
    return layers


def _plane(chart: Chart, y_axis: ChartAxis) -> list[alt.Chart]:
    """Return the layers of lines, points and levels between two axes."""
    x = alt.X("x:T" if chart.x.scale == "time" else "x:Q", scale=_scale(chart.x), axis=_axis(chart.x))
    y = alt.Y("y:Q", scale=_scale(y_axis), axis=_axis(y_axis))
    # Vega's moments are in thousandths.
    unit = 1000 if chart.x.scale == "time" else 1
    layers: list[alt.Chart] = []
    for line in _of_kind(chart.marks, ChartLine):
        rows = [{"x": unit * at, "y": height} for at, height in line.points]
        layers.append(
            alt.Chart(alt.InlineData(values=rows))
            .mark_line(
                color=INK if line.dashed else ACCENT,
                strokeDash=[6, 5] if line.dashed else [1, 0],
                interpolate="step-after" if line.stepped else "linear",
                point={"color": ACCENT, "size": 50} if line.dots else False,
            )
            .encode(x=x, y=y)
        )
    points: list[Point] = _of_kind(chart.marks, Point)
    if points:
        rows = [{"x": unit * point.x, "y": point.y, "said": point.said} for point in points]
        base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
        layers.append(base.mark_point(shape="diamond", size=120, filled=True, opacity=1, color=INK))
        layers.append(base.mark_text(dy=-16, color=INK).encode(text="said:N"))
    levels: list[Level] = _of_kind(chart.marks, Level)
    if levels:
        rows = [{"y": level.y, "said": level.said} for level in levels]
        base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
        layers.append(base.mark_rule(strokeDash=[6, 5], color=INK))
        layers.append(base.mark_text(align="left", dy=-8, color=INK).encode(x=alt.value(0), text="said:N"))
    return layers


def _scale(axis: ChartAxis) -> alt.Scale:
    if axis.scale == "time":
        return alt.Scale(domain=[1000 * axis.low, 1000 * axis.high])
    return alt.Scale(
        domain=[axis.low, axis.high], type="log" if axis.scale == "powers" else "linear", nice=False
    )


def _axis(axis: ChartAxis) -> alt.Axis:
    if axis.scale != "powers" or not axis.ticks:
        return alt.Axis(title=axis.label)
    return alt.Axis(title=axis.label, values=[value for value, _ in axis.ticks], format="~g")


def _fields(box: Box) -> dict[str, Any]:
    return {name: getattr(box, name) for name in ("low", "middle", "high", "record", "record_said")}


def _names(bars: Sequence[Bar]) -> list[str]:
    """Return a name for each bar that no other has, because lines are told apart by it."""
    names: list[str] = []
    heading = ""
    for bar in bars:
        heading = heading if bar.heading is None else f"{bar.heading}: "
        name = f"{heading}{bar.name}"
        while name in names:
            name += " "
        names.append(name)
    return names

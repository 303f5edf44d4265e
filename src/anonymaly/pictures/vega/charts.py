# SPDX-License-Identifier: Apache-2.0
"""The kinds of pictures that reports use, each from plain rows, and how they are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

Row = Mapping[str, Any]

OURS, PAPER = "#0072b2", "#d55e00"  # colour-blind readers can distinguish them too
OTHERS = ("#009e73", "#cc79a7", "#56b4e9", "#e69f00")
INK, FAINT = "#2b2b2b", "#e4e4e4"
WIDTH = 520
EDGE = 14


def distribution(
    rows: Sequence[Row],
    marks: Sequence[Row],
    *,
    title: str,
    subtitle: str,
    label: str,
    order: Sequence[str],
    logarithmic: bool = False,
) -> alt.LayerChart:
    """Return one strip of points for each group with its quartiles, and the papers' figures as diamonds.

    Parameters
    ----------
    rows
        ``{"group": …, "value": …}`` for each measurement.
    marks
        ``{"group": …, "value": …, "what": …}`` for each figure to compare with.
    title, subtitle, label
        Above the picture, and along its axis.
    order
        The groups from top to bottom.
    logarithmic
        Whether values span powers of ten.

    Examples
    --------
    >>> rows = [{"group": "exact", "value": 1.0}, {"group": "uniform", "value": 0.6}]
    >>> chart = distribution(rows, [], title="Utility", subtitle="", label="", order=["exact", "uniform"])
    >>> len(chart.layer)
    4
    """
    scale = alt.Scale(type="log") if logarithmic else alt.Scale(domain=[0, 1.02], nice=False)
    axis = alt.Axis(title=label, format="~g" if logarithmic else ".1f", **_log_ticks(logarithmic))
    group = alt.Y("group:N", sort=list(order), title=None, axis=alt.Axis(domain=False, ticks=False))
    value = alt.X("value:Q", scale=scale, axis=axis)
    # Multiples of the golden ratio scatter evenly, and the same way each time.
    spread = [{**row, "jitter": 0.3 + 0.4 * (number * 0.618034 % 1)} for number, row in enumerate(rows)]
    data = alt.InlineData(values=spread)
    points = (
        alt.Chart(data)
        .mark_circle(size=16, opacity=0.28, color=OURS)
        .encode(x=value, y=group, yOffset=alt.YOffset("jitter:Q", scale=alt.Scale(domain=[0, 1])))
    )
    box = (
        alt.Chart(data)
        .mark_bar(size=24, color=OURS, fillOpacity=0.16, stroke=OURS, strokeWidth=1.2)
        .encode(x=alt.X("q1(value):Q", scale=scale, axis=axis), x2="q3(value):Q", y=group)
    )
    middle = (
        alt.Chart(data)
        .mark_tick(size=24, thickness=3, color=OURS)
        .encode(x=alt.X("mean(value):Q", scale=scale, axis=axis), y=group)
    )
    others = (
        alt.Chart(alt.InlineData(values=[dict(mark) for mark in marks]))
        .mark_point(
            shape="diamond", size=110, filled=True, opacity=1, color=PAPER, stroke="white", strokeWidth=1
        )
        .encode(x=value, y=group)
    )
    chart = alt.layer(points, box, middle, others)
    return _finish(chart.properties(padding=room_for(order)), title, subtitle, height=46 * len(order))


def curve(
    rows: Sequence[Row], *, title: str, subtitle: str, x_label: str, y_label: str, order: Sequence[str]
) -> alt.LayerChart:
    """Return lines through means with their intervals.

    Parameters
    ----------
    rows
        ``{"series": …, "x": …, "mean": …, "low": …, "high": …}`` for each point.
    title, subtitle, x_label, y_label
        What the picture says.
    order
        The series, in the order of their colours.

    Examples
    --------
    >>> rows = [{"series": "ours", "x": 0.1, "mean": 0.8, "low": 0.7, "high": 0.9}]
    >>> len(curve(rows, title="", subtitle="", x_label="ε", y_label="utility", order=["ours"]).layer)
    3
    """
    base = alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))
    ticks = sorted({row["x"] for row in rows})
    x = alt.X(
        "x:Q", scale=alt.Scale(type="log", nice=False, padding=24), axis=alt.Axis(title=x_label, values=ticks)
    )
    least = min(row["low"] for row in rows)
    floor = min(0.5, int(least * 10) / 10)
    y = alt.Y(
        "mean:Q",
        scale=alt.Scale(domain=[floor, 1]),
        axis=alt.Axis(title=y_label, format=".1f", tickMinStep=0.1),
    )
    colour = series_colours(order)
    lines = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour)
    intervals = base.mark_rule(strokeWidth=1.5).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    return _finish(alt.layer(lines, intervals, points), title, subtitle, height=300)


def grouped_bars(
    rows: Sequence[Row],
    *,
    title: str,
    subtitle: str,
    x_label: str,
    y_label: str,
    order: Sequence[str],
    columns: Sequence[str],
    lines: Sequence[str],
) -> alt.FacetChart:
    """Return bars side by side for each series, in a grid of panels, from 0 to 100 %.

    Parameters
    ----------
    rows
        ``{"column": …, "line": …, "x": …, "series": …, "value": …}`` for each bar.
    title, subtitle, x_label, y_label
        What the picture says.
    order, columns, lines
        The series, and the panels from left to right and from top to bottom.

    Examples
    --------
    >>> rows = [{"column": "lof", "line": "salary", "x": "1", "series": "ours", "value": 0.9}]
    >>> chart = grouped_bars(rows, title="", subtitle="", x_label="", y_label="", order=["ours"],
    ...                      columns=["lof"], lines=["salary"])
    >>> chart.spec.width
    190
    """
    sort = sorted({str(row["x"]) for row in rows}, key=float)
    bars = (
        alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))
        .mark_bar()
        .encode(
            x=alt.X("x:N", sort=sort, axis=alt.Axis(title=x_label, labelAngle=0, ticks=False)),
            xOffset=alt.XOffset("series:N", sort=list(order)),
            y=alt.Y("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title=y_label, format=".0%")),
            color=series_colours(order),
        )
        .properties(width=190, height=150)
    )
    chart = bars.facet(
        column=alt.Column("column:N", sort=list(columns), title=None),
        row=alt.Row("line:N", sort=list(lines), title=None),
    )
    return finish_panels(chart, title, subtitle)


def save(chart: alt.TopLevelMixin, folder: Path, name: str) -> list[Path]:
    """Save a picture as PNG and SVG, and as an HTML page that needs no network.

    Examples
    --------
    >>> import tempfile
    >>> chart = curve([{"series": "a", "x": 1, "mean": 0.8, "low": 0.7, "high": 0.9}],
    ...               title="", subtitle="", x_label="ε", y_label="utility", order=["a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(chart, Path(folder), "sweep")]
    ['sweep.png', 'sweep.svg', 'sweep.html']
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg", "html")]
    chart.save(paths[0], format="png", scale_factor=2)
    chart.save(paths[1], format="svg")
    chart.save(paths[2], format="html", inline=True)
    return paths


def series_colours(order: Sequence[str]) -> alt.Color:
    """Return the colours of series, the same in every picture."""
    colours = [OURS, PAPER, *OTHERS][: len(order)]
    return alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(order), range=colours),
        legend=alt.Legend(title=None, orient="top", labelLimit=0, symbolType="square"),
    )


def _log_ticks(logarithmic: bool) -> dict[str, Any]:
    return {"values": [10.0**power for power in range(-4, 7)], "labelExpr": _SECONDS} if logarithmic else {}


# Run times span microseconds to days; powers of ten alone do not say which.
_SECONDS = (
    "datum.value < 1 ? format(datum.value * 1000, '~g') + ' ms' : datum.value < 1000 ? "
    "format(datum.value, '~g') + ' s' : datum.value < 5000 ? '17 min' : datum.value < 50000 ? '3 h' : '28 h'"
)


def titled(title: str, subtitle: str) -> alt.TitleParams:
    """Return the title and subtitle of a picture."""
    return alt.TitleParams(title, subtitle=subtitle.split("\n"), anchor="start", offset=14)


def room_for(names: Sequence[str]) -> dict[str, int]:
    """Return a picture's edges, with room on the left for names in a font that is a fifth wider.

    An SVG is laid out for Arial and shown in what a machine has instead.

    Examples
    --------
    >>> room_for(["personalised privacy (Suppress)"])
    {'left': 51, 'top': 14, 'right': 14, 'bottom': 14}
    """
    longest = max(map(len, names), default=0)
    return {"left": EDGE + round(1.2 * longest), "top": EDGE, "right": EDGE, "bottom": EDGE}


def _finish(chart: Any, title: str, subtitle: str, height: int) -> alt.LayerChart:
    finished: alt.LayerChart = styled(
        chart.properties(width=WIDTH, height=height, title=titled(title, subtitle))
    )
    return finished


def in_panels(chart: Any, rows: Sequence[Row], title: str, subtitle: str, columns: int = 3) -> alt.FacetChart:
    """Return a chart once for each ``panel`` of the rows, in their order, at most so many in a line."""
    panels = alt.Facet("panel:N", sort=list(dict.fromkeys(row["panel"] for row in rows)), title=None)
    return finish_panels(chart.facet(facet=panels, columns=columns), title, subtitle)


def finish_panels(chart: alt.FacetChart, title: str, subtitle: str) -> alt.FacetChart:
    """Return a picture of several panels with its title, in the look that all share."""
    finished: alt.FacetChart = styled(chart.properties(title=titled(title, subtitle)))
    return finished


def styled(chart: Any) -> Any:
    """Return a picture in the look that all of them share."""
    font = "sans-serif"
    return (
        chart.configure(background="white", font=font, padding=EDGE)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor=FAINT, domainColor="#9a9a9a", tickColor="#9a9a9a", labelColor=INK, titleColor=INK,
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=10,
        )
        .configure_title(
            color=INK, fontSize=15, subtitleColor="#5c5c5c", subtitleFontSize=12, subtitleLineHeight=16
        )
        .configure_legend(labelFontSize=12, labelColor=INK, offset=8)
        .configure_header(labelFontSize=12, labelColor=INK)
    )  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""A released histogram as bars, with an interval for each where one is proved. Released figures only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from anonymaly.pictures.chart import Bar, Chart, ChartAxis
from anonymaly.pictures.page import figure, fragment, heading, lines, paragraph, whole_page
from anonymaly.questions.share_histogram.figures import Figure, shown

if TYPE_CHECKING:
    from anonymaly.questions.share_histogram.value import ReleasedHistogram

CUT = "an estimate below 0 is outside of its interval, which is cut at 0 because counts are never below it"
MOST_BARS = 60  # of one chart; where there are more cells, each column has a chart of its own


def charts(histogram: ReleasedHistogram) -> Iterator[Chart]:
    """Yield all cells as one chart or, where they are many, a chart for each column."""
    if len(histogram.estimates) <= MOST_BARS:
        names = [item.column for item in histogram.by]
        cells = [list(row.values())[: len(names)] for row in histogram.rows()]
        labels = [", ".join(map(str, cell)) for cell in cells]
        yield _chart(", ".join(names), list(zip(labels, _bars(histogram), strict=True)))
        return
    for item in histogram.by:
        each = -(-len(item.values) // MOST_BARS)
        groups = [item.values[start : start + each] for start in range(0, len(item.values), each)]
        bars = [(_joined(group), histogram.range({item.column: list(group)})) for group in groups]
        more = "" if each == 1 else f", {each} values a bar"
        yield _chart(f"{item.column}{more}", bars)


def _chart(title: str, bars: Sequence[tuple[str, Figure]]) -> Chart:
    numbers = [0.0]
    for _, item in bars:
        numbers += [item.estimate, *(end for end in (item.low, item.high) if end is not None)]
    said = "; ".join(f"{label}: {_said(item)}" for label, item in bars)
    return Chart(
        title=f"Records by {title}",
        words=f"{said}.",
        x=ChartAxis("records", "", min(numbers), max(numbers)),
        marks=tuple(Bar(label, item.estimate, _said(item), item.low, item.high) for label, item in bars),
    )


def _bars(histogram: ReleasedHistogram) -> list[Figure]:
    """Return the figure of every cell, in the view that is for cells; intervals are of the other one."""
    figures = histogram.cell_figures()
    if histogram.sums is None:
        return figures
    cells = histogram.estimates.tolist()
    return [
        replace(figure, estimate=float(cell), low=None, high=None)
        for figure, cell in zip(figures, cells, strict=True)
    ]


def in_terminal(histogram: ReleasedHistogram) -> str:
    """Return the bars as text.

    Examples
    --------
    >>> from anonymaly.declare.attributes import Attribute
    >>> from anonymaly.questions.share_histogram.value import ReleasedHistogram
    >>> print(in_terminal(ReleasedHistogram([Attribute("ward", ("A", "B"))], [20, 5])))
    Records by ward
    A  ████████████████████████████████████████  20
    B  ██████████                                5
    counts records of these cells, as the method counts them; no intervals: the histogram does not say how it was released; that of an answer does
    """  # noqa: E501  (as it is printed)
    drawn = list(charts(histogram))
    return "\n".join([*map(str, drawn), note(histogram, drawn)])


def to_html(histogram: ReleasedHistogram) -> str:
    """Return the bars as a piece of a page: no script, and nothing from any address.

    Examples
    --------
    >>> from anonymaly.declare.attributes import Attribute
    >>> from anonymaly.questions.share_histogram.value import ReleasedHistogram
    >>> page = to_html(ReleasedHistogram([Attribute("ward", ("<A>", "B"))], [20, -5]))
    >>> page.count("<svg"), page.count("<rect"), "<A>" in page
    (1, 2, False)
    """
    drawn = list(charts(histogram))
    return fragment(*map(figure, drawn), paragraph(note(histogram, drawn), "faint"))


def page(histogram: ReleasedHistogram, title: str, words: str) -> str:
    """Return a whole page, to be opened in a browser that is connected to nothing."""
    drawn = list(charts(histogram))
    below = paragraph(note(histogram, drawn), "faint")
    said = fragment(heading(title), *map(figure, drawn), below, f"<p>{lines(words)}</p>")
    return whole_page(title, said)


def note(histogram: ReleasedHistogram, drawn: Sequence[Chart]) -> str:
    """Say whom the bars count, how often an interval holds, and why a bar may end outside of its own."""
    found = histogram.range()
    if found.low is None:
        return f"counts {found.covers}; no intervals: {found.why_no_interval}"
    said = f"counts {found.covers}; each interval holds in {100 * found.level:.10g} of 100 releases"
    bars = (mark for chart in drawn for mark in chart.marks if isinstance(mark, Bar))
    return f"{said}; {CUT}" if any(bar.low is not None and bar.value < bar.low for bar in bars) else said


def _said(item: Figure) -> str:
    if item.low is None or item.high is None:
        return shown(item.estimate)
    return f"{shown(item.estimate)} ({shown(item.low)} to {shown(item.high)})"


def _joined(group: Sequence[object]) -> str:
    return str(group[0]) if len(group) == 1 else f"{group[0]} … {group[-1]}"

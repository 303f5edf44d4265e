# SPDX-License-Identifier: Apache-2.0
"""A released histogram as bars, with an interval for each where one is proved. Released figures only."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anonymaly.questions.share_histogram.figures import Figure, shown

if TYPE_CHECKING:
    from anonymaly.questions.share_histogram.value import ReleasedHistogram

MOST_BARS = 60  # of one panel; where there are more cells, each column has a panel of its own
WIDTH, LINE, LABEL, NUMBER = 640, 20, 180, 130  # in pixels
COLUMNS = 40  # of the bars in a terminal
LONGEST = 28  # letters of a label
BAR, INTERVAL, INK = "#0072b2", "#2b2b2b", "#2b2b2b"


@dataclass(frozen=True)
class Panel:
    """Bars that share a scale."""

    title: str
    bars: tuple[tuple[str, Figure], ...]

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number that is drawn; 0 is among them."""
        numbers = [0.0]
        for _, figure in self.bars:
            numbers += [figure.estimate, *(end for end in (figure.low, figure.high) if end is not None)]
        return min(numbers), max(numbers)


def panels(histogram: ReleasedHistogram) -> Iterator[Panel]:
    """Yield all cells as one panel or, where they are many, a panel for each column."""
    if len(histogram.estimates) <= MOST_BARS:
        names = [item.column for item in histogram.by]
        cells = [list(row.values())[: len(names)] for row in histogram.rows()]
        labels = [", ".join(map(str, cell)) for cell in cells]
        yield Panel(", ".join(names), tuple(zip(labels, _bars(histogram), strict=True)))
        return
    for item in histogram.by:
        each = -(-len(item.values) // MOST_BARS)
        groups = [item.values[start : start + each] for start in range(0, len(item.values), each)]
        bars = tuple((_joined(group), histogram.range({item.column: list(group)})) for group in groups)
        more = "" if each == 1 else f", {each} values a bar"
        yield Panel(f"{item.column}{more}", bars)


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
    ward
    A  ========================================  20
    B  ==========                                5
    counts records of these cells, as the method counts them; no intervals: the histogram does not say how it was released; that of an answer does
    """  # noqa: E501  (as it is printed)
    lines = []
    for panel in panels(histogram):
        low, high = panel.ends
        width = max(len(_short(label)) for label, _ in panel.bars)
        lines.append(panel.title)
        for label, figure in panel.bars:
            first, last = sorted(
                round(COLUMNS * _part(number, low, high)) for number in (0.0, figure.estimate)
            )
            bar = " " * first + "=" * (last - first)
            lines.append(f"{_short(label):<{width}}  {bar:<{COLUMNS}}  {_said(figure)}".rstrip())
    return "\n".join([*lines, note(histogram)])


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
    drawn = "".join(map(to_svg, panels(histogram)))
    return f"<div style='font:14px sans-serif'>{drawn}<p>{html.escape(note(histogram))}</p></div>"


def page(histogram: ReleasedHistogram, title: str, words: str) -> str:
    """Return a whole page, to be opened in a browser that is connected to nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"></head><body>'
        f"<h1 style='font:20px sans-serif'>{html.escape(title)}</h1>{to_html(histogram)}"
        f"<pre style='white-space:pre-wrap'>{html.escape(words)}</pre></body></html>\n"
    )


def to_svg(panel: Panel) -> str:
    """Return the bars of one panel, one below the other."""
    low, high = panel.ends
    wide = WIDTH - LABEL - NUMBER

    def across(number: float) -> float:
        return LABEL + wide * _part(number, low, high)

    zero = across(0.0)
    height = LINE * (len(panel.bars) + 1) + 4
    marks = [f'<text x="0" y="14" font-weight="bold">{html.escape(panel.title)}</text>']
    for number, (label, figure) in enumerate(panel.bars, 1):
        top, end = LINE * number, across(figure.estimate)
        middle = top + LINE / 2
        marks.append(f'<text x="{LABEL - 6}" y="{top + 14}" text-anchor="end">{_text(label)}</text>')
        marks.append(
            f'<rect x="{min(zero, end):.1f}" y="{top + 3}" width="{abs(end - zero):.1f}" '
            f'height="{LINE - 6}" fill="{BAR}"/>'
        )
        if figure.low is not None and figure.high is not None:
            first, last = across(figure.low), across(figure.high)
            marks.append(
                f'<path d="M{first:.1f} {middle}H{last:.1f}M{first:.1f} {middle - 4}v8M{last:.1f} '
                f'{middle - 4}v8" stroke="{INTERVAL}" fill="none"/>'
            )
        marks.append(f'<text x="{WIDTH - NUMBER + 8}" y="{top + 14}">{html.escape(_said(figure))}</text>')
    marks.append(f'<path d="M{zero:.1f} {LINE}V{height - 4}" stroke="{INK}" stroke-width="0.5"/>')
    name = html.escape(f"Bars by {panel.title}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="{name}" font-family="sans-serif" font-size="12" fill="{INK}">{"".join(marks)}</svg>'
    )


def note(histogram: ReleasedHistogram) -> str:
    """Say whom the bars count, and how often an interval holds."""
    figure = histogram.range()
    if figure.low is None:
        return f"counts {figure.covers}; no intervals: {figure.why_no_interval}"
    return f"counts {figure.covers}; each interval holds in {100 * figure.level:.10g} of 100 releases"


def _said(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return shown(figure.estimate)
    return f"{shown(figure.estimate)} ({shown(figure.low)} to {shown(figure.high)})"


def _part(number: float, low: float, high: float) -> float:
    return (number - low) / (high - low) if high > low else 0.0


def _joined(group: Sequence[object]) -> str:
    return str(group[0]) if len(group) == 1 else f"{group[0]} … {group[-1]}"


def _short(label: str) -> str:
    plain = " ".join(label.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def _text(label: str) -> str:
    return html.escape(_short(label))

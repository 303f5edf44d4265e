# SPDX-License-Identifier: Apache-2.0
"""An explanation as a picture: a group's middle half, and the record. Released figures only."""

from __future__ import annotations

from collections.abc import Iterator

from anonymaly.pictures.chart import Box, Chart, ChartAxis
from anonymaly.pictures.page import figure, fragment, paragraph
from anonymaly.questions.explain.everyone.value import Explanation, Group, shown_value


def chart_of(value: Explanation, group: Group) -> Chart | None:
    """Return a box of a group's middle half with the record marked; None if either is not known.

    Examples
    --------
    >>> from anonymaly.questions.explain.everyone.value import GroupPart
    >>> group = Group([GroupPart("job", "values", ["Nurse"])], 2310, 12, [100, 150, 200])
    >>> chart = chart_of(Explanation("pay", 400, [group], 9, True), group)
    >>> chart.marks[0].record_said, chart.marks[0].said
    ('this record: 400', 'half of the group: 100 to 200')
    """
    own = value.record_value
    if group.quartiles is None or own is None:
        return None
    low, middle, high = group.quartiles
    least, most = min(own, low), max(own, high)
    return Chart(
        title="",
        words=f"{value.metric} {group.brief}: {value.reason(group)}.",
        x=ChartAxis(value.metric, "", least, most),
        marks=(
            Box(
                low,
                middle,
                high,
                own,
                f"half of the group: {shown_value(low)} to {shown_value(high)}",
                f"this record: {shown_value(own)}",
            ),
        ),
    )


def charts(value: Explanation) -> Iterator[Chart]:
    """Yield a picture of each group that has one."""
    for group in value.groups:
        chart = chart_of(value, group)
        if chart is not None:
            yield chart


def in_terminal(value: Explanation) -> str:
    """Return the words, with a strip below each group whose quartiles are known.

    Examples
    --------
    >>> from anonymaly.questions.explain.everyone.value import GroupPart
    >>> job = GroupPart("job", "values", ["Nurse"])
    >>> print(in_terminal(Explanation("pay", 400, [Group([job], 2310, 12, [100, 150, 200])], 9, True)))
    stands out in pay among records with job = Nurse
    about 2,310 records; about half of them between 100 and 200; this one has 400
    100 ▒▒▒▒▒▒▒▒▒▒┃▒▒▒▒▒▒▒▒▒▒──────────────────────────────────────◆ 400
    """
    if not value.groups:
        return str(value)
    lines = []
    for group in value.groups:
        lines += [*value.lines(group), *strip(value, group)]
    return "\n".join(lines)


def strip(value: Explanation, group: Group) -> list[str]:
    """Return the group's middle half and the record as one line of text between two numbers, if known."""
    chart = chart_of(value, group)
    if chart is None:
        return []
    return [f"{shown_value(chart.x.low)} {chart} {shown_value(chart.x.high)}"]


def to_html(value: Explanation) -> str:
    """Return the words and the pictures for a notebook or a report."""
    if not value.groups:
        return fragment(paragraph(str(value)))
    parts = []
    for group in value.groups:
        chart = chart_of(value, group)
        parts += [paragraph("\n".join(value.lines(group))), "" if chart is None else figure(chart)]
    return fragment(*parts)

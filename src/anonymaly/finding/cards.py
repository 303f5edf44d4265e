# SPDX-License-Identifier: Apache-2.0
"""Odd records as parts of a page: an overview, and for each record its values, its parts and its group."""

from __future__ import annotations

import html
from collections.abc import Sequence

from anonymaly.finding.odd_record import Explained, OddRecord, shown
from anonymaly.pictures.page import figure, table
from anonymaly.questions.explain.everyone.picture import chart_of
from anonymaly.questions.explain.everyone.value import Explanation, Group
from anonymaly.questions.score.reasons_picture import one_record

MOST_VALUES = 20  # of a record; more are folded away
SHORT = 24  # characters of a record's name that stay in one line
PARTS_READ = (
    "The bars are the parts of a record's score, one for each column and each pair of columns: how much "
    "rarer its value is than usual. +0.7 is about twice as rare, +2.3 ten times, +7 a thousand times. "
    "The score is the sum of all parts, below 0 where most are usual."
)
STRIPS_READ = (
    "In the strips, the box holds the middle half of the group, the thick line is its median, and the "
    "diamond is the record."
)


def reading(odd: Sequence[OddRecord]) -> str:
    """Return how the pictures are read."""
    groups = [
        group
        for item in odd
        if item.explained is not None and item.explained.explanation is not None
        for group in item.explained.explanation.groups
    ]
    strips = any(group.quartiles is not None for group in groups)
    return f"{PARTS_READ} {STRIPS_READ}" if strips else PARTS_READ


def overview(odd: Sequence[OddRecord]) -> str:
    """Return one line for each record: its row, its name, its score, its largest reason, and its group."""
    named = any(item.label for item in odd)
    wide = " wide" if named else ""  # on a telephone a record is called by its name alone
    lines = []
    for place, item in enumerate(odd, start=1):
        first = item.reason.parts[0].words if item.reason.parts else str(item.reason)
        kind = ' class="name"' if len(item.label) <= SHORT else ""
        name = f"<td{kind}>{html.escape(item.label)}</td>" if named else ""
        lines.append(
            f'<td class="number">{place}</td><td class="number{wide}">{item.row:,}</td>{name}'
            f'<td class="number">{item.reason.score:.2f}</td><td>{html.escape(first)}</td>'
            f'<td class="wide">{html.escape(_group(item.explained))}</td>'
        )
    heads = (
        f'<th class="number">place</th><th class="number{wide}">row</th>{"<th>record</th>" if named else ""}'
        '<th class="number">score</th><th>largest reason</th><th class="wide">stands out</th>'
    )
    return table([heads, *lines])


def _group(explained: Explained | None) -> str:
    if explained is None:
        return "–"
    if explained.explanation is None:
        return "not explained"
    if not explained.explanation.groups:
        return "in no group clearly enough" if explained.explanation.needed else "in no group"
    return f"in {explained.explanation.metric} {explained.explanation.groups[0].brief}"


def cards(odd: Sequence[OddRecord]) -> str:
    """Return each record with its values, its parts as a picture and in words, and its group."""
    largest = max((part.part for item in odd for part in item.reason.parts), default=1.0)
    return "\n".join(_card(place, item, largest) for place, item in enumerate(odd, start=1))


def _card(place: int, item: OddRecord, largest: float) -> str:
    parts = [(part.title, part.part) for part in item.reason.parts]
    drawn = figure(one_record(parts, largest)) if parts else ""
    # They begin with names of columns, which stay as they are.
    words = [part.words for part in item.reason.parts] or [_sentence(str(item.reason))]
    said = drawn + "".join(f"<p>{html.escape(text)}</p>\n" for text in words)
    return (
        f'<div class="card">\n<h3>{place}. {html.escape(item.title)}'
        f'<span class="faint">score {item.reason.score:.2f}</span></h3>\n'
        f"{_values(item)}\n{said}{_explained(item.explained)}\n</div>"
    )


def _values(item: OddRecord) -> str:
    """Return the record's values; of very many, those that its reasons name, and the others folded away."""
    if len(item.record) <= MOST_VALUES:
        return f'<div class="values">{_listed(item, list(item.record))}</div>'
    named = {name for part in item.reason.parts if len(part.columns) <= 2 for name in part.columns}
    first = [name for name in item.record if name in named][:MOST_VALUES]
    every = _listed(item, list(item.record))
    return (
        f'<div class="values">{_listed(item, first)}'
        f"<details><summary>all {len(item.record):,} values</summary>{every}</details></div>"
    )


def _listed(item: OddRecord, names: Sequence[str]) -> str:
    return "".join(
        f"<span><b>{html.escape(name)}</b> {html.escape(shown(item.record[name]))}</span>" for name in names
    )


def _explained(explained: Explained | None) -> str:
    if explained is None:
        return ""
    note = f'<p class="faint">{html.escape(explained.note)}</p>' if explained.note else ""
    found = explained.explanation
    if found is None or not found.groups:
        return f'\n<div class="group"><p>{html.escape(_sentence(explained.words()[0]))}</p>{note}</div>'
    groups = "".join(
        f"<p><strong>Stands out in {html.escape(found.metric)}</strong> {html.escape(group.brief)}.<br>"
        f"{html.escape(_sentence(found.reason(group)))}</p>{_drawn(found, group)}"
        for group in found.groups
    )
    return f'\n<div class="group">{groups}{note}</div>'


def _drawn(found: Explanation, group: Group) -> str:
    chart = chart_of(found, group)
    return "" if chart is None else figure(chart)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"

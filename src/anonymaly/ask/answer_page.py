# SPDX-License-Identifier: Apache-2.0
"""Previews, answers and lists of them as pieces of a page, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymaly.core.epsilon import NANO, to_text
from anonymaly.pictures.chart import Bar, Chart, ChartAxis
from anonymaly.pictures.page import cells, facts, figure, folded, fragment, heading, paragraph

if TYPE_CHECKING:
    from anonymaly.ask.answer import Answer, Preview

LONGEST = 120  # letters of a value in a list


def cost_chart(cost: int, remaining: int) -> Chart:
    """Return what a question would take of what remains; both in nano-ε."""
    said = f"ε = {to_text(cost)} of {to_text(remaining)} remaining"
    bar = Bar("would cost", min(cost, remaining) / NANO, said, of=remaining / NANO)
    return Chart("", f"Would cost {said}.", ChartAxis("", "ε", 0.0, max(remaining, 1) / NANO), (bar,))


def preview_html(preview: Preview) -> str:
    """Return a preview with a bar of what it would take of the budget."""
    warning = "" if preview.warning is None else paragraph(preview.warning, "warning")
    left = preview.remaining_nano
    drawn = "" if left is None else figure(cost_chart(preview.cost_nano, left))
    return fragment(
        warning, heading(preview.title, 3), drawn, facts(preview.lines()), *map(paragraph, preview.more())
    )


def previews_html(items: Sequence[Preview], cost: int, *, affordable: bool) -> str:
    """Return several previews as a table, with what all of them would cost."""
    rows = [
        [
            item.title,
            f"ε = {to_text(item.cost_nano)}",
            item.expectation.error,
            item.guarantee.relation.protects(),
        ]
        for item in items
    ]
    left = items[0].remaining_nano if items else None
    refused = "" if affordable else ": more than remains, they would be refused"
    many = "1 question" if len(items) == 1 else f"{len(items):,} questions"
    return fragment(
        heading(f"{many} together would cost ε = {to_text(cost)}{refused}", 3),
        "" if left is None else figure(cost_chart(cost, left)),
        cells(["question", "would cost", "expected error", "protected"], rows, numbers=(1,)) if rows else "",
    )


def answer_html(answer: Answer) -> str:
    """Return an answer: its value, pictured where it can be, what it cost, and its promise."""
    banner = "" if answer.banner is None else paragraph(answer.banner, "warning")
    # A value that draws itself says with it all that it says in words.
    pictured = getattr(answer.value, "_repr_html_", None)
    value = paragraph(answer.shown, "value") if pictured is None else pictured()
    return fragment(banner, value, facts(answer.lines()))


def answers_html(answers: Sequence[Answer]) -> str:
    """Return a list of answers as a table; each opens for all that it says."""
    if not answers:
        return fragment(paragraph("no answers yet"))
    many = "1 answer" if len(answers) == 1 else f"{len(answers):,} answers"
    rows = [
        [str(answer.number or ""), answer.question, answer.asks, answer.headline(LONGEST), answer.price]
        for answer in answers
    ]
    each = "".join(
        folded(f"answer {answer.number}: {answer.asks}", facts(answer.lines())) for answer in answers
    )
    return fragment(
        heading(many, 3),
        cells(
            ["no.", "question", "asked", "answer", "ε"], rows, numbers=(0, 4), wide=(2,)
        ),  # said below, too
        each,
    )

# SPDX-License-Identifier: Apache-2.0
"""A find as a page: released figures and the asker's own records."""

from __future__ import annotations

import html

from anonymaly.core.epsilon import to_text
from anonymaly.finding.cards import cards, overview, reading
from anonymaly.finding.found import OddRecords
from anonymaly.pictures.page import fragment, heading, paragraph, table, whole_page

NOISE_READ = "Shares of records and sizes of groups carry the noise that protects the people in the table."
OWN = (
    "The promise is about the people in the table. The records on this page are your own, and stand here as "
    "you gave them: keep the page as you keep them."
)


def page(found: OddRecords) -> str:
    """Return a whole page, to be opened in a browser that is connected to nothing."""
    return whole_page(f"Odd records: {found.plan.title}", find_fragment(found))


def find_fragment(found: OddRecords) -> str:
    """Return the report for a notebook, or for the page."""
    return fragment(heading(found.plan.title), *find_parts(found))


def find_parts(found: OddRecords) -> tuple[str, ...]:
    """Return what the report is made of below its title, as HTML that needs the style of the page around."""
    plan = found.plan
    unspent = plan.epsilon_nano - found.charged_nano
    left = f" of the {to_text(plan.epsilon_nano)} that it might have cost" if unspent else ""
    facts = (
        f"Charged: ε = {found.cost}{left}; {to_text(found.remaining_nano)} remain. All figures here are "
        "released answers, or follow from them."
    )
    missing = paragraph(found.statement()[-1], "warning") if found.failed else ""
    promise = "<br>".join(map(html.escape, found.guarantee.describe().splitlines()))
    return (
        paragraph(facts),
        *(paragraph(f"note: {note}", "warning") for note in plan.notes),
        missing,
        overview(found.odd),
        "<h2>Each record</h2>",
        paragraph(f"{reading(found.odd)} {NOISE_READ}", "faint"),
        cards(found.odd),
        "<h2>What it cost</h2>",
        _cost(found),
        "<h2>What is promised</h2>",
        f"<p>{promise}</p>",
        paragraph(OWN),
    )


def _cost(found: OddRecords) -> str:
    heads = (
        '<th>question</th><th class="number">share of ε</th><th class="number">charged</th><th>answer</th>'
    )
    lines = [
        f'<td>{name}</td><td class="number">{share}</td><td class="number">{charged}</td>'
        f"<td>{html.escape(answer)}</td>"
        for name, share, charged, answer in found.paid()
    ]
    total = (
        f'<th>together</th><th class="number">{to_text(found.plan.epsilon_nano)}</th>'
        f'<th class="number">{found.cost}</th><th>{to_text(found.remaining_nano)} remain</th>'
    )
    return table([heads, *lines, total])

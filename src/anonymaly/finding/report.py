# SPDX-License-Identifier: Apache-2.0
"""A find as a page: released figures and the asker's own records; no script, and nothing from any address."""

from __future__ import annotations

import html
from collections.abc import Sequence

from anonymaly.core.epsilon import to_text
from anonymaly.finding.found import Explained, OddRecord, OddRecords, plain
from anonymaly.questions.explain.everyone.picture import to_html as explanation_html
from anonymaly.questions.score.reasons import Part

BAR, COLOUR = 180, "#0072b2"
STYLE = """\
.anonymaly-find { font: 15px/1.45 system-ui, sans-serif; color: #2b2b2b; background: #fff; max-width: 64em; }
.anonymaly-find h2 { font-size: 1.25em; margin: 1.6em 0 0.4em; }
.anonymaly-find h3 { font-size: 1.05em; margin: 0 0 0.5em; }
.anonymaly-find table { border-collapse: collapse; margin: 0.5em 0; }
.anonymaly-find th, .anonymaly-find td { text-align: left; vertical-align: top;
  padding: 0.3em 1em 0.3em 0; border-bottom: 1px solid #e4e4e4; }
.anonymaly-find .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.anonymaly-find .card { border: 1px solid #dcdcdc; border-radius: 6px; padding: 0.9em 1.1em;
  margin: 0.9em 0; }
.anonymaly-find .warning { border-left: 5px solid #d55e00; background: #fdf1ea; padding: 0.6em 0.9em; }
.anonymaly-find .faint { color: #5a5a5a; }
.anonymaly-find .values span { display: inline-block; margin: 0 1.1em 0.25em 0; }
.anonymaly-find .values b { font-weight: 600; }
.anonymaly-find svg { display: block; max-width: 100%; height: auto; }
.anonymaly-find .parts td { border: 0; padding: 0.15em 0.8em 0.15em 0; vertical-align: middle; }
.anonymaly-find .group { border-top: 1px solid #e4e4e4; margin-top: 0.8em; padding-top: 0.6em; }
.anonymaly-find .group p { margin: 0 0 0.4em; }
"""
READING = (
    "A score is the sum of parts, one for each column and each pair: how much rarer the record's value is "
    "than usual, as a logarithm. A part of 0 is usual; each +0.7 is about twice as rare. The shares of "
    "records come from the model, and carry its noise."
)


def page(found: OddRecords) -> str:
    """Return a whole page, to be opened in a browser that is connected to nothing."""
    return whole_page(f"Odd records: {found.plan.title}", fragment(found))


def whole_page(title: str, body: str) -> str:
    """Return a page around a fragment; the browser itself refuses whatever is not in it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    said = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{said}</title>\n</head>\n'
        f"<body style='margin: 1.2em 2em'>\n{body}\n</body>\n</html>\n"
    )


def fragment(found: OddRecords) -> str:
    """Return the report for a notebook, or for the page."""
    plan = found.plan
    unspent = plan.epsilon - found.charged
    left = f", of the {to_text(plan.epsilon)} that it might have cost" if unspent else ""
    facts = f"Charged: ε = {found.cost}{left}. What is here was released, or is the asker's own record."
    missing = ""
    if found.failed:
        missing = f'<p class="warning">{html.escape(found.statement()[-1])}</p>\n'
    promise = "<br>".join(map(html.escape, found.guarantee.describe().splitlines()))
    return (
        f'<div class="anonymaly-find">\n<style>\n{STYLE}</style>\n'
        f"<h1 style='font-size:1.5em'>{html.escape(_capital(plan.title))}</h1>\n"
        f"<p>{html.escape(facts)}</p>\n{missing}"
        f"{overview(found.odd)}\n<h2>Each record</h2>\n"
        f'<p class="faint">{html.escape(READING)}</p>\n{cards(found.odd)}\n'
        f"<h2>What it cost</h2>\n{_cost(found)}\n"
        f"<h2>What is promised</h2>\n<p>{promise}</p>\n</div>"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def overview(odd: Sequence[OddRecord]) -> str:
    """Return one line for each record: its row, its score, its largest reason, and its group."""
    lines = []
    for item in odd:
        first = item.reason.parts[0].words if item.reason.parts else str(item.reason)
        lines.append(
            f'<tr><td class="number">{item.row:,}</td><td class="number">{item.reason.score:.2f}</td>'
            f"<td>{html.escape(first)}</td><td>{html.escape(_group(item.explained))}</td></tr>"
        )
    heads = (
        '<th class="number">row</th><th class="number">score</th><th>largest reason</th><th>stands out</th>'
    )
    return f"<table>\n<tr>{heads}</tr>\n{chr(10).join(lines)}\n</table>"


def _group(explained: Explained | None) -> str:
    if explained is None:
        return ""
    if explained.explanation is None:
        return "not explained"
    if not explained.explanation.groups:
        return "in no group clearly enough"
    return f"in {explained.explanation.metric} {explained.explanation.groups[0]}"


def cards(odd: Sequence[OddRecord]) -> str:
    """Return each record with its values, its parts as a picture and in words, and its group."""
    largest = max((part.part for item in odd for part in item.reason.parts), default=1.0)
    return "\n".join(_card(place, item, largest) for place, item in enumerate(odd, start=1))


def _card(place: int, item: OddRecord, largest: float) -> str:
    values = "".join(
        f"<span><b>{html.escape(str(name))}</b> {html.escape(_shown(value))}</span>"
        for name, value in item.record.items()
    )
    parts = "".join(_part(part, largest) for part in item.reason.parts)
    said = f'<table class="parts">{parts}</table>' if parts else f"<p>{html.escape(str(item.reason))}</p>"
    return (
        f'<div class="card">\n<h3>{place}. Row {item.row:,}, score {item.reason.score:.2f}</h3>\n'
        f'<div class="values">{values}</div>\n{said}{_explained(item.explained)}\n</div>'
    )


def _part(part: Part, largest: float) -> str:
    """Return a part as a bar, a number and words; all bars of a report have one scale."""
    width = max(BAR * part.part / largest, 1)
    return (
        f'<tr><td><svg width="{BAR}" height="14" viewBox="0 0 {BAR} 14" role="img" '
        f'aria-label="{part.part:.2f} of at most {largest:.2f}">'
        f'<rect x="0" y="1" width="{width:.1f}" height="12" fill="{COLOUR}"/></svg></td>'
        f'<td class="number">+{part.part:.2f}</td><td>{html.escape(part.words)}</td></tr>'
    )


def _shown(value: object) -> str:
    told = plain(value)
    if told is None:
        return "missing"
    if isinstance(told, float) or (
        isinstance(told, int) and not isinstance(told, bool) and abs(told) >= 10_000
    ):
        return f"{told:,.0f}" if float(told).is_integer() else f"{told:,.10g}"
    return str(told)


def _explained(explained: Explained | None) -> str:
    if explained is None:
        return ""
    if explained.explanation is None:
        return f'\n<div class="group"><p>No explanation: {html.escape(str(explained.missing))}</p></div>'
    note = f'<p class="faint">{html.escape(explained.note)}</p>' if explained.note else ""
    return f'\n<div class="group">{explanation_html(explained.explanation)}{note}</div>'


def _cost(found: OddRecords) -> str:
    lines = "".join(
        f'<tr><td>{name}</td><td class="number">{share}</td><td class="number">{charged}</td>'
        f"<td>{html.escape(answer)}</td></tr>"
        for name, share, charged, answer in found.paid()
    )
    total = (
        f'<tr><th>together</th><th class="number">{to_text(found.plan.epsilon)}</th>'
        f'<th class="number">{found.cost}</th><th>{to_text(found.remaining)} remain in the account</th></tr>'
    )
    heads = (
        '<tr><th>question</th><th class="number">share of ε</th><th class="number">charged</th><th></th></tr>'
    )
    return f"<table>\n{heads}\n{lines}\n{total}\n</table>"

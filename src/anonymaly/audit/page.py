# SPDX-License-Identifier: Apache-2.0
"""A run of all audits as one page with pictures; no script, and nothing from any address."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from anonymaly.audit.findings import AuditLine, AuditRun, FaultLine
from anonymaly.audit.report import LAYERS
from anonymaly.core.extras import require

STYLE = """\
:root { color-scheme: light dark; --ink: #2b2b2b; --soft: #666; --line: #e4e4e4; --paper: #fff;
  --note: #eef5fa; --note-line: #0072b2; --bad: #b34700; --bad-note: #fdf1ea; --bad-line: #d55e00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #a8a8a8; --line: #3a3a3a; --paper: #161616;
    --note: #1c2a35; --note-line: #56a8dc; --bad: #ff9d5c; --bad-note: #35241a; --bad-line: #ff9d5c; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  margin: 1.5em 5%; overflow-wrap: break-word; }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 0.3em 0.9em 0.3em 0;
  border-bottom: 1px solid var(--line); }
/* What a case found stands below it, so that a phone has room for it. */
.case td { border-bottom: 0; }
.found td { padding: 0 0 0.6em; }
/* Where the window is too narrow for a table or a picture, that alone moves sideways. */
.sideways { overflow-x: auto; }
/* Pictures have a ground of their own. */
.sideways > svg { border-radius: 6px; display: block; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.said { border-left: 5px solid var(--note-line); background: var(--note); padding: 0.1em 0.9em; }
.bad { color: var(--bad); font-weight: 600; }
.said.bad { border-color: var(--bad-line); background: var(--bad-note); }
.faint { color: var(--soft); }
"""


def to_page(run: AuditRun) -> str:
    """Return a whole page, to be opened in a browser that is connected to nothing."""
    require("report", "A page with pictures")
    title = f"anonymaly audit, {run.form.name}"
    # The browser itself refuses whatever is not in the page.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    said = "".join(f"<p>{html.escape(text)}</p>" for text in run.words())
    parts = [
        f"<h1>{title}</h1>",
        f'<div class="said{"" if run.passed else " bad"}">{said}</div>',
        _cases(run),
        _faults(run),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _cases(run: AuditRun) -> str:
    from anonymaly.pictures.vega.losses import as_svg, losses  # noqa: PLC0415  (an extra, and a table needs none)

    bars = [
        {"group": line.report.name, "value": line.part, "tight": line.tight}
        for line in run.cases
        if line.part is not None
    ]
    picture = ""
    if bars:
        chart = losses(
            bars,
            title="How much of each promise is lost, at least",
            subtitle="solid line: all that is claimed; dashed: what must be seen where all is lost\n"
            "dark: a tight pair is known; light: none is, and half the noise must be seen instead",
            label="lower bound, part of ε",
            power=run.form.power,
        )
        picture = _sideways(as_svg(chart))
    head = ("about", "case", "claimed ε", "at least", "exactly", *LAYERS)
    return f"<h2>Cases</h2>\n{picture}\n{_table(head, map(_case, run.lines))}"


def _case(line: AuditLine) -> str:
    """Return a case's line, and what it found in another one below."""
    numbers = [_number(value) for value in (line.claimed, line.at_least, line.exact)]
    words = "<br>".join(
        f'<span class="{"faint" if item.passed else "bad"}">'
        f"{html.escape(f'{item.layer}, {item.check}: {item.words}')}</span>"
        for item in line.report.findings
    )
    told = [_word(line.of_layer(layer)) for layer in LAYERS]
    cells = [html.escape(line.about), html.escape(line.report.name), *numbers, *told]
    below = f'<td></td><td colspan="{len(cells) - 1}">{words or html.escape(line.why)}</td>'
    return f'{_row(cells, "case")}\n<tr class="found">{below}</tr>'


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _word(text: str) -> str:
    return text if text in ("ok", "–") else f'<span class="bad">{text}</span>'


def _faults(run: AuditRun) -> str:
    if not run.faults:
        return ""
    from anonymaly.pictures.vega.losses import as_svg, losses  # noqa: PLC0415

    counted = {
        f"{about}: {layer}": counts[True] / (counts[True] + counts[False])
        for (about, layer), counts in run.by_layer().items()
        if counts[True] + counts[False]
    }
    chart = losses(
        [{"group": name, "value": part, "tight": True} for name, part in counted.items()],
        title="Which part of the planted faults its layer caught",
        subtitle="all of them must be",
        label="caught",
        power=1,
    )
    picture = _sideways(as_svg(chart)) if counted else ""
    return f"<h2>Planted faults</h2>\n{picture}\n{_table(HEAD, map(_fault, run.faults))}"


HEAD = ("about", "what is broken", "layer", "caught")


def _fault(fault: FaultLine) -> str:
    said = {
        True: "yes",
        False: '<span class="bad">NO</span>',
        None: f'<span class="faint">{html.escape(fault.why)}</span>',
    }
    return _row([*map(html.escape, (fault.about, fault.name, fault.layer)), said[fault.caught]])


def _row(cells: Sequence[str], kind: str = "") -> str:
    shown = f' class="{kind}"' if kind else ""
    return f"<tr{shown}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _table(head: Sequence[str], rows: Iterable[str]) -> str:
    names = "".join(f"<th>{name}</th>" for name in head)
    return _sideways("\n".join([f"<table>\n<tr>{names}</tr>", *rows, "</table>"]))


def _sideways(inside: str) -> str:
    return f'<div class="sideways">{inside}</div>'

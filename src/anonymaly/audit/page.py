# SPDX-License-Identifier: Apache-2.0
"""A run of all audits as one page with pictures; no script, and nothing from any address."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from anonymaly.audit.findings import AuditLine, AuditRun, FaultLine
from anonymaly.audit.report import LAYERS
from anonymaly.core.extras import require

STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; color: #2b2b2b; background: #fff; margin: 2em; }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 0.3em 0.9em 0.3em 0;
  border-bottom: 1px solid #e4e4e4; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.said { border-left: 5px solid #0072b2; background: #eef5fa; padding: 0.6em 0.9em; }
.bad { color: #b34700; font-weight: 600; }
.said.bad { border-color: #d55e00; background: #fdf1ea; }
.faint { color: #666; }
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
        picture = as_svg(chart)
    head = ("about", "case", "claimed ε", "at least", "exactly", *LAYERS, "found")
    return f"<h2>Cases</h2>\n{picture}\n{_table(head, map(_case, run.lines))}"


def _case(line: AuditLine) -> list[str]:
    numbers = [_number(value) for value in (line.claimed, line.at_least, line.exact)]
    words = "<br>".join(
        f'<span class="{"faint" if item.passed else "bad"}">'
        f"{html.escape(f'{item.layer}, {item.check}: {item.words}')}</span>"
        for item in line.report.findings
    )
    told = [_word(line.of_layer(layer)) for layer in LAYERS]
    return [
        html.escape(line.about),
        html.escape(line.report.name),
        *numbers,
        *told,
        words or html.escape(line.why),
    ]


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
    picture = as_svg(chart) if counted else ""
    return f"<h2>Planted faults</h2>\n{picture}\n{_table(HEAD, map(_fault, run.faults))}"


HEAD = ("about", "what is broken", "layer", "caught")


def _fault(fault: FaultLine) -> list[str]:
    said = {
        True: "yes",
        False: '<span class="bad">NO</span>',
        None: f'<span class="faint">{html.escape(fault.why)}</span>',
    }
    return [*map(html.escape, (fault.about, fault.name, fault.layer)), said[fault.caught]]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>\n<tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>\n{lines}\n</table>"

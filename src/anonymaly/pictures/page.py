# SPDX-License-Identifier: Apache-2.0
"""Pieces of pages, and whole ones that stand alone: no script, nothing from any address.

Colours are those of what is around a piece, so that it is right in a light and in a dark notebook; a page of
its own follows the reader's system.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonymaly.pictures.chart import Chart

STYLE = """\
.anonymaly { font: 15px/1.5 system-ui, sans-serif; color: inherit; max-width: 62em; overflow-wrap: anywhere; }
.anonymaly h1 { font-size: 1.45em; line-height: 1.25; margin: 0.3em 0 0.5em; font-weight: 600; }
.anonymaly h2 { font-size: 1.2em; line-height: 1.3; margin: 1.6em 0 0.4em; font-weight: 600; }
.anonymaly h3 { font-size: 1.05em; line-height: 1.3; margin: 0 0 0.5em; font-weight: 600; }
.anonymaly p { margin: 0.5em 0; }
.anonymaly .value { font-size: 1.3em; font-weight: 600; margin: 0.3em 0 0.5em; white-space: pre-wrap; }
.anonymaly table { border-collapse: collapse; margin: 0.5em 0; color: inherit; font-size: inherit;
  table-layout: auto; }
/* A notebook colours the rows of tables and aligns their cells in its own way. */
.anonymaly tr:nth-child(n) { background: transparent !important; }
.anonymaly th, .anonymaly td { text-align: left !important; vertical-align: top; color: inherit;
  padding: 0.35em 1.1em 0.35em 0 !important; border: 0; border-bottom: 1px solid rgba(127, 127, 127, 0.3);
  overflow-wrap: break-word; white-space: normal; max-width: none; }
.anonymaly th { font-weight: 600; }
.anonymaly .facts th { font-weight: 400; opacity: 0.75; white-space: nowrap; }
.anonymaly .number { text-align: right !important; font-variant-numeric: tabular-nums; white-space: nowrap; }
.anonymaly .sideways { overflow-x: auto; }
.anonymaly .name { white-space: nowrap; }
.anonymaly figure { margin: 0.8em 0; max-width: 40em; }
.anonymaly svg { display: block; overflow: visible; }
.anonymaly .card { border: 1px solid rgba(127, 127, 127, 0.35); border-radius: 8px; padding: 1em 1.2em;
  margin: 1em 0; break-inside: avoid; }
.anonymaly .warning { border-left: 4px solid #d55e00; padding: 0.3em 0 0.3em 0.9em; }
.anonymaly .faint { opacity: 0.75; }
.anonymaly h3 .faint { font-weight: 400; margin-left: 0.8em; }
.anonymaly .values span { display: inline-block; margin: 0 1.2em 0.25em 0; }
.anonymaly .values b { font-weight: 600; }
.anonymaly .group { border-top: 1px solid rgba(127, 127, 127, 0.3); margin-top: 0.9em; padding-top: 0.4em; }
.anonymaly details { margin: 0.5em 0; }
.anonymaly summary { cursor: pointer; opacity: 0.85; }
@media (max-width: 44em) {
  .anonymaly .wide { display: none; }
  .anonymaly .name { white-space: normal; }
  .anonymaly .facts th, .anonymaly .facts td { display: block; }
  .anonymaly .facts th { border-bottom: 0; padding-bottom: 0 !important; }
  .anonymaly .sideways table { font-size: 0.87em; }
  .anonymaly .sideways th, .anonymaly .sideways td { padding-right: 0.6em !important; }
}
"""
OF_A_PAGE = ":root { color-scheme: light dark; }\nbody { margin: 1.5em 5%; }\n"


def whole_page(title: str, body: str) -> str:
    """Return a page around pieces; the browser itself refuses whatever is not in it, other styles too."""
    policy = f"default-src 'none'; style-src {_allowed(STYLE)} {_allowed(OF_A_PAGE)}"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{html.escape(title)}</title>\n'
        f"<style>{OF_A_PAGE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _allowed(style: str) -> str:
    """Name a style sheet by its hash, so that a policy allows this one and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"


def fragment(*parts: str) -> str:
    """Return pieces for a notebook, or for a page, with the style of both."""
    inside = "\n".join(part for part in parts if part)
    return f'<div class="anonymaly"><style>{STYLE}</style>\n{inside}\n</div>'


def heading(text: str, level: int = 1) -> str:
    """Return a heading that begins with a capital letter."""
    return f"<h{level}>{html.escape(text[:1].upper() + text[1:])}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text; its lines stay lines."""
    shown = f' class="{kind}"' if kind else ""
    return f"<p{shown}>{lines(text)}</p>"


def lines(text: str) -> str:
    """Return plain text whose lines stay lines.

    Examples
    --------
    >>> lines("a < b\\nc")
    'a &lt; b<br>c'
    """
    return html.escape(text).replace("\n", "<br>")


def figure(chart: Chart) -> str:
    """Return a picture as a piece of a page."""
    return f"<figure>{chart.to_svg()}</figure>"


def facts(named: Iterable[tuple[str, str]]) -> str:
    """Return names with their texts, one below the other.

    Examples
    --------
    >>> facts([("cost", "ε = 0.1")])
    '<table class="facts">\\n<tr><th>cost</th><td>ε = 0.1</td></tr>\\n</table>'
    """
    rows = "\n".join(f"<tr><th>{html.escape(name)}</th><td>{lines(text)}</td></tr>" for name, text in named)
    return f'<table class="facts">\n{rows}\n</table>'


def cells(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    wide: Sequence[int] = (),
) -> str:
    """Return a table of plain text; columns of numbers, by their place, are set to the right.

    Columns that are ``wide`` are left out in a narrow window, because the page says the same elsewhere.
    """

    def line(tag: str, texts: Sequence[str]) -> str:
        named = {"number": numbers, "wide": wide}
        classes = [[name for name, places in named.items() if place in places] for place in range(len(texts))]
        kinds = [f' class="{" ".join(each)}"' if each else "" for each in classes]
        return "".join(
            f"<{tag}{kind}>{html.escape(text)}</{tag}>" for kind, text in zip(kinds, texts, strict=True)
        )

    return table([line("th", head), *(line("td", row) for row in rows)])


def table(rows: Sequence[str]) -> str:
    """Return a table of lines of cells; where the window is too narrow for it, it can be moved sideways."""
    inside = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="sideways"><table>\n{inside}\n</table></div>'


def folded(summary: str, inside: str) -> str:
    """Return a piece that is opened by a click."""
    return f"<details><summary>{html.escape(summary)}</summary>{inside}</details>"

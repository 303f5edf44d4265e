# SPDX-License-Identifier: Apache-2.0
"""A page that stands alone: its style, and what is around a report; no script, nothing from any address."""

from __future__ import annotations

import html
from collections.abc import Sequence

STYLE = """\
.anonymaly-find { font: 15px/1.45 system-ui, sans-serif; color: #2b2b2b; background: #fff; max-width: 64em;
  overflow-wrap: anywhere; }
.anonymaly-find h1 { font-size: 1.5em; line-height: 1.25; margin: 0.3em 0 0.5em; }
.anonymaly-find h2 { font-size: 1.25em; margin: 1.6em 0 0.4em; }
.anonymaly-find h3 { font-size: 1.05em; margin: 0 0 0.5em; }
.anonymaly-find p { margin: 0.5em 0; }
.anonymaly-find table { border-collapse: collapse; margin: 0.5em 0; color: inherit; font-size: inherit; }
/* A notebook colours the rows of tables for its own background. */
.anonymaly-find tr:nth-child(n) { background: transparent !important; }
.anonymaly-find th, .anonymaly-find td { text-align: left !important; vertical-align: top;
  padding: 0.3em 1em 0.3em 0; border-bottom: 1px solid #e4e4e4; overflow-wrap: break-word; }
.anonymaly-find .number { text-align: right !important; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.anonymaly-find .sideways { overflow-x: auto; }
.anonymaly-find .name { white-space: nowrap; }
.anonymaly-find .card { border: 1px solid #dcdcdc; border-radius: 6px; padding: 0.9em 1.1em;
  margin: 0.9em 0; break-inside: avoid; }
.anonymaly-find .warning { border-left: 5px solid #d55e00; background: #fdf1ea; padding: 0.6em 0.9em; }
.anonymaly-find .faint { color: #5a5a5a; }
.anonymaly-find h3 .faint { font-weight: normal; margin-left: 0.8em; }
.anonymaly-find .values span { display: inline-block; margin: 0 1.1em 0.25em 0; }
.anonymaly-find .values b { font-weight: 600; }
.anonymaly-find svg { display: block; max-width: 100%; height: auto; }
.anonymaly-find .part { display: grid; grid-template-columns: 180px 3.6em 1fr; column-gap: 0.6em;
  align-items: center; margin: 0.25em 0; }
.anonymaly-find .group { border-top: 1px solid #e4e4e4; margin-top: 0.8em; padding-top: 0.4em; }
@media (max-width: 44em) {
  .anonymaly-find .part { grid-template-columns: 72px 3.4em 1fr; align-items: start; }
  .anonymaly-find .wide { display: none; }
}
"""


def whole_page(title: str, body: str) -> str:
    """Return a page around a fragment; the browser itself refuses whatever is not in it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    said = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{said}</title>\n</head>\n'
        '<body style="margin: 1.2em 5%; color-scheme: light; background: #fff">\n'
        f"{body}\n</body>\n</html>\n"
    )


def fragment(title: str, *parts: str) -> str:
    """Return a report for a notebook, or for the page: a title, its parts, and the style of both."""
    heading = f"<h1>{html.escape(title[:1].upper() + title[1:])}</h1>"
    inside = "\n".join([heading, *(part for part in parts if part)])
    return f'<div class="anonymaly-find">\n<style>\n{STYLE}</style>\n{inside}\n</div>'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    shown = f' class="{kind}"' if kind else ""
    return f"<p{shown}>{html.escape(text)}</p>"


def table(lines: Sequence[str]) -> str:
    """Return a table of lines of cells; where the window is too narrow for it, it can be moved sideways."""
    rows = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="sideways"><table>\n{rows}\n</table></div>'

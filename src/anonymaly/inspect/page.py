# SPDX-License-Identifier: Apache-2.0
"""The owner's look as a page: a bar for each column; no script, and nothing from any address."""

from __future__ import annotations

import html
from collections.abc import Iterator

from anonymaly.inspect.found import NOTHING_READ, WARNING, ColumnLook, ColumnsLook

BAR, HEIGHT = 260, 14  # of a bar, in pixels
# Colours that colour-blind readers can distinguish, too; a pattern of words stands beside them.
PARTS = {
    "within": "#0072b2",
    "outside": "#e69f00",
    "undeclared": "#cc79a7",
    "unreadable": "#d55e00",
    "null": "#c4c4c4",
}
STYLE = """\
.anonymaly-look { font: 15px/1.45 system-ui, sans-serif; color: #2b2b2b; background: #fff; padding: 0.6em; }
.anonymaly-look table { border-collapse: collapse; margin: 1em 0; }
.anonymaly-look th, .anonymaly-look td { text-align: left; vertical-align: top;
  padding: 0.35em 0.9em 0.35em 0; border-bottom: 1px solid #e4e4e4; }
.anonymaly-look .number { text-align: right; font-variant-numeric: tabular-nums; }
.anonymaly-look .warning { border-left: 5px solid #d55e00; background: #fdf1ea; padding: 0.6em 0.9em; }
.anonymaly-look .lost { color: #b34700; font-weight: 600; }
.anonymaly-look .faint { color: #666; }
.anonymaly-look svg { display: block; margin-top: 0.3em; }
.anonymaly-look code { background: #f2f2f2; padding: 0 0.25em; white-space: pre-wrap; }
.anonymaly-look .key { display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.3em 0 0.9em; }
"""


def page(look: ColumnsLook) -> str:
    """Return a whole page, to be opened in a browser that is connected to nothing."""
    title = html.escape(f"{look.name}: what is read of each column")
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'"  # the browser itself refuses whatever is not here
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n</head>\n'
        "<body>\n<h1 style='font-family: system-ui, sans-serif; margin: 0.5em 8px'>"
        f"{title}</h1>\n{fragment(look)}\n"
        "</body>\n</html>\n"
    )


def fragment(look: ColumnsLook) -> str:
    """Return the part of a page that a notebook shows."""
    rows = "\n".join(_row(column) for column in look.columns)
    facts = "\n".join(f"<li>{html.escape(fact)}</li>" for fact in look.facts())
    heads = "".join(f'<th class="number">{name}</th>' for name in PARTS)
    keys = "".join(
        f'<span class="key" style="background: {colour}"></span>{name}' for name, colour in PARTS.items()
    )
    return (
        f'<div class="anonymaly-look">\n<style>\n{STYLE}</style>\n'
        f'<p class="warning">{html.escape(WARNING)}</p>\n<ul>\n{facts}\n</ul>\n'
        f'<p class="faint">rows:{keys}</p>\n'
        f"<table>\n<tr><th>column</th>{heads}<th>not read as declared: the most frequent</th></tr>\n"
        f"{rows}\n</table>\n</div>"
    )


def _row(column: ColumnLook) -> str:
    name = f"<strong>{html.escape(column.column)}</strong>"
    declared = f'<div class="faint">{html.escape(column.declared)}</div>'
    numbers = "".join(f'<td class="number">{getattr(column, part):,}</td>' for part in PARTS)
    return f"<tr><td>{name}{declared}{_bar(column)}</td>{numbers}<td>{''.join(_troubles(column))}</td></tr>"


def _troubles(column: ColumnLook) -> Iterator[str]:
    spellings = ", ".join(f"<code>{html.escape(item.text)}</code> {item.rows:,}" for item in column.spellings)
    more = column.distinct - len(column.spellings)
    if spellings:
        yield f"<div>{spellings}{f' and {more:,} more' if more > 0 else ''}</div>"
    for remark in column.remarks():
        kind = "lost" if remark.startswith(NOTHING_READ) else "faint"
        yield f'<div class="{kind}">{html.escape(remark)}</div>'


def _bar(column: ColumnLook) -> str:
    """Return one bar of all rows, cut into what becomes of them."""
    if not column.rows:
        return ""
    said = ", ".join(f"{name} {getattr(column, name):,}" for name in PARTS)
    left, pieces = 0.0, []
    for name, colour in PARTS.items():
        width = BAR * getattr(column, name) / column.rows
        if width:
            pieces.append(
                f'<rect x="{left:.2f}" y="0" width="{max(width, 1):.2f}" height="{HEIGHT}" fill="{colour}"/>'
            )
        left += width
    return (
        f'<svg width="{BAR}" height="{HEIGHT}" viewBox="0 0 {BAR} {HEIGHT}" role="img" aria-label="{said}">'
        f"<title>{said}</title>{''.join(pieces)}</svg>"
    )

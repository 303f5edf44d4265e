# SPDX-License-Identifier: Apache-2.0
"""The owner's look as a page: a bar for each column; no script, and nothing from any address."""

from __future__ import annotations

import html
from collections.abc import Iterator

from anonymaly.inspect.found import NOTHING_READ, WARNING, ColumnLook, ColumnsLook
from anonymaly.pictures.page import OF_A_PAGE, paragraph
from anonymaly.pictures.page import STYLE as OF_PIECES

BAR, HEIGHT = 220, 14  # of a bar, in pixels
# Colours that colour-blind readers can distinguish, too; a pattern of words stands beside them.
PARTS = {
    "within": "#0072b2",
    "outside": "#e69f00",
    "undeclared": "#cc79a7",
    "unreadable": "#d55e00",
    "null": "#a0a0a0",
}
# Where there are no heads, each number says itself what it is.
_NAMED = "\n".join(
    f'  .anonymaly .look td:nth-child({place})::before {{ content: "{name} "; opacity: 0.75; }}'
    for place, name in enumerate(PARTS, start=2)
)
# Beside the style of all pieces: colours are those of what is around it, as a theme has them.
STYLE = f"""\
.anonymaly.seen {{ max-width: 80em; }}
.anonymaly .look {{ margin: 1em 0; }}
.anonymaly .look svg {{ width: {BAR}px; max-width: none; height: {HEIGHT}px; margin-top: 0.3em; }}
.anonymaly .look td:first-child {{ min-width: {BAR}px; }}
.anonymaly .lost {{ font-weight: 600; }}
.anonymaly code {{ color: inherit; background: rgba(127, 127, 127, 0.2); padding: 0 0.25em;
  white-space: pre-wrap; }}
.anonymaly .key {{ display: inline-block; line-height: 1; border-left: 0.8em solid; padding-left: 0.3em;
  margin-left: 0.9em; }}
/* On a phone a column is a card: seven cells side by side would leave each a word wide. */
@media (max-width: 44em) {{
  .anonymaly .look table, .anonymaly .look tbody {{ display: block; width: 100%; }}
  .anonymaly .look tr {{ display: block; text-align: left; padding: 0.5em 0;
    border-bottom: 1px solid rgba(127, 127, 127, 0.3); }}
  .anonymaly .look tr:first-child {{ display: none; }}
  .anonymaly .look td {{ display: block; border: 0; }}
  .anonymaly .look td.number {{ display: inline-block; text-align: left !important; }}
{_NAMED}
}}
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
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
        f"<style>{OF_A_PAGE}</style>\n</head>\n"
        "<body>\n<h1 style='font-family: system-ui, sans-serif; margin: 0.5em 0'>"
        f"{title}</h1>\n{fragment(look)}\n"
        "</body>\n</html>\n"
    )


def fragment(look: ColumnsLook) -> str:
    """Return the part of a page that a notebook shows."""
    rows = "\n".join(_row(column) for column in look.columns)
    facts = "\n".join(f"<li>{html.escape(fact)}</li>" for fact in look.facts())
    heads = "".join(f'<th class="number">{name}</th>' for name in PARTS)
    keys = "".join(
        f'<span class="key" style="border-color: {colour}">{name}</span> ' for name, colour in PARTS.items()
    )
    return (
        f'<div class="anonymaly seen"><style>{OF_PIECES}{STYLE}</style>\n'
        f"{paragraph(WARNING, 'warning')}\n<ul>\n{facts}\n</ul>\n"
        f'<p class="keys">rows:{keys}</p>\n<div class="sideways look"><table>\n'
        f"<tr><th>column</th>{heads}<th>not read as declared: the most frequent</th></tr>\n"
        f"{rows}\n</table></div>\n</div>"
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

# SPDX-License-Identifier: Apache-2.0
"""Text files in which each line is one record, whatever quotes it holds.

A reader that lets values in quotes go on over several lines lets one open quote swallow all lines after it:
one record then changes how others are read, and noise that hides one record does not hide that. Here the
fields of a record are a function of its own line, defined for every text:

- a field that begins with a quote, and has another one that is not doubled, is what stands between the two,
  with doubled quotes read as one; what follows up to the delimiter is left out;
- any other field is what stands up to the next delimiter, quotes and all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ibis

if TYPE_CHECKING:
    import ibis.expr.types as ir

LINE = "`line`"  # not line, which a folder may be called after
# It ends what is read of a line, and stands for the delimiter while quotes are taken off: control characters
# that no file has beside another delimiter; where a line has them, only that line is cut.
SEPARATOR = "\x1f\x1e\x1d"
IRREGULAR = "\x1f\x1e\x1c"
QUOTE = '"'

# A function that the engine has and Ibis does not.
_extract_all = ibis.udf.scalar.builtin(
    lambda text, pattern: ..., name="regexp_extract_all", signature=((str, str), "array<string>")
)


def records(lines: ir.Table, names: Sequence[str], delimiter: str, further: Sequence[str] = ()) -> ir.Table:
    """Return the records of a table of lines; empty fields are null, and surplus ones are left out.

    Lines with too few fields are not records. Further columns stand beside the lines, and are kept.
    """
    split = _split(lines, delimiter, further)
    found = split.filter(split.fields.length() >= len(names))
    kept = {name: found[_beside(place)] for place, name in enumerate(further)}
    return found.select(**{name: found.fields[place].nullif("") for place, name in enumerate(names)}, **kept)


def lengths(lines: ir.Table, names: Sequence[str], delimiter: str) -> ir.Table:
    """Return how many fields each line has, and how many a record needs; lines without anything are left out.

    Of a file with one column they are records.
    """
    some = lines if len(names) == 1 else lines.filter(lines[LINE].fill_null("") != "")
    split = _split(some, delimiter)
    return split.select(values=split.fields.length(), needed=ibis.literal(len(names), "int64"))


def _beside(place: int) -> str:
    return f"`beside {place}`"  # no name of ours, and no declared column has a backquote in its name


def _split(lines: ir.Table, delimiter: str, further: Sequence[str] = ()) -> ir.Table:
    """Return the fields of each line, and the further columns beside them."""
    line = lines[LINE].fill_null("")
    beside = {_beside(place): lines[name] for place, name in enumerate(further)}
    marked = lines.select(line=line, marked=_marked(line, delimiter), **beside)
    text, mark = marked.line, marked.marked
    return marked.select(
        *beside,
        fields=ibis.cases(
            (mark.isnull(), text.split(delimiter)),
            (mark.contains(IRREGULAR), _one_by_one(text, delimiter)),
            else_=mark.split(SEPARATOR)[1:-1],
        ),
    )


def _marked(line: ir.StringValue, delimiter: str) -> ir.StringValue:
    """Return a line with its quotes taken off and each delimiter outside them replaced; null without quotes.

    Cut at its quotes, a regular line is outside and inside of them in turn, and every part outside begins and
    ends with a delimiter, or is empty, between the two quotes that stand for one.
    """
    parts = (ibis.literal(delimiter) + line + delimiter).split(QUOTE)

    def mark(part: ir.StringValue, place: ir.IntegerValue) -> ir.StringValue:
        whole = part.startswith(delimiter) & part.endswith(delimiter)
        return ibis.cases(
            (place % 2 == 1, part),
            (part == "", ibis.literal(QUOTE)),
            (whole, part.replace(delimiter, SEPARATOR)),
            else_=ibis.literal(IRREGULAR),
        )

    return ibis.cases(
        (~line.contains(QUOTE), ibis.null("string")),
        (parts.length() % 2 == 1, ibis.literal("").join(parts.map(mark))),
        else_=ibis.literal(IRREGULAR),
    )


def _one_by_one(line: ir.StringValue, delimiter: str) -> ir.ArrayValue:
    """Return the fields of any line; several times slower than where quotes are regular."""
    pattern = f'[{delimiter}]("(?:[^"]|"")*"|[^{delimiter}]*)'

    def clean(piece: ir.StringValue) -> ir.StringValue:
        field = piece.substr(1)
        quoted = (field.length() > 1) & field.startswith(QUOTE) & field.endswith(QUOTE)
        inner = field.substr(1, field.length() - 2)
        return ibis.cases((quoted, inner.replace(QUOTE + QUOTE, QUOTE)), else_=field)

    return _extract_all(ibis.literal(delimiter) + line, pattern).map(clean)

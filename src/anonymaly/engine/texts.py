# SPDX-License-Identifier: Apache-2.0
"""Texts read as their owner declares: numbers, flags, categories and null markers.

An expression names the text as seldom as it can, because PostgreSQL works it out anew each time.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import ibis
import ibis.expr.datatypes as dt

from anonymaly.engine import moments
from anonymaly.engine.columns import Kind
from anonymaly.engine.engine import Engine
from anonymaly.engine.reading import BLANKS, Reading

if TYPE_CHECKING:
    import ibis.expr.types as ir

# No number of so many digits is too large or too small for a double, which a cast might not forgive.
_DIGITS, _WHOLE_DIGITS = 200, 15
_EXPONENT = "[eE][+-]?[12]?[0-9]{1,2}"
_BEFORE_EXPONENT, _AFTER_POINT = 8, 20
_WIDE_BLANKS = " \u00a0\u2009\u202f"  # no-break and thin spaces, which stand between thousands and before €
_SEPARATORS = {" ": _WIDE_BLANKS, "'": "'\u2019"}

# Functions that engines have and Ibis does not.
_chr = ibis.udf.scalar.builtin(lambda code: ..., name="chr", signature=((dt.int32,), str))
_trim = ibis.udf.scalar.builtin(lambda text, characters: ..., name="trim", signature=((str, str), str))


def read_text(text: ir.StringValue, kind: Kind, reading: Reading, engine: Engine) -> ir.Value:
    """Return a column of plain text read as a kind; what is not written as declared is null."""
    kept = text if kind in ("text", "opaque") and not reading.trim else trimmed(text)
    match kind:
        case "text" | "opaque":
            return _category(kept, reading)
        case "number":
            return _number(_unmarked(kept, reading), reading, engine)
        case "whole number":
            return _whole(_unmarked(kept, reading), reading, engine)
        case "flag":
            return _flag(_unmarked(kept, reading), reading)
        case "moment":
            return moments.read_moment(folded(_unmarked(kept, reading)), reading, engine)


def is_marked(text: ir.StringValue, kind: Kind, reading: Reading) -> ir.BooleanValue:
    """Return for each text whether it is one that the owner declares to mean null."""
    trim = reading.trim or kind not in ("text", "opaque")
    kept = trimmed(text) if trim else text
    markers = sorted({reading.plain(marker, trim=trim) for marker in reading.nulls})
    return (folded(kept) if reading.fold else kept).isin(markers) if markers else ibis.literal(False)


def trimmed(text: ir.StringValue) -> ir.StringValue:
    """Return texts without the spaces around them, of ASCII alone: engines differ in what others are."""
    characters = ibis.literal("")
    for blank in BLANKS:
        # By their numbers: a statement with a line feed in a text is hard to read.
        characters = characters + (" " if blank == " " else _chr(ord(blank)))
    kept: ir.StringValue = _trim(text, characters)
    return kept


def folded(text: ir.StringValue) -> ir.StringValue:
    """Return texts in small letters, from A to Z alone: engines differ in what others are."""
    small: ir.StringValue = text.translate(string.ascii_uppercase, string.ascii_lowercase)
    return small


def _unmarked(kept: ir.StringValue, reading: Reading, *, trim: bool = True) -> ir.StringValue:
    """Return texts as they are compared, with null in place of those that mean null."""
    text = folded(kept) if reading.fold else kept
    for marker in dict.fromkeys(reading.plain(marker, trim=trim) for marker in reading.nulls):
        text = text.nullif(marker)
    return text


def _category(kept: ir.StringValue, reading: Reading) -> ir.StringValue:
    """Return each text as the declared value that it is a spelling of, if it is one."""
    nothing = ibis.null("string")
    trim = reading.trim
    known = {reading.plain(marker, trim=trim): nothing for marker in reading.nulls}
    for value, spellings in reading.same:
        known |= {reading.plain(text, trim=trim): ibis.literal(value) for text in (value, *spellings)}
    if not known:
        return kept
    text = folded(kept) if reading.fold else kept
    return text.cases(*known.items(), else_=kept)


def _flag(text: ir.StringValue, reading: Reading) -> ir.BooleanValue:
    # The words that everybody has are the same in capital letters.
    text = text if reading.means_true else folded(text)
    cases = [(word, ibis.literal(meaning)) for word, meaning in reading.words.items()]
    return text.cases(*cases, else_=ibis.null("boolean"))


def _number(text: ir.StringValue, reading: Reading, engine: Engine) -> ir.FloatingValue:
    point = f"[{reading.decimal}]"
    fraction = f"{point}[0-9]{{1,{_DIGITS}}}"
    plain = f"{_integer(reading, _DIGITS)}(?:{point}[0-9]{{0,{_DIGITS}}})?|{fraction}"
    short = f"[0-9]{{1,{_BEFORE_EXPONENT}}}(?:{point}[0-9]{{0,{_AFTER_POINT}}})?{_EXPONENT}"
    valid, number = _without_signs(text, f"{short}|{plain}", reading)
    for separator in _separators(reading):
        number = number.replace(separator, "")
    number = number.replace("+", "").replace(reading.decimal, ".")
    double = number.try_cast("float64") if engine.forgives else number.cast("float64")
    # Of the two zeros, which engines call equal, only one may be there.
    one_zero = ibis.coalesce(double.nullif(0.0), 0.0)
    return ibis.cases((valid, one_zero), else_=ibis.null("float64"))


def _whole(text: ir.StringValue, reading: Reading, engine: Engine) -> ir.IntegerValue:
    point = f"[{reading.decimal}]"
    # 1.0 is the whole number 1, and 1.5 is none.
    valid, number = _without_signs(text, f"{_integer(reading, _WHOLE_DIGITS)}(?:{point}0*)?", reading)
    for separator in _separators(reading):
        number = number.replace(separator, "")
    number = number.replace("+", "").re_extract(f"^(-?[0-9]+){point}?0*$", 1)
    whole = number.try_cast("int64") if engine.forgives else number.cast("int64")
    return ibis.cases((valid, whole), else_=ibis.null("int64"))


def _integer(reading: Reading, digits: int) -> str:
    """Return what matches digits before the point, all together or in groups of three."""
    plain = f"[0-9]{{1,{digits}}}"
    if not _separators(reading):
        return plain
    groups = f"[0-9]{{1,3}}(?:[{_separators(reading)}][0-9]{{3}}){{1,{digits // 3 - 1}}}"
    return f"(?:{groups}|{plain})"


def _separators(reading: Reading) -> str:
    return _SEPARATORS.get(reading.thousands or "", reading.thousands or "")


def _without_signs(
    text: ir.StringValue, pattern: str, reading: Reading
) -> tuple[ir.BooleanValue, ir.StringValue]:
    """Return whether a text is a number with at most one sign before and after, and the number alone."""
    if not reading.signs:
        return text.re_search(f"^[+-]?(?:{pattern})$"), text
    texts = {reading.plain(sign, trim=False) for sign in reading.signs}
    # The longest first: a sign may begin like another.
    sign = "|".join(
        "".join(map(_escaped, item)) for item in sorted(texts, key=lambda item: (-len(item), item))
    )
    space = f"[{_WIDE_BLANKS}]?"
    start = f"^(?:([+-]?)(?:{sign}){space}|(?:{sign}){space}([+-])|([+-]?))"
    whole = f"{start}({pattern}){space}(?:{sign})?$"
    pieces = [ibis.coalesce(text.re_extract(whole, place), "") for place in (1, 2, 3, 4)]
    return text.re_search(whole), pieces[0] + pieces[1] + pieces[2] + pieces[3]


def _escaped(character: str) -> str:
    return f"[{character}]" if character in ".|?*+(){}[]$" else character

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

# No number of so many characters is too large or too small for a double, which a cast might not forgive.
# A pattern that counts up to so many would be five times slower.
_LONGEST, _WHOLE_DIGITS = 300, 15
_EXPONENT = "[eE][+-]?[12]?[0-9]{1,2}"
_BEFORE_EXPONENT, _AFTER_POINT = 8, 20
_WIDE_BLANKS = " \u00a0\u2009\u202f"  # no-break and thin spaces, which stand between thousands and before €
_SEPARATORS = {" ": _WIDE_BLANKS, "'": "'\u2019"}

# Functions that engines have and Ibis does not.
_chr = ibis.udf.scalar.builtin(lambda code: ..., name="chr", signature=((dt.int32,), str))
_trim = ibis.udf.scalar.builtin(lambda text, characters: ..., name="trim", signature=((str, str), str))


def plain(text: ir.StringValue, kind: Kind, reading: Reading) -> ir.StringValue:
    """Return what a text is compared as: without spaces around it, and in small letters, as declared.

    It is worked out in a select of its own: what reads it names it often, and DuckDB would work it out as
    often (100,000 dates: 18 s, and 0.6 s this way).
    """
    kept = _kept(text, kind, reading)
    return folded(kept) if reading.fold or _is_always_folded(kind, reading) else kept


def read_text(
    text: ir.StringValue, plain: ir.StringValue, kind: Kind, reading: Reading, engine: Engine
) -> ir.Value:
    """Return a column of text, given with its plain form, read as a kind; what is not as declared is null."""
    if kind in ("text", "opaque"):
        return _category(_kept(text, kind, reading), plain, reading)
    match kind:
        case "number":
            value: ir.Value = _number(plain, reading, engine)
        case "whole number":
            value = _whole(plain, reading, engine)
        case "flag":
            value = _flag(plain, reading)
        case _:
            value = moments.read_moment(plain, reading, engine)
    marked = _is_among_nulls(text, plain, kind, reading)
    return value if marked is None else ibis.cases((marked, ibis.null(value.type())), else_=value)


def _kept(text: ir.StringValue, kind: Kind, reading: Reading) -> ir.StringValue:
    return trimmed(text) if _trims(kind, reading) else text


def _trims(kind: Kind, reading: Reading) -> bool:
    return reading.trim or kind not in ("text", "opaque")


def _is_always_folded(kind: Kind, reading: Reading) -> bool:
    # The words that everybody has for true, false, months and afternoons are the same in capital letters.
    return kind == "moment" or (kind == "flag" and not reading.means_true)


def _is_among_nulls(
    text: ir.StringValue, plain: ir.StringValue, kind: Kind, reading: Reading
) -> ir.BooleanValue | None:
    markers = sorted({reading.plain(marker, trim=_trims(kind, reading)) for marker in reading.nulls})
    compared = plain if reading.fold else _kept(text, kind, reading)
    return compared.isin(markers) if markers else None


def is_marked(text: ir.StringValue, plain: ir.StringValue, kind: Kind, reading: Reading) -> ir.BooleanValue:
    """Return for each text, given with its plain form, whether the owner declares it to mean null."""
    marked = _is_among_nulls(text, plain, kind, reading)
    return ibis.literal(False) if marked is None else marked


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


def _category(kept: ir.StringValue, plain: ir.StringValue, reading: Reading) -> ir.StringValue:
    """Return each text as the declared value that it is a spelling of, if it is one."""
    nothing = ibis.null("string")
    trim = reading.trim
    known = {reading.plain(marker, trim=trim): nothing for marker in reading.nulls}
    for value, spellings in reading.same:
        known |= {reading.plain(text, trim=trim): ibis.literal(value) for text in (value, *spellings)}
    return plain.cases(*known.items(), else_=kept) if known else kept


def _flag(text: ir.StringValue, reading: Reading) -> ir.BooleanValue:
    cases = [(word, ibis.literal(meaning)) for word, meaning in reading.words.items()]
    return text.cases(*cases, else_=ibis.null("boolean"))


def _number(text: ir.StringValue, reading: Reading, engine: Engine) -> ir.FloatingValue:
    point = f"[{reading.decimal}]"
    plain = f"{_integer(reading)}(?:{point}[0-9]*)?|{point}[0-9]+"
    short = f"[0-9]{{1,{_BEFORE_EXPONENT}}}(?:{point}[0-9]{{0,{_AFTER_POINT}}})?{_EXPONENT}"
    valid, number = _without_signs(text, f"{short}|{plain}", reading)
    for separator in _separators(reading):
        number = number.replace(separator, "")
    number = number.replace("+", "").replace(reading.decimal, ".")
    double = number.try_cast("float64") if engine.forgives else number.cast("float64")
    # Of the two zeros, which engines call equal, only one may be there.
    one_zero = ibis.coalesce(double.nullif(0.0), 0.0)
    return ibis.cases((valid & (text.length() <= _LONGEST), one_zero), else_=ibis.null("float64"))


def _whole(text: ir.StringValue, reading: Reading, engine: Engine) -> ir.IntegerValue:
    point = f"[{reading.decimal}]"
    # 1.0 is the whole number 1, and 1.5 is none.
    valid, number = _without_signs(text, f"{_integer(reading, _WHOLE_DIGITS)}(?:{point}0*)?", reading)
    for separator in _separators(reading):
        number = number.replace(separator, "")
    number = number.replace("+", "").re_extract(f"^(-?[0-9]+){point}?0*$", 1)
    whole = number.try_cast("int64") if engine.forgives else number.cast("int64")
    return ibis.cases((valid, whole), else_=ibis.null("int64"))


def _integer(reading: Reading, digits: int | None = None) -> str:
    """Return what matches digits before the point, all together or in groups of three."""
    plain = "[0-9]+" if digits is None else f"[0-9]{{1,{digits}}}"
    if not _separators(reading):
        return plain
    group = f"(?:[{_separators(reading)}][0-9]{{3}})"
    groups = f"{group}+" if digits is None else f"{group}{{1,{digits // 3 - 1}}}"
    return f"(?:[0-9]{{1,3}}{groups}|{plain})"


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
    return text.re_search(whole), text.re_replace(whole, r"\1\2\3\4")


def _escaped(character: str) -> str:
    return f"[{character}]" if character in ".|?*+(){}[]$" else character

# SPDX-License-Identifier: Apache-2.0
"""Moments read as their owner declares: by formats, as Unix times, and on the clock of a time zone.

All of it is regular expressions and arithmetic with whole numbers that no value can make fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ibis

from anonymaly.engine.dates import MONTHS, Format, read_formats
from anonymaly.engine.engine import Engine
from anonymaly.engine.reading import Reading
from anonymaly.engine.zones import offsets

if TYPE_CHECKING:
    import ibis.expr.types as ir

_PER_SECOND = 1_000_000
# Units of a Unix time: how many a second has, and the digits up to the year 5138, and back to 1653.
_UNITS = {"seconds": 1, "milliseconds": 1_000, "microseconds": _PER_SECOND}
_DIGITS_AFTER, _DIGITS_BEFORE = 11, 10

# A zone may move a moment by a day, which must not leave the calendar; infinity is in none.
_ENDS = ("0002-01-01 00:00:00+00", "9998-12-31 00:00:00+00")


def read_moment(text: ir.StringValue, reading: Reading, engine: Engine) -> ir.TimestampValue:
    """Return texts in small letters read as moments; what no format reads is null."""
    ways = [_of_format(text, form, reading, engine) for form in read_formats(reading.dates)]
    if reading.unix is not None:
        ways.insert(0, _of_unix(_counted(text, reading.unix, engine), reading, engine))
    return ibis.coalesce(*ways) if len(ways) > 1 else ways[0]


def read_unix(column: ir.NumericValue, reading: Reading, engine: Engine) -> ir.TimestampValue:
    """Return numbers read as Unix times; null where they are out of range."""
    per_second = _UNITS[reading.unix or "seconds"]
    low, high = -(10**_DIGITS_BEFORE) * per_second + 1, 10**_DIGITS_AFTER * per_second - 1
    kept = ibis.cases((column.between(low, high), column), else_=ibis.null(column.type()))
    if column.type().is_integer():
        return _of_unix(kept.cast("int64") * (_PER_SECOND // per_second), reading, engine)
    # Half a microsecond up, by hand: engines round halves differently.
    counted = (kept.cast("float64") * float(_PER_SECOND // per_second) + 0.5).floor().cast("int64")
    return _of_unix(counted, reading, engine)


def read_zoned(column: ir.TimestampValue, reading: Reading, engine: Engine) -> ir.TimestampValue:
    """Return moments of the whole world, which the engine holds as such, on the clock of the zone."""
    # Compared first: DuckDB fails to convert moments at the end of what it can hold.
    low, high = (ibis.literal(end).cast(column.type()) for end in _ENDS)
    within = ibis.cases((column.between(low, high), column), else_=ibis.null(column.type()))
    kept = engine.in_utc(within)
    # Whole seconds first: not every engine's seconds are whole, and a fraction must not be rounded up.
    second = kept.truncate("s").epoch_seconds().cast("int64")
    return engine.later(kept, _offset(second, reading, engine))


def _of_format(text: ir.StringValue, form: Format, reading: Reading, engine: Engine) -> ir.TimestampValue:
    second, fraction = _second(text, form, engine), ibis.literal(0, "int64")
    if form.has_offset:
        second = second + _offset(second, reading, engine)
    if "f" in form.parts:
        digits = text.re_extract(form.parts["f"], 1)
        # What is finer than a microsecond is cut off.
        fraction = _whole((digits + "000000").substr(0, 6), engine, 0)
    moment = engine.moment(second, fraction)
    return ibis.cases((text.re_search(form.valid), moment), else_=ibis.null(moment.type()))


def _second(text: ir.StringValue, form: Format, engine: Engine) -> ir.IntegerValue:
    """Return the seconds since 1970: in UTC if the text has an offset, otherwise by its own clock.

    The parts have patterns of their own, so that each is a day, a month or an hour whatever the text is.
    """

    def part(token: str, default: int) -> ir.IntegerValue:
        if token not in form.parts:
            return ibis.literal(default, "int64")
        return _whole(text.re_extract(form.parts[token], 1), engine, default)

    # The first of a month is a day of every calendar; the day is added as a number.
    first = ibis.date(_year(part, form), _month(text, part, form), 1)
    days = first.delta(ibis.literal("1970-01-01").cast("date"), unit="day") + part("d", 1) - 1
    hour = part("H", 0)
    if "I" in form.parts:
        afternoon = text.re_extract(form.parts["p"], 1) == "pm"
        hour = part("I", 0) % 12 + ibis.ifelse(afternoon, 12, 0)
    second = days * 86_400 + hour * 3_600 + part("M", 0) * 60 + part("S", 0)
    if not form.has_offset:
        return second
    sign, hours, minutes = (text.re_extract(form.parts[name], 1) for name in ("z+", "zh", "zm"))
    ahead = _whole(hours, engine, 0) * 3_600 + _whole(minutes, engine, 0) * 60
    return second + ibis.ifelse(sign == "-", 1, -1) * ahead


def _year(part: Callable[[str, int], ir.IntegerValue], form: Format) -> ir.IntegerValue:
    if "y" not in form.parts:
        return part("Y", 1970)
    year = part("y", 0)
    return year + ibis.ifelse(year < 69, 2_000, 1_900)


def _month(
    text: ir.StringValue, part: Callable[[str, int], ir.IntegerValue], form: Format
) -> ir.IntegerValue:
    token = next((token for token in "bB" if token in form.parts), None)
    if token is None:
        return part("m", 1)
    name = text.re_extract(form.parts[token], 1).substr(0, 3)
    # One search, where a case for each month would cut out the name twelve times.
    found = ibis.literal(" ".join(name[:3] for name in MONTHS)).find(name) / 4
    return ibis.coalesce(found, 0.0).cast("int64") + 1


def _whole(digits: ir.StringValue, engine: Engine, default: int) -> ir.IntegerValue:
    whole = digits.try_cast("int64") if engine.forgives else digits.cast("int64")
    return ibis.coalesce(whole, ibis.literal(default, "int64"))


def _counted(text: ir.StringValue, unit: str, engine: Engine) -> ir.IntegerValue:
    """Return the microseconds that a text counts since 1970; null if it is no number or out of range."""
    more = len(str(_UNITS[unit])) - 1  # digits that a unit has more than a second
    finer = 6 - more  # digits that a microsecond has more than the unit
    number = "^(?:-[0-9]{1,%d}|[+]?[0-9]{1,%d})(?:[.][0-9]{0,20})?$"
    valid = text.re_search(number % (_DIGITS_BEFORE + more, _DIGITS_AFTER + more))
    parts = "^([+-]?)([0-9]+)[.]?([0-9]*)$"
    whole = _whole(text.re_extract(parts, 2).substr(0, _DIGITS_AFTER + more), engine, 0)
    counted = whole * 10**finer
    if finer:
        fraction = ibis.coalesce(text.re_extract(parts, 3), "") + "0" * finer
        counted = counted + _whole(fraction.substr(0, finer), engine, 0)
    sign = ibis.ifelse(text.startswith("-"), -1, 1)
    return ibis.cases((valid, sign * counted), else_=ibis.null("int64"))


def _of_unix(counted: ir.IntegerValue, reading: Reading, engine: Engine) -> ir.TimestampValue:
    fraction = (counted % _PER_SECOND + _PER_SECOND) % _PER_SECOND
    # Divided without a rest, and of so many digits that a double holds them.
    second = ((counted - fraction) / _PER_SECOND).cast("int64")
    return engine.moment(second + _offset(second, reading, engine), fraction)


def _offset(second: ir.IntegerValue, reading: Reading, engine: Engine) -> ir.IntegerValue:
    """Return by how many seconds the zone's clock is ahead of UTC at a second of the whole world."""
    if reading.zone is None:
        return ibis.literal(0, "int64")
    changes, found = offsets(reading.zone)
    return engine.step(second, changes, found)

# SPDX-License-Identifier: Apache-2.0
"""What each reading means, in plain Python and without regular expressions; engines are compared with it."""

from __future__ import annotations

import string
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from anonymaly.declare.domain import Categories, Domain
from anonymaly.engine.dates import MONTHS, TOKENS
from anonymaly.engine.reading import Reading

BLANKS = " \t\n\r\v\f"
WIDE = " \u00a0\u2009\u202f"
LONGEST = 300  # characters of a number
EPOCH = datetime(1970, 1, 1)


def read(text: str | None, domain: Domain) -> Any:  # noqa: PLR0911
    """Return what a text is read as in a column that is declared so."""
    if text is None or domain.read is None:
        return text
    reading = domain.read
    kept = text.strip(BLANKS) if reading.trim or domain.kind not in ("text", "opaque") else text
    if compared(kept, reading) in {compared(marker_of(item, domain), reading) for item in reading.nulls}:
        return None
    match domain.kind:
        case "number":
            return number(compared(kept, reading), reading)
        case "whole number":
            value = whole(compared(kept, reading), reading)
        case "flag":
            return flag(kept, reading)
        case "moment":
            return moment(small(kept), reading)
        case "text" | "opaque":
            value = spelled(kept, domain)
    if isinstance(domain, Categories) and domain.other is not None and value is not None:
        return value if value in domain.values else domain.other
    return value


def marker_of(text: str, domain: Domain) -> str:
    always = domain.kind not in ("text", "opaque")
    return text.strip(BLANKS) if always or (domain.read is not None and domain.read.trim) else text


def small(text: str) -> str:
    return "".join(chr(ord(letter) + 32) if letter in string.ascii_uppercase else letter for letter in text)


def compared(text: str, reading: Reading) -> str:
    return small(text) if reading.fold else text


def spelled(text: str, domain: Domain) -> str:
    reading = domain.read
    assert reading is not None
    spellings = dict(reading.same)
    for value in domain.values if isinstance(domain, Categories) else ():
        for spelling in (str(value), *spellings.get(str(value), ())):
            meant = spelling.strip(BLANKS) if reading.trim else spelling
            if compared(text, reading) == compared(meant, reading):
                return str(value)
    return text


def flag(text: str, reading: Reading) -> bool | None:
    if not reading.means_true:
        word = small(text)
        return True if word in ("1", "t", "true", "y", "yes") else False if word in (
            "0", "f", "false", "n", "no",
        ) else None  # fmt: skip
    for meaning, words in ((True, reading.means_true), (False, reading.means_false)):
        if compared(text, reading) in {compared(word.strip(BLANKS), reading) for word in words}:
            return meaning
    return None


def number(text: str, reading: Reading) -> float | None:
    if len(text) > LONGEST:
        return None
    found = {float(f"{sign}{body}") + 0.0 for sign, body in bodies(text, reading) if is_number(body, reading)
             for body in [plain_number(body, reading)]}  # fmt: skip
    assert len(found) < 2, f"{text!r} is read in two ways"
    return found.pop() if found else None


def whole(text: str, reading: Reading) -> int | None:
    found = set()
    for sign, body in bodies(text, reading):
        before, _, after = body.partition(reading.decimal)
        if is_integer(before, reading, 15) and not after.strip("0"):
            found.add(int(sign + plain_number(before, reading)))
    assert len(found) < 2, f"{text!r} is read in two ways"
    return found.pop() if found else None


def bodies(text: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Return each way to take plus or minus and the signs off."""
    signs = [compared(sign, reading) for sign in reading.signs]
    yield from cut_sign(text)
    ends = [text]
    for sign in signs:
        if text.endswith(sign):
            rest = text[: -len(sign)]
            ends += [rest, *([rest[:-1]] if rest[-1:] and rest[-1] in WIDE else [])]
    # A space at the end that no sign follows is taken off with those around the text, if it is of ASCII.
    if signs and text[-1:] and text[-1] in WIDE:
        ends.append(text[:-1])
    for end in ends:
        yield from cut_sign(end)
        for sign in signs:
            for minus, rest in cut_sign(end):
                if rest.startswith(sign):
                    yield from ((minus, body) for body in spaced(rest[len(sign) :]))
            if end.startswith(sign):
                for body in spaced(end[len(sign) :]):
                    yield from cut_sign(body)


def spaced(text: str) -> list[str]:
    return [text, text[1:]] if text[:1] and text[0] in WIDE else [text]


def cut_sign(text: str) -> Iterator[tuple[str, str]]:
    if text[:1] in ("+", "-"):
        yield text[0], text[1:]
    else:
        yield "", text


def digits(text: str, most: int) -> bool:
    return 0 < len(text) <= most and all(letter in string.digits for letter in text)


def separators(reading: Reading) -> str:
    return {" ": WIDE, "'": "'\u2019", None: ""}.get(reading.thousands, reading.thousands or "")


def is_integer(text: str, reading: Reading, most: int) -> bool:
    if digits(text, most):
        return True
    for separator in separators(reading):
        text = text.replace(separator, "\0")
    first, *groups = text.split("\0")
    fit = 0 < len(groups) < most // 3
    return fit and digits(first, 3) and all(len(group) == 3 and digits(group, 3) for group in groups)


def is_number(text: str, reading: Reading) -> bool:
    mantissa, mark, exponent = text.replace("E", "e").partition("e")
    before, point, after = mantissa.partition(reading.decimal)
    if mark:
        size = exponent[1:] if exponent[:1] in ("+", "-") else exponent
        fits = digits(size, 3) and (len(size) < 3 or size[0] in "12")
        return fits and digits(before, 8) and (not after or digits(after, 20))
    if not before:
        return bool(point) and digits(after, LONGEST)
    return is_integer(before, reading, LONGEST) and (not after or digits(after, LONGEST))


def plain_number(text: str, reading: Reading) -> str:
    for separator in separators(reading):
        text = text.replace(separator, "")
    return text.replace(reading.decimal, ".")


def moment(text: str, reading: Reading) -> datetime | None:
    if reading.unix is not None and (found := unix(text, reading)) is not None:
        return found
    for form in reading.dates or ("iso",):
        found_all = {on_clock(parts, reading) for shape in shapes(form) for parts in parses(text, shape)} - {
            None
        }
        assert len(found_all) < 2, f"{text!r} is read in two ways by {form}"
        if found_all:
            return found_all.pop()
    return None


def shapes(form: str) -> list[str]:
    if form != "iso":
        return [form]
    times = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f"]
    return ["%Y-%m-%d"] + [
        f"%Y-%m-%d{between}{time}{offset}"
        for between in " t" for time in times for offset in ("", "%z", " %z")
    ]  # fmt: skip


def parses(text: str, form: str, before: str = "") -> Iterator[dict[str, str]]:
    """Return each way to cut a text into the tokens of a format."""
    if not form:
        if not text:
            yield {}
        return
    if form[0] != "%":
        if text[:1] == small(form[0]):
            yield from parses(text[1:], form[1:], form[0])
        return
    token, rest = form[1], form[2:]
    beside = before.isdigit() or before in ("%" + item for item in "dmYyHIMSf")
    beside = beside or rest[:1].isdigit() or rest[:2] in ("%" + item for item in "dmYyHIMSf")
    for length in range(1, min(len(text), 10) + 1):
        if takes(text[:length], token, beside):
            for parts in parses(text[length:], rest, "%" + token):
                yield {token: text[:length], **parts}


def takes(text: str, token: str, beside: bool) -> bool:  # noqa: PLR0911
    match token:
        case "b":
            return text in {name[:3] for name in MONTHS}
        case "B":
            return text in MONTHS
        case "p":
            return text in ("am", "pm")
        case "Y":
            return len(text) == 4 and digits(text, 4)
        case "y":
            return len(text) == 2 and digits(text, 2)
        case "f":
            return digits(text, 9)
        case "z":
            hour, minute = text[1:3], text[3:].removeprefix(":")
            small_enough = digits(hour, 2) and len(hour) == 2 and int(hour) < 24
            exact = text[3:] == "" or (len(minute) == 2 and digits(minute, 2) and int(minute) < 60)
            return text == "z" or (text[0] in "+-" and small_enough and exact)
    assert token in TOKENS
    return digits(text, 2) and (len(text) == 2 or not beside)


def on_clock(parts: dict[str, str], reading: Reading) -> datetime | None:
    year = int(parts.get("Y", "0"))
    if "y" in parts:
        year = int(parts["y"]) + (2000 if int(parts["y"]) < 69 else 1900)
    month = int(parts.get("m", "1"))
    for name in (parts.get("b"), parts.get("B")):
        month = month if name is None else 1 + [item[:3] for item in MONTHS].index(name[:3])
    hour = int(parts.get("H", "0"))
    if "I" in parts:
        if not 1 <= int(parts["I"]) <= 12:
            return None
        hour = int(parts["I"]) % 12 + (12 if parts["p"] == "pm" else 0)
    fraction = int((parts.get("f", "") + "000000")[:6])
    try:
        found = datetime(year, month, int(parts.get("d", "1")), hour, int(parts.get("M", "0")),
                         int(parts.get("S", "0")), fraction)  # fmt: skip
    except ValueError:
        return None
    if "z" not in parts:
        return found
    if not 2 <= year <= 9998:
        return None
    offset = parts["z"]
    ahead = timedelta(0)
    if offset != "z":
        ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[3:].removeprefix(":") or "0"))
    return to_zone(found + ahead if offset[0] == "-" else found - ahead, reading)


def unix(text: str, reading: Reading) -> datetime | None:
    more = {"seconds": 0, "milliseconds": 3, "microseconds": 6}[reading.unix or "seconds"]
    ((sign, body),) = cut_sign(text)
    before, _, after = body.partition(".")
    if not digits(before, (10 if sign == "-" else 11) + more) or (after and not digits(after, 20)):
        return None
    counted = int(before) * 10 ** (6 - more) + int("0" + (after + "000000")[: 6 - more])
    return to_zone(EPOCH + timedelta(microseconds=-counted if sign == "-" else counted), reading)


def to_zone(moment: datetime, reading: Reading) -> datetime:
    # Beyond these years the first and the last offset hold.
    zone = zoneinfo.ZoneInfo(reading.zone or "UTC")
    near = min(max(moment, datetime(1900, 1, 1)), datetime(2101, 1, 1))
    ahead = near.replace(tzinfo=UTC).astimezone(zone).utcoffset()
    assert ahead is not None
    return moment + ahead

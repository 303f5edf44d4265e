# SPDX-License-Identifier: Apache-2.0
"""Formats of dates and times: a closed set of tokens, and regular expressions for what they read.

Engines differ in what their own functions take for a date, and some of them raise an error at 31/02. So the
calendar is in the expressions: one decides whether a text is a moment, another cuts it into its parts.
All of them are in small letters, have no backslash, and mean the same to every engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anonymaly.errors import InputError

ISO = "iso"
LONGEST = 100
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
TOKENS = {
    "d": "day, 1 to 31",
    "m": "month, 1 to 12",
    "b": "English month, Jan",
    "B": "English month, January",
    "Y": "year of four digits",
    "y": "year of two digits, 1969 to 2068",
    "H": "hour, 0 to 23",
    "I": "hour, 1 to 12",
    "p": "AM or PM",
    "M": "minute",
    "S": "second",
    "f": "fraction of a second",
    "z": "offset from UTC, such as +02:00 or Z",
}
# What a token says; a format says each at most once.
_PARTS = {"b": "m", "B": "m", "y": "Y", "I": "H"}
_NEEDS = {"d": "m", "m": "Y", "H": "d", "M": "H", "S": "M", "f": "S", "z": "M"}
_OPEN, _CLOSE, _SPACE = "(", ")", "s"  # not for owners: optional parts, and a space or T
_LITERAL = re.compile(r"[^%\\^]")
# The two forms of ISO 8601: as written, and with an offset.
_ISO_FORMS = ("%Y-%m-%d%(%s%H:%M%(:%S%(.%f%)%)%)", "%Y-%m-%d%s%H:%M%(:%S%(.%f%)%)%( %)%z")

_LEAP = "0[48]|[2468][048]|[13579][26]"  # of the last two digits
_ANY_YEAR = "000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3}"
# With an offset, a moment of the first or last year may be another one's.
_INNER_YEAR = "000[2-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8]"
_LEAP_YEAR = f"[0-9]{{2}}(?:{_LEAP})|(?:{_LEAP})00"
_HOURS = {"H": "{0}[0-9]|1[0-9]|2[0-3]", "I": "{0}[1-9]|1[0-2]"}
_DAYS = {28: "{0}[1-9]|1[0-9]|2[0-8]", 29: "29", 30: "{0}[1-9]|[12][0-9]|30", 31: "{0}[1-9]|[12][0-9]|3[01]"}
_LONG = (1, 3, 5, 7, 8, 10, 12)
_MONTHS_OF = {28: (2,), 29: (2,), 30: (4, 6, 9, 11), 31: _LONG}
_ANY_MONTH = tuple(range(1, 13))


@dataclass(frozen=True)
class Format:
    """One way to write a moment: what matches it, and what cuts out its parts."""

    valid: str
    """Matches the texts that are moments, and no others."""
    parts: dict[str, str]
    """For each token, what has it as its group; an offset's are ``z+``, ``zh`` and ``zm``."""

    @property
    def has_offset(self) -> bool:
        """Whether the moment is one of the whole world, not of a wall clock."""
        return "zh" in self.parts


def read_formats(texts: tuple[str, ...]) -> Iterator[Format]:
    """Return the formats in the order in which they are tried; ISO 8601 if there are none."""
    for text in texts or (ISO,):
        for form in _ISO_FORMS if text == ISO else (text,):
            yield _compile(list(_split(form)))


def check_format(text: str) -> None:
    """Refuse a format that has an unknown token, or does not say which moment it is."""
    if text == ISO:
        return
    if not 1 <= len(text) <= LONGEST:
        raise _unfit(text[:LONGEST], f"must have 1 to {LONGEST} characters")
    said: list[str] = []
    for kind, item in _split(text):
        if not kind:
            if not _LITERAL.fullmatch(item):
                raise _unfit(text, f"has {item!r}, which no format can have")
        elif item not in TOKENS:
            raise _unfit(text, f"has the token %{item}, which is not known")
        else:
            said.append(_PARTS.get(item, item))
            if item in "Ip" and not {"%I", "%p"} <= set(re.findall("%.", text)):
                raise _unfit(text, "has one of %I and %p without the other")
    for part in said:
        if said.count(part) > 1:
            raise _unfit(text, f"says the {TOKENS[part].partition(',')[0]} twice")
        if part in _NEEDS and _NEEDS[part] not in said:
            needed = TOKENS[_NEEDS[part]].partition(",")[0].removesuffix(" of four digits")
            raise _unfit(text, f"has {TOKENS[part].partition(',')[0]} without {needed}")
    if "Y" not in said:
        raise _unfit(text, "has no year")


def _unfit(text: str, problem: str) -> InputError:
    known = ", ".join(f"%{token} ({meaning})" for token, meaning in TOKENS.items())
    return InputError(f"{text!r} {problem}", field="dates", next_step=f"Write {ISO}, or a format of {known}.")


def _split(text: str) -> Iterator[tuple[bool, str]]:
    """Return the tokens of a format, and the characters between them."""
    for found in re.finditer(r"%(.?)|(.)", text, re.DOTALL):
        yield (False, found.group(2)) if found.group(1) is None else (True, found.group(1))


def _compile(items: list[tuple[bool, str]]) -> Format:
    tokens = [item for is_token, item in items if is_token]
    last_days = (28, 29, 30, 31) if "d" in tokens else (0,)
    valid = "|".join(_pattern(items, days) for days in last_days)
    named = [name for token in tokens if token in TOKENS for name in _OFFSET.get(token, (token,))]
    return Format(f"^(?:{valid})$", {name: f"^{_pattern(items, 0, name)}$" for name in named})


# The groups of an offset, of which one is wanted at a time.
_OFFSET = {"z": ("z+", "zh", "zm")}


def _pattern(items: list[tuple[bool, str]], days: int, wanted: str = "") -> str:
    """Return what matches the dates up to a day of the months that have it; with 0, those of any month.

    What is wanted is a group; not every engine has more than nine of them.
    """
    inner = (True, "z") in items
    pattern = ""
    for place, (is_token, item) in enumerate(items):
        if not is_token:
            pattern += _escaped(item)
        elif item in (_OPEN, _CLOSE, _SPACE):
            pattern += {_OPEN: "(?:", _CLOSE: ")?", _SPACE: "[ t]"}[item]
        elif item == "z":
            sign, hour, minute = ("" if name == wanted else "?:" for name in _OFFSET["z"])
            pattern += f"(?:z|({sign}[+-])({hour}[01][0-9]|2[0-3])(?::?({minute}[0-5][0-9]))?)"
        else:
            # Beside another digit, a part has all its digits; elsewhere a zero before it may be missing.
            zero = "0" if _is_digit(items, place - 1) or _is_digit(items, place + 1) else "0?"
            pattern += f"({'' if item == wanted else '?:'}{_token(item, zero, days, inner)})"
    return pattern


def _token(item: str, zero: str, days: int, inner: bool) -> str:  # noqa: PLR0911
    months = _MONTHS_OF.get(days, _ANY_MONTH)
    match item:
        case "d":
            return _DAYS[days or 31].format(zero)
        case "m":
            return "|".join(str(month) if month > 9 else f"{zero}{month}" for month in months)
        case "b":
            return "|".join(MONTHS[month - 1][:3] for month in months)
        case "B":
            return "|".join(MONTHS[month - 1] for month in months)
        case "Y":
            return _LEAP_YEAR if days == 29 else _INNER_YEAR if inner else _ANY_YEAR
        case "y":
            return f"00|{_LEAP}" if days == 29 else "[0-9]{2}"
        case "H" | "I":
            return _HOURS[item].format(zero)
        case "p":
            return "am|pm"
        case "f":
            return "[0-9]{1,9}"
    return "[0-5][0-9]" if zero == "0" else "[0-5]?[0-9]"


def _is_digit(items: list[tuple[bool, str]], place: int) -> bool:
    if not 0 <= place < len(items):
        return False
    is_token, item = items[place]
    return item in "dmYyHIMSf" if is_token else item.isdigit()


def _escaped(character: str) -> str:
    small = character.lower() if character.isascii() else character
    return f"[{small}]" if small in ".|?*+(){}[]$" else small

# SPDX-License-Identifier: Apache-2.0
"""How a column's dates and times are written: the formats that read a sample, and where two of them do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from anonymaly.engine.dates import ISO

ENOUGH = 0.9
_ISO = re.compile(r"%Y-%m-%d(?:[ T]%H:%M(?::%S(?:\.%f)?)?(?:%z)?)?")
UNIX = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6}
_FIRST, _LAST = 10**9 // 4, 4 * 10**9  # seconds: from 1977 to 2096

_DATES = {
    r"\d{4}-\d{1,2}-\d{1,2}": ("%Y-%m-%d",),
    r"\d{4}/\d{1,2}/\d{1,2}": ("%Y/%m/%d",),
    r"\d{4}\.\d{1,2}\.\d{1,2}": ("%Y.%m.%d",),
    r"\d{1,2}\.\d{1,2}\.\d{4}": ("%d.%m.%Y",),
    r"\d{1,2}/\d{1,2}/\d{4}": ("%d/%m/%Y", "%m/%d/%Y"),
    r"\d{1,2}-\d{1,2}-\d{4}": ("%d-%m-%Y", "%m-%d-%Y"),
    r"\d{1,2}\.\d{1,2}\.\d{2}": ("%d.%m.%y",),
    r"\d{1,2}/\d{1,2}/\d{2}": ("%d/%m/%y", "%m/%d/%y"),
    r"\d{8}": ("%Y%m%d",),
    r"\d{1,2} [A-Za-z]{3} \d{4}": ("%d %b %Y",),
    r"\d{1,2}-[A-Za-z]{3}-\d{4}": ("%d-%b-%Y",),
    r"\d{1,2} [A-Za-z]{4,} \d{4}": ("%d %B %Y",),
    r"[A-Za-z]{3} \d{1,2}, \d{4}": ("%b %d, %Y",),
    r"[A-Za-z]{4,} \d{1,2}, \d{4}": ("%B %d, %Y",),
}
_TIMES = {
    "": "",
    r"\d{1,2}:\d{2}": "%H:%M",
    r"\d{1,2}:\d{2}:\d{2}": "%H:%M:%S",
    r"\d{1,2}:\d{2}:\d{2}\.\d{1,6}": "%H:%M:%S.%f",
    r"\d{1,2}:\d{2} [APap][Mm]": "%I:%M %p",
    r"\d{1,2}:\d{2}:\d{2} [APap][Mm]": "%I:%M:%S %p",
}
_ZONE = r"(?P<zone>Z|[-+]\d{2}:?\d{2})?"
_FAMILIES = [
    (
        re.compile(f"{date}{f'(?P<gap>[ T]){time}{_ZONE}' if time else ''}", re.ASCII),
        formats,
        hours,
    )
    for date, formats in _DATES.items()
    for time, hours in _TIMES.items()
]


@dataclass(frozen=True)
class DateForm:
    """The formats of a column, in the order in which they are tried.

    ``choices`` are pairs of formats of which the sample fits both: the day first, or the month first.
    """

    formats: tuple[str, ...]
    choices: tuple[tuple[str, str], ...]
    offsets: bool
    covered: float


def sniff_dates(texts: Sequence[str]) -> DateForm | None:
    """Return the formats that read these texts, or None if most of them are no dates."""
    found: dict[tuple[str, ...], list[int]] = {}
    read, offsets = 0, False
    for text in texts:
        fit = _fitting(text)
        if fit is None:
            continue
        formats, works = fit
        read += any(works)
        offsets = offsets or formats[0].endswith("%z")
        counts = found.setdefault(formats, [0] * (1 + len(formats)))
        counts[-1] += any(works)
        for place, works_here in enumerate(works):
            counts[place] += works_here
    if not texts or read < ENOUGH * len(texts):
        return None
    chosen: list[tuple[int, str]] = []
    choices: list[tuple[str, str]] = []
    for formats, counts in found.items():
        *each, total = counts
        best = max(each)
        if total == 0:
            continue
        if len(formats) == 2 and (each[0] == each[1] or best < total):
            # Both read all of them, or each reads some that the other does not.
            choices.append((formats[0], formats[1]))
        else:
            chosen.append((total, formats[each.index(best)]))
    chosen.sort(key=lambda item: -item[0])
    names = (ISO if _ISO.fullmatch(name) else name for _, name in chosen)
    return DateForm(tuple(dict.fromkeys(names)), tuple(choices), offsets, read / len(texts))


def sniff_unix(texts: Sequence[str]) -> str | None:
    """Return the unit if these texts are whole numbers as large as today's Unix times, otherwise None."""
    whole = [text for text in texts if re.fullmatch("[0-9]{9,17}", text)]
    if not texts or len(whole) < ENOUGH * len(texts):
        return None
    for unit, ticks in UNIX.items():
        inside = sum(_FIRST * ticks <= int(text) < _LAST * ticks for text in whole)
        if inside >= ENOUGH * len(texts):
            return unit
    return None


def _fitting(text: str) -> tuple[tuple[str, ...], list[bool]] | None:
    """Return the formats of a text's shape, and which of them read it."""
    for shape, dates, hours in _FAMILIES:
        match = shape.fullmatch(text)
        if match is None:
            continue
        groups = match.groupdict()
        zone = "%z" if groups.get("zone") else ""
        formats = tuple(f"{date}{groups.get('gap') or ''}{hours}{zone}" for date in dates)
        return formats, [_reads(text, name) for name in formats]
    return None


def _reads(text: str, name: str) -> bool:
    try:
        return 1800 <= datetime.strptime(text, name).year < 2200
    except ValueError:
        return False

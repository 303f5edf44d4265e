# SPDX-License-Identifier: Apache-2.0
"""How a column's numbers are written: decimal comma, thousands separators, signs of currency and unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

# Only signs of this list are ever proposed, so that nothing else of a row gets into a declaration.
CURRENCIES = ("€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "kr", "zł")
PERCENT = ("%", "‰")
UNITS = ("kg", "g", "mg", "cm", "mm", "km", "m", "°C", "°F", "mmHg", "bpm", "h", "min", "s", "ms", "V", "kWh")
SIGNS = (*CURRENCIES, *PERCENT, *UNITS)
# In this order: of those that read a column alike, the first is proposed.
WAYS: tuple[tuple[str, str | None], ...] = (
    (".", None),
    (",", None),
    (".", ","),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
    (".", "_"),
)
ENOUGH = 0.9  # of a sample; the rest may be typing mistakes, which are read as null
_NUMBER = re.compile(r"(?P<minus>[-+]?)\s*(?P<digits>[0-9][0-9.,' _]*|[.,][0-9]+)(?P<power>[eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class NumberForm:
    """How numbers are written; several ways if the sample does not tell them apart."""

    ways: Sequence[tuple[str, str | None]]
    signs: tuple[str, ...]
    # A whole number with zeros in front, as a postcode has: a code, and no number.
    codes: bool
    whole: bool
    covered: float


def sniff_numbers(texts: Sequence[str]) -> NumberForm | None:
    """Return how these texts are written as numbers, or None if most of them are none."""
    parts = [_without_sign(text) for text in texts]
    numbers = [number for number, _ in parts if number is not None]
    if not texts or len(numbers) < ENOUGH * len(texts):
        return None
    read = {way: [read_number(number, *way) for number in numbers] for way in WAYS}
    counts = {way: sum(number is not None for number in found) for way, found in read.items()}
    best = max(counts.values())
    if best < ENOUGH * len(texts):
        # Written in several ways that no single reading can tell apart.
        mixed = [way for way in WAYS if counts[way] > 0.05 * len(texts)]
        several = sum(any(found) for found in zip(*(_known(read[way]) for way in mixed), strict=True))
        return (
            NumberForm(mixed, (), False, False, several / len(texts))
            if several >= ENOUGH * len(texts)
            else None
        )
    ways = [way for way in WAYS if counts[way] == best]
    first = ways[0]
    # A way that reads a text as another number than the first does makes the sample ambiguous.
    others = [way for way in ways[1:] if read[way] != read[first]]
    signs = tuple(sign for sign in SIGNS if any(sign in found for _, found in parts))
    return NumberForm(
        ways=[first, *_distinct(others, read)],
        signs=signs,
        codes=not signs and any(re.fullmatch("0[0-9]+", number) for number in numbers),
        whole=all(number is None or number == number.to_integral_value() for number in read[first]),
        covered=best / len(texts),
    )


def read_number(text: str, decimal: str, thousands: str | None) -> Decimal | None:
    """Return the number that a text means if it is written in this way, otherwise None."""
    if not _pattern(decimal, thousands).fullmatch(text):
        return None
    return Decimal(text.replace(thousands or "", "").replace(decimal, "."))


@cache
def _pattern(decimal: str, thousands: str | None) -> re.Pattern[str]:
    point = re.escape(decimal)
    plain = f"[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+"
    # No thousand begins with a zero.
    first = "[1-9][0-9]{0,2}"
    grouped = f"{first}(?:{re.escape(thousands)}[0-9]{{3}})+(?:{point}[0-9]+)?|" if thousands else ""
    return re.compile(f"[-+]?(?:{grouped}{plain})(?:[eE][-+]?[0-9]{{1,3}})?")


def _without_sign(text: str) -> tuple[str | None, tuple[str, ...]]:
    """Return a text without the signs before and after its number, and those signs."""
    match = _NUMBER.search(text)
    if match is None:
        return None, ()
    before, after = text[: match.start()].strip(), text[match.end() :].strip()
    minus = match["minus"]
    if before.startswith(("-", "+")) and not minus:  # -€ 5
        minus, before = before[0], before[1:].strip()
    found = tuple(sign for sign in (before, after) if sign)
    if any(sign not in SIGNS for sign in found):
        return None, ()
    return minus + match["digits"].rstrip(" ") + (match["power"] or ""), found


def _known(found: Iterable[Decimal | None]) -> list[bool]:
    return [number is not None for number in found]


def _distinct(
    ways: Sequence[tuple[str, str | None]], read: dict[tuple[str, str | None], list[Decimal | None]]
) -> list[tuple[str, str | None]]:
    """Return one way for each different list of numbers."""
    kept: list[tuple[str, str | None]] = []
    for way in ways:
        if all(read[way] != read[other] for other in kept):
            kept.append(way)
    return kept

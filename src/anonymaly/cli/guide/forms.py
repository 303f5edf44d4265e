# SPDX-License-Identifier: Apache-2.0
"""What the texts of one column look like: numbers, moments, true and false, ids, or text, and how written.

Only the form is taken from rows, never a bound or a category: formats, signs and words come from lists here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anonymaly.cli.guide.dates import DateForm, sniff_dates, sniff_unix
from anonymaly.cli.guide.numbers import NumberForm, sniff_numbers

Kind = Literal["number", "moment", "flag", "text", "nothing"]
NULLS = (
    "NA", "N/A", "n/a", "n.a.", "#N/A", "NaN", "NULL", "None", "nil", "-", "--", "---", ".", "?", "unknown",
    "not known", "missing", "unbekannt", "keine Angabe", "k.A.", "k. A.", "fehlt", "leer", "inconnu",
)  # fmt: skip
TRUE = ("true", "t", "yes", "y", "1", "on", "wahr", "ja", "j", "oui", "o", "vrai", "si", "sí", "x")
FALSE = ("false", "f", "no", "n", "0", "off", "falsch", "nein", "non", "faux")
ENOUGH = 0.95
MOST = 1_500  # values that are looked at, from all over the sample
FEW = 20  # values; fewer say little about how different they are


@dataclass(frozen=True)
class Form:
    """What a sample of a column looks like."""

    kind: Kind
    numbers: NumberForm | None = None
    dates: DateForm | None = None
    unix: str | None = None
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    # Nearly every value differs, as ids do; and long ones, as free text does.
    different: bool = False
    long: bool = False
    spaces: bool = False
    # Some texts differ in nothing but capital letters.
    capitals: bool = False
    covered: float = 1.0


def sniff(texts: Iterable[str], nulls: Collection[str]) -> Form:
    """Return what a column's texts look like, apart from those that mean null."""
    meaning = {text.casefold() for text in nulls}
    raw = [text for text in texts if text.strip() and text.strip().casefold() not in meaning]
    raw = raw[:: max(1, len(raw) // MOST)]
    trimmed = [text.strip() for text in raw]
    if not trimmed:
        return Form("nothing")
    shared: dict[str, Any] = {
        "capitals": len({text.casefold() for text in trimmed}) < len(set(trimmed)),
        "spaces": any(text != text.strip() for text in raw),
        "different": len(trimmed) >= FEW and len(set(trimmed)) > ENOUGH * len(trimmed),
        "long": sum(len(text) for text in trimmed) > 25 * len(trimmed),
    }
    words = _words(trimmed)
    if words is not None:
        return Form("flag", true=words[0], false=words[1], **shared)
    numbers = sniff_numbers(trimmed)
    unix = sniff_unix(trimmed)
    dates = sniff_dates(trimmed)
    if dates is not None:
        return Form("moment", dates=dates, numbers=numbers, covered=dates.covered, **shared)
    if numbers is not None and not numbers.codes:
        return Form("number", numbers=numbers, unix=unix, covered=numbers.covered, **shared)
    return Form("text", numbers=numbers, **shared)


def null_markers(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the known words for null that stand alone in a value of any column."""
    known = {text.casefold(): text for text in reversed(NULLS)}
    found = {
        known[text.strip().casefold()]
        for texts in columns.values()
        for text in set(texts)
        if text.strip().casefold() in known
    }
    return [text for text in NULLS if text in found]


def _words(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the words for true and for false, if all texts are such words and both kinds occur."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text.casefold()] = counts.get(text.casefold(), 0) + 1
    true, false = (tuple(word for word in words if word in counts) for words in (TRUE, FALSE))
    known = sum(counts[word] for word in (*true, *false))
    return (true, false) if true and false and known >= ENOUGH * len(texts) else None

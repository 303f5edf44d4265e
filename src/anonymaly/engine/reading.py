# SPDX-License-Identifier: Apache-2.0
"""`Reading`: how the values of a column are written, as its owner declares it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, StrictBool, StrictStr, field_validator, model_validator

from anonymaly.core.value import Ordered, Value, added, frozen_items, is_text
from anonymaly.engine.columns import Kind
from anonymaly.engine.dates import check_format
from anonymaly.engine.zones import check_zone
from anonymaly.errors import InputError

BLANKS = " \t\n\r\v\f"  # what is dropped around a value
LONGEST = 200  # characters of a text that is declared here
MOST = 1_000  # texts in a list
TRUE = ("1", "t", "true", "y", "yes")
FALSE = ("0", "f", "false", "n", "no")
# What says something about each kind of column; the rest is the same for all.
OF_KIND: Mapping[Kind, frozenset[str]] = {
    "number": frozenset({"decimal", "thousands", "signs"}),
    "whole number": frozenset({"decimal", "thousands", "signs"}),
    "moment": frozenset({"dates", "zone", "unix"}),
    "flag": frozenset({"means_true", "means_false"}),
    "text": frozenset({"same"}),
    "opaque": frozenset(),
}
OF_ALL = frozenset({"nulls", "trim", "fold"})


def _fold(text: str) -> str:
    # ASCII only: what capital letters are elsewhere differs between engines.
    return re.sub("[A-Z]", lambda letter: letter.group().lower(), text)


def _texts(items: Iterable[str], field: str, *, empty: bool = False) -> tuple[str, ...]:
    """Check texts that an engine is to compare with; in one order, so that the same list is the same text."""
    listed = tuple(sorted(set(items)))
    unfit = [text for text in listed if len(text) > LONGEST or "\0" in text or not is_text(text)]
    if unfit or len(listed) > MOST or (not empty and "" in listed):
        raise InputError(
            f"must be at most {MOST:,} texts of {0 if empty else 1} to {LONGEST} characters each",
            field=field,
            next_step="Name the spellings that the table has.",
        )
    return listed


def _written_as(data: Any) -> Any:
    if isinstance(data, Mapping) and not all(isinstance(item, list | tuple) for item in data.values()):
        raise ValueError("must name each value with a list of spellings, as in {Male: [M, m]}")
    return frozen_items(data)


def _field_of(*meanings: str) -> str:
    if "null" in meanings:
        return "nulls"
    return "means_false" if "false" in meanings else "same"


Texts = Annotated[tuple[StrictStr, ...], Ordered]
Spellings = Annotated[
    tuple[tuple[StrictStr, tuple[StrictStr, ...]], ...],
    BeforeValidator(_written_as),
    PlainSerializer(
        lambda items: {name: list(spellings) for name, spellings in items}, return_type=dict[str, list[str]]
    ),
]


class Reading(Value):
    """How the values of a column are written: what is not written so is null, never an error.

    Every reading is a function of the single value, and the same on every engine.

    Examples
    --------
    >>> Reading(decimal=",", thousands=".", signs=["€"]).to_json()
    '{"decimal":",","signs":["\\\\u20ac"],"thousands":"."}'
    """

    nulls: Texts = added(())
    """Texts that mean null, such as NA; in a column of numbers, those that are numbers count by size."""
    decimal: Literal[".", ","] = added(".")
    """What stands before a number's fraction."""
    thousands: Literal[".", ",", " ", "'", "_"] | None = added(None)
    """What stands between groups of three digits; " " is any space, no-break and thin ones too."""
    signs: Texts = added(())
    """Currency and percent signs before or after a number; they are dropped, the number is as written."""
    dates: Texts = added(())
    """Formats of dates and times, such as %d.%m.%Y %H:%M, or iso; the first that reads the text counts."""
    zone: StrictStr | None = added(None)
    """Where the clock hangs that moments with an offset are turned into, such as Europe/Berlin; else UTC."""
    unix: Literal["seconds", "milliseconds", "microseconds"] | None = added(None)
    """What a number in a column of moments counts, since 1970 in UTC."""
    means_true: Texts = added(())
    """The words for true; without them 1, t, true, y and yes, in capital or small letters."""
    means_false: Texts = added(())
    """The words for false; without them 0, f, false, n and no, in capital or small letters."""
    same: Spellings = added(())
    """Other spellings of declared values, as in {Male: [M, m]}."""
    trim: StrictBool = added(False)
    """Whether spaces around texts are dropped; around numbers, moments and flags they always are."""
    fold: StrictBool = added(False)
    """Whether capital and small letters are the same, from A to Z."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            nulls: Iterable[str] = (),
            decimal: str = ".",
            thousands: str | None = None,
            signs: Iterable[str] = (),
            dates: Iterable[str] = (),
            zone: str | None = None,
            unix: str | None = None,
            means_true: Iterable[str] = (),
            means_false: Iterable[str] = (),
            same: Mapping[str, Iterable[str]] = ...,
            trim: bool = False,
            fold: bool = False,
        ) -> None: ...

    @field_validator("nulls")
    @classmethod
    def _nulls(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        return _texts(texts, "nulls", empty=True)

    @field_validator("means_true", "means_false")
    @classmethod
    def _words(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        return _texts(texts, "means_true and means_false")

    @field_validator("signs")
    @classmethod
    def _signs(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        for text in (signs := _texts(texts, "signs")):
            if re.search(r"[0-9+\-\\^]", text) or text != text.strip():
                raise InputError(
                    f"has {text!r}: a sign has no digits, no plus or minus, none of \\ and ^, and no spaces "
                    "around it",
                    field="signs",
                    next_step='Name signs such as "€", "EUR" or "%".',
                )
        return signs

    @field_validator("dates")
    @classmethod
    def _dates(cls, formats: tuple[str, ...]) -> tuple[str, ...]:
        for text in formats:
            check_format(text)
        return tuple(dict.fromkeys(formats))

    @field_validator("zone")
    @classmethod
    def _zone(cls, zone: str | None) -> str | None:
        if zone is not None:
            check_zone(zone)
        return zone

    @field_validator("same")
    @classmethod
    def _same(cls, same: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((name, _texts(spellings, "same")) for name, spellings in same)

    @model_validator(mode="after")
    def _told_apart(self) -> Reading:
        if self.decimal == self.thousands:
            raise InputError(
                f"is {self.thousands!r}, as decimal is",
                field="thousands",
                next_step="Give each a sign of its own; decimal is '.' unless you say otherwise.",
            )
        for sign in self.signs:
            if sign + self.decimal in self.signs:
                raise InputError(
                    f"has {sign!r} and {sign + self.decimal!r}, which cannot be told apart before a number",
                    field="signs",
                    next_step="Leave one of them out.",
                )
        if bool(self.means_true) != bool(self.means_false):
            raise InputError(
                "is given alone",
                field="means_true" if self.means_true else "means_false",
                next_step="Give the words for both, as in means_true: [ja], means_false: [nein].",
            )
        self.refuse_clashes({}, always_trim=True)
        return self

    def refuse_clashes(self, values: Mapping[str, str], *, always_trim: bool) -> None:
        """Refuse spellings that mean two things; ``values`` are further texts with what they mean."""
        meanings: dict[str, Sequence[str]] = {
            **{f"the value {meant}": [text] for text, meant in values.items()},
            "null": self.nulls,
            "true": self.means_true,
            "false": self.means_false,
        }
        for name, spellings in self.same:
            meanings[f"the value {name}"] = [*meanings.get(f"the value {name}", ()), *spellings]
        found: dict[str, str] = {}
        for meaning, texts in meanings.items():
            for text in texts:
                other = found.setdefault(self.plain(text, trim=always_trim or self.trim), meaning)
                if other != meaning:
                    raise InputError(
                        f"has a spelling {text!r} that means {other} and {meaning}",
                        field=_field_of(other, meaning),
                        next_step="Leave it out of one of them; what a column declares for itself counts "
                        "before the defaults of the file.",
                    )

    def plain(self, text: str, *, trim: bool) -> str:
        """Return what a text is compared as: without spaces around it, and in small letters, as declared."""
        kept = text.strip(BLANKS) if trim else text
        return _fold(kept) if self.fold else kept

    @property
    def words(self) -> dict[str, bool]:
        """What each word of a flag means, as it is compared."""
        if not self.means_true:
            return {**dict.fromkeys(TRUE, True), **dict.fromkeys(FALSE, False)}
        return {
            self.plain(text, trim=True): meaning
            for meaning, texts in ((True, self.means_true), (False, self.means_false))
            for text in texts
        }

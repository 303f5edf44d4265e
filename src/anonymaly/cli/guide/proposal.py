# SPDX-License-Identifier: Apache-2.0
"""What is proposed for each column: how it is read, by its form; what is public about it, by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from anonymaly.cli.guide.forms import Form, null_markers, sniff
from anonymaly.cli.guide.names import (
    UNDECLARED,
    NameHint,
    has_role,
    person_column,
    sounds_like_a_moment,
    suggest,
)
from anonymaly.cli.guide.numbers import CURRENCIES, PERCENT
from anonymaly.cli.guide.sample import Sample
from anonymaly.engine import reading as words
from anonymaly.engine.dates import ISO

OUT = "out"  # the type of a column that no question sees
EXAMPLE, AMBIGUOUS = datetime(2020, 12, 31, 18, 30), datetime(2020, 4, 3)
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
EVERY_DAY = {"start": "1900-01-01", "end": "2099-12-31"}


@dataclass(frozen=True)
class Proposal:
    """What is proposed for a column.

    ``fields`` is what is public about it, suggested by its name; a "?" in it is the owner's to say. ``read``
    is how its values are written, as seen in the file. ``choices`` are readings that all fit the sample.
    """

    column: str
    type: str
    fields: dict[str, Any] = field(default_factory=dict)
    read: dict[str, Any] = field(default_factory=dict)
    choices: tuple[dict[str, Any], ...] = ()
    why: str = ""
    advice: str = ""
    seen: tuple[str, ...] = ()
    found: str = "text"
    offsets: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the owner still has to say something."""
        return has_open(self.declared())

    def declared(self) -> dict[str, Any]:
        """Return the column's declaration as the manifest holds it."""
        declared = {"type": self.type, **self.fields}
        if self.type == "timestamps" and self.has_times and _DAY.fullmatch(str(self.fields.get("end"))):
            # Whoever names a last day means all of it; to a manifest a day is its first moment.
            declared["end"] = f"{self.fields['end']} 23:59:59.999999"
        return {**declared, "read": self.read} if self.read else declared

    @property
    def has_times(self) -> bool:
        """Whether the column's values may say a time of a day."""
        formats = self.read.get("dates", [ISO])
        return "unix" in self.read or any(form == ISO or re.search("%[HI]", form) for form in formats)

    def without_suggestions(self) -> Proposal:
        """Return the proposal with a "?" wherever only the column's name suggests what is public."""
        if self.type not in ("interval", "categories", "timestamps"):
            return self
        blank = _blank(self.type)
        read = {name: item for name, item in self.read.items() if name != "same"}
        return replace(self, fields=blank, read=read)


@dataclass(frozen=True)
class TableProposal:
    """What is proposed for a table."""

    sample: Sample
    columns: tuple[Proposal, ...]
    nulls: tuple[str, ...]
    person: str | None
    trim: bool
    fold: bool

    @property
    def has_offsets(self) -> bool:
        """Whether any column holds moments that are the same all over the world."""
        return any("unix" in column.read or column.offsets for column in self.columns)

    def with_columns(self, columns: Sequence[Proposal]) -> TableProposal:
        """Return the proposal with other columns."""
        return replace(self, columns=tuple(columns))


def propose(sample: Sample, nulls: Sequence[str] | None = None) -> TableProposal:
    """Return what is proposed for a table; ``nulls`` are the owner's words for null, if they were asked."""
    # In free text, "none" is a word like any other.
    asked = {name: texts for name, texts in sample.texts.items() if not has_role(name)}
    markers = null_markers(asked) if nulls is None else list(nulls)
    forms = {name: sniff(texts, markers) for name, texts in sample.texts.items()}
    columns = []
    person = person_column(sample.names)
    for name in sample.names:
        kind = None if sample.types is None else sample.types[name]
        if name == person:
            columns.append(Proposal(name, OUT, why="an id by its name"))
        elif name in forms:
            proposed = _of_text(name, forms[name])
            columns.append(proposed if kind is None else replace(proposed, found=str(kind)))
        else:
            columns.append(_of_type(name, kind))
    declared = [column for column in columns if column.type not in (OUT, "opaque")]
    text = [forms[column.column] for column in declared if column.column in forms]
    return TableProposal(
        sample,
        tuple(columns),
        tuple(markers),
        person,
        trim=any(form.spaces for form in text),
        # Known words and spellings are found in capital and small letters, so they must be read so.
        fold=bool(markers)
        or any(form.capitals for form in text)
        or any({"same", "means_true"} & set(column.read) for column in declared),
    )


def has_open(data: Any) -> bool:
    """Say whether there is a "?" anywhere in plain data."""
    if isinstance(data, Mapping):
        return any(has_open(item) for item in data.values())
    return any(has_open(item) for item in data) if isinstance(data, list | tuple) else data == UNDECLARED


def _of_type(name: str, kind: Any) -> Proposal:
    """Propose by the type that an engine gives a column."""
    named = suggest(name)
    found = str(kind)
    if named is not None and named.role is not None:
        return Proposal(name, OUT, why=f"{named.why} by its name", found=found)
    if kind.is_boolean():
        return Proposal(name, "flag", found=found)
    if kind.is_numeric():
        return replace(_number(name, named, {}), found=found)
    if kind.is_timestamp() or kind.is_date():
        fields = (
            dict(named.fields) if named is not None and named.type == "timestamps" else _blank("timestamps")
        )
        return Proposal(name, "timestamps", fields, why=named.why if named else "", found=found)
    return Proposal(name, OUT, why=f"no question looks into {found}", found=found)


def _of_text(name: str, form: Form) -> Proposal:  # noqa: PLR0911  (one for each kind)
    """Propose by what a column's texts look like, and by its name."""
    named = suggest(name)
    if named is not None and named.role is not None:
        return Proposal(name, OUT, why=f"{named.why} by its name")
    if form.kind == "nothing" and named is None:
        seen = ("no values in the rows that were looked at",)
        return Proposal(name, "categories", _blank("categories"), seen=seen)
    if form.kind == "flag" and not (named is not None and named.type in ("interval", "categories")):
        return _flag(name, form)
    if form.kind == "moment" or (named is not None and named.type == "timestamps"):
        return _moment(name, form, named)
    if form.kind in ("number", "flag", "nothing") and not (named is not None and named.type == "categories"):
        if form.unix is not None and named is None and sounds_like_a_moment(name):
            read = {"unix": form.unix}
            seen = (f"whole numbers as large as Unix times in {form.unix}",)
            return Proposal(name, "timestamps", _blank("timestamps"), read, seen=seen)
        return _number(name, named, *_numbers_read(form), form=form)
    if named is not None and named.type == "categories":
        return _categories(name, form, named)
    if form.different and (named is None or named.type != "categories"):
        what = (
            "long texts, nearly all different: free text?"
            if form.long
            else "nearly all values differ: an id?"
        )
        return Proposal(name, OUT, why="", seen=(what,))
    other = [] if named is None else [f"named like {named.why}, but mostly other text"]
    return Proposal(name, "categories", _blank("categories"), seen=tuple(other))


def _flag(name: str, form: Form) -> Proposal:
    # The words that were seen, spelled as in the list, and not as in a row.
    seen = (f"{', '.join(form.true)} / {', '.join(form.false)}",)
    if set(form.true) <= set(words.TRUE) and set(form.false) <= set(words.FALSE):  # read without being told
        return Proposal(name, "flag", seen=seen)
    read = {"means_true": list(form.true), "means_false": list(form.false)}
    return Proposal(name, "flag", {}, read, seen=seen)


def _moment(name: str, form: Form, named: NameHint | None) -> Proposal:
    fitting = named is not None and named.type == "timestamps"
    fields = dict(named.fields) if named is not None and fitting else _blank("timestamps")
    why = named.why if named is not None and fitting else ""
    if form.dates is None:
        seen = ("no known date format",) if form.kind != "nothing" else ()
        read = {"dates": [UNDECLARED]} if seen else {}
        return Proposal(name, "timestamps", fields, read, why=why, seen=seen)
    certain = list(form.dates.formats)
    if form.dates.choices:
        options = tuple({"dates": [*certain, *chosen]} for chosen in zip(*form.dates.choices, strict=True))
        shown = " and ".join(option["dates"][-1] for option in options)
        seen = (f"both {shown} fit, as in {AMBIGUOUS.strftime(options[0]['dates'][-1])}",)
        return Proposal(name, "timestamps", fields, {"dates": [*certain, UNDECLARED]}, options, why, "", seen)
    offsets = form.dates.offsets
    seen = (
        ()
        if certain == [ISO] and not offsets
        else (f"like {' or '.join(map(_like, certain))}" + ", with offsets" * offsets,)
    )
    read = {"dates": certain} if seen else {}
    return Proposal(name, "timestamps", fields, read, why=why, seen=seen, offsets=offsets)


def _like(name: str) -> str:
    """Show a format by the last day of a year, which is not read from any row."""
    return "2020-12-31" if name == ISO else EXAMPLE.strftime(name)


def _numbers_read(form: Form) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
    if form.numbers is None:
        return {}, ()
    options = []
    for decimal, thousands in form.numbers.ways:
        read: dict[str, Any] = {} if decimal == "." else {"decimal": decimal}
        if thousands is not None:
            read["thousands"] = thousands
        if form.numbers.signs:
            read["signs"] = list(form.numbers.signs)
        options.append(read)
    if len(options) == 1:
        return options[0], ()
    return {**options[0], "decimal": UNDECLARED}, tuple(options)


def _number(
    name: str,
    named: NameHint | None,
    read: dict[str, Any],
    choices: tuple[dict[str, Any], ...] = (),
    form: Form | None = None,
) -> Proposal:
    fields, why, advice = _blank("interval"), "", ""
    signs = read.get("signs", [])
    if named is not None and named.type == "interval":
        fields, why, advice = dict(named.fields), named.why, named.advice
    elif set(signs) & set(PERCENT):
        fields, why = {"low": 0, "high": 100}, "a percentage"
    elif set(signs) & set(CURRENCIES):
        fields, why, advice = {"low": 0, "high": UNDECLARED}, "an amount of money", "at least 0"
    seen = []
    if choices:
        ways = [{"decimal": ".", **choice} for choice in choices]
        seen.append("two ways fit, choose one: " + "; or ".join(_ways(way) for way in ways))
    elif read:
        seen.append(", ".join(_said(name, item) for name, item in read.items()))
    if len(set(signs) - set(PERCENT)) > 1:
        seen.append("several signs: the number stays as it is written")
    if form is not None and form.unix is not None:
        seen.append(f"if they are Unix times: {{type: timestamps, …, read: {{unix: {form.unix}}}}}")
    return Proposal(name, "interval", fields, read, choices, why, advice, tuple(seen))


def _ways(read: dict[str, Any]) -> str:
    thousands = f", thousands by {read['thousands']!r}" if "thousands" in read else ""
    return f"decimal {read['decimal']!r}{thousands}"


def _said(name: str, item: Any) -> str:
    match name:
        case "decimal":
            return "decimal comma" if item == "," else "decimal point"
        case "thousands":
            return f"thousands by {item!r}"
        case _:
            return " ".join(item)


def _categories(name: str, form: Form, named: NameHint) -> Proposal:
    fields, read = dict(named.fields), dict(named.read)
    numbers = form.numbers is not None and not form.numbers.codes and form.kind != "text"
    known = UNDECLARED not in fields["values"] and form.kind != "nothing"
    if known and numbers != all(isinstance(value, int) for value in fields["values"]):
        seen = (f"named like {named.why}, but {'numbers' if numbers else 'text'}",)
        return Proposal(name, "categories", _blank("categories"), why=named.why, seen=seen)
    return Proposal(name, "categories", fields, read, why=named.why, advice=named.advice)


def _blank(kind: str) -> dict[str, Any]:
    match kind:
        case "interval":
            return {"low": UNDECLARED, "high": UNDECLARED}
        case "timestamps":
            return {"start": UNDECLARED, "end": UNDECLARED}
        case "categories":
            return {"values": [UNDECLARED]}
        case _:
            return {}

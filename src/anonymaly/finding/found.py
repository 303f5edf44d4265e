# SPDX-License-Identifier: Apache-2.0
"""What a find found: the oddest of the asker's records, their reasons, and explanations of the first few."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.core.files import appearing
from anonymaly.errors import InputError
from anonymaly.finding.plan import FindPlan
from anonymaly.promise import Guarantee
from anonymaly.questions.explain.everyone.picture import strip
from anonymaly.questions.explain.everyone.value import Explanation, shown_value
from anonymaly.questions.score.reasons import Reason, Reasons

MOST_VALUES = 12  # of a record in a line of text
LONGEST_NAME = 40  # characters of a value that a record is called by
LONGEST = 120  # characters of a value that are shown
AGAIN = "The same command asked again is free for what is stored, and goes on with what is missing."


@dataclass(frozen=True)
class Explained:
    """What was asked about one odd record, and what came of it.

    Attributes
    ----------
    explanation
        The answer; None if there is none.
    missing
        Why there is none.
    note
        What was changed to ask it.
    share, charged, number
        The named share and what this call was charged, in billionths of ε, and the answer's number.
    failed
        Whether the question was asked and failed, rather than not asked.
    """

    explanation: Explanation | None
    share: int
    charged: int = 0
    number: int | None = None
    missing: str | None = None
    note: str | None = None
    failed: bool = False

    def words(self, *, drawn: bool = False) -> list[str]:
        """Return it in words, a line each; with a strip below each group whose quartiles are known."""
        found = self.explanation
        if found is None:
            return [f"no explanation: {self.missing}"]
        if not found.groups:
            if not found.needed:  # nothing is drawn for an owner, so that the least margin counts
                return [f"stands out in {found.metric} in no group"]
            return [
                f"stands out in {found.metric} in no group, or not clearly enough: a record is seen at this "
                f"share of ε if about {shown_value(found.needed)} others would have to change before it no "
                "longer stood out"
            ]
        lines = []
        for group in found.groups:
            lines += [f"stands out in {found.metric} {group.brief}", found.reason(group)]
            if drawn and group.quartiles is not None:
                lines.append(strip(found.record_value, group.quartiles))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "share": to_text(self.share),
            "charged": to_text(self.charged),
            "number": self.number,
            "explanation": None if self.explanation is None else self.explanation.to_dict(),
            "words": None if self.explanation is None else self.words(),
            "missing": self.missing,
            "note": self.note,
        }


@dataclass(frozen=True)
class OddRecord:
    """One of the oddest records.

    Attributes
    ----------
    row
        Its place among the records that were given, from 1.
    record
        Its values.
    reason
        What its score is made of.
    explained
        The group in which it stands out, where that was asked for.
    label
        What it is called: its values in columns that say nothing else, such as the number of a case.
    """

    row: int
    record: Mapping[str, Any]
    reason: Reason
    explained: Explained | None = None
    label: str = ""

    @property
    def title(self) -> str:
        """What it is called, and where it is."""
        return f"{self.label} (row {self.row:,})" if self.label else f"row {self.row:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        told = {**self.reason.to_dict(), "row": self.row}
        record = {name: plain(value) for name, value in self.record.items()}
        explained = {} if self.explained is None else {"explained": self.explained.to_dict()}
        return {**told, "record": record, **explained}

    def lines(self) -> list[str]:
        """Return it as text: its score, its values, what is odd about it, and the group it stands out in."""
        values = [f"{name} = {shown(value)}" for name, value in self.record.items()]
        more = [f"… {len(values) - MOST_VALUES:,} more"] if len(values) > MOST_VALUES else []
        found = [
            f"{self.title}: score {self.reason.score:.2f}",
            f"  [{', '.join([*values[:MOST_VALUES], *more])}]",
        ]
        found += [f"  {part.words} (+{part.part:.2f})" for part in self.reason.parts] or [f"  {self.reason}"]
        if self.explained is not None:
            note = [] if self.explained.note is None else [self.explained.note]
            found += [f"  > {line}" for line in [*self.explained.words(drawn=True), *note]]
        return found


def named_by(record: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return what a record is called by its first two values in some columns; long ones are no names.

    Examples
    --------
    >>> named_by({"age": 30, "case": "A-17", "file": 3}, ["case", "file"])
    'case A-17, file 3'
    """
    known = [name for name in names if record.get(name) is not None]
    short = [f"{name} {told}" for name in known if len(told := shown(record[name])) <= LONGEST_NAME]
    return ", ".join(short[:2])


def shown(value: Any) -> str:
    """Write a value as people read it: numbers in groups of three, long texts cut.

    Whole numbers of four digits are left as they are, as they may be years.

    Examples
    --------
    >>> shown(1999), shown(1999.0), shown(1900000), shown(0.25), shown(None), shown(False)
    ('1999', '1,999', '1,900,000', '0.25', 'missing', 'false')
    """
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    told = plain(value)
    if told is None or isinstance(told, bool):
        return "missing" if told is None else str(told).lower()
    if isinstance(told, int | float):
        return _number(told)
    text = str(told)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _number(number: float) -> str:
    if isinstance(number, int):
        return f"{number:,}" if abs(number) >= 10_000 else str(number)
    if number.is_integer() and abs(number) < 1e15:
        return f"{number:,.0f}"
    return f"{number:,.2f}" if 1000 <= abs(number) < 1e15 else f"{number:.6g}"


def plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@dataclass(frozen=True)
class OddRecords:
    """The oddest records, the oddest first, with all that was released about them, and what it cost.

    Attributes
    ----------
    plan
        What was planned: the questions, their named shares, and what they would cost at most.
    odd
        The oddest records, each with its reasons and its explanation.
    reasons
        The parts of their scores, as ``Model.reasons`` has them; rows are counted from 0.
    model_number, model_charged
        The model's answer, and what it was charged by this call.
    guarantee
        The promise of everything in here together.
    remaining
        What the account holds after it.
    """

    plan: FindPlan
    odd: tuple[OddRecord, ...]
    reasons: Reasons
    model_number: int | None
    model_charged: int
    guarantee: Guarantee
    remaining: int

    @property
    def records(self) -> list[dict[str, Any]]:
        """The oddest records themselves, with all of their columns."""
        return [dict(item.record) for item in self.odd]

    @property
    def explanations(self) -> list[Explanation | None]:
        """The explanations of the first few; None for one that there is not."""
        return [item.explained.explanation for item in self.odd if item.explained is not None]

    @property
    def charged(self) -> int:
        """What this call was charged in all, in billionths of ε."""
        return self.model_charged + sum(
            item.explained.charged for item in self.odd if item.explained is not None
        )

    @property
    def cost(self) -> str:
        """What this call was charged in all: ε, as decimal text."""
        return to_text(self.charged)

    @cached_property
    def failed(self) -> tuple[OddRecord, ...]:
        """The records whose explanation was asked for and did not come."""
        return tuple(item for item in self.odd if item.explained is not None and item.explained.failed)

    def paid(self) -> list[tuple[str, str, str, str]]:
        """Return name, share, charge and answer of each question."""
        model = self.plan.steps[0]
        lines = [("model", model.share, self.model_charged, self.model_number)]
        told = [item.explained for item in self.odd if item.explained is not None]
        lines += [
            (f"explanation {place}", item.share, item.charged, item.number)
            for place, item in enumerate(told, start=1)
        ]
        return [
            (name, to_text(share), to_text(charged), _answer(number, charged))
            for name, share, charged, number in lines
        ]

    def statement(self) -> list[str]:
        """Say in one place what was charged, what remains, and what is promised."""
        unspent = self.plan.epsilon - self.charged
        left = f"; ε = {to_text(unspent)} of {to_text(self.plan.epsilon)} stays unspent" if unspent else ""
        lines = [f"charged ε = {self.cost}{left}; {to_text(self.remaining)} remain in the account"]
        lines += self.guarantee.describe().splitlines()
        if self.failed:
            rows = ", ".join(f"row {item.row:,}" for item in self.failed)
            lines.append(f"Explanations are missing: {rows}. What was charged stays charged. {AGAIN}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data; rows are counted from 1."""
        return {
            "plan": self.plan.to_dict(),
            "records": [item.to_dict() for item in self.odd],
            "charged": self.cost,
            "remaining": to_text(self.remaining),
            "questions": [
                dict(zip(("name", "share", "charged", "answer"), line, strict=True)) for line in self.paid()
            ],
            "missing": [item.row for item in self.failed],
            "guarantee": self.guarantee.to_dict(),
        }

    def __str__(self) -> str:
        shown = [self.plan.title, ""]
        for item in self.odd:
            shown += [*item.lines(), ""]
        return "\n".join([*shown, *self.statement()])

    def __repr__(self) -> str:
        return f"OddRecords({len(self.odd)} of {self.plan.given} records, charged ε = {self.cost})"

    def _repr_html_(self) -> str:
        from anonymaly.finding.report import find_fragment  # noqa: PLC0415  (only notebooks and reports)

        return find_fragment(self)

    def to_html(self) -> str:
        """Return a page that needs nothing else: no address, no script."""
        from anonymaly.finding.report import page  # noqa: PLC0415

        return page(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; only its owner may read it, because it holds the asker's records."""
        save_page(self.to_html(), Path(path))


def save_page(text: str, path: Path) -> None:
    """Write a page as a whole, readable by its owner alone."""
    try:
        with appearing(path) as file:
            file.write(text.encode())
    except OSError as problem:
        raise InputError(
            f"cannot write {path} ({type(problem).__name__})", field="html", next_step="Name another file."
        ) from None


def _answer(number: int | None, charged: int) -> str:
    if number is None:
        return "no answer"
    return f"answer {number}" if charged else f"answer {number}, stored before: free"

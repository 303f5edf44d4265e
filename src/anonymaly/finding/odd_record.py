# SPDX-License-Identifier: Apache-2.0
"""One odd record: its values, its reasons, and what was asked about it; in words and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from anonymaly.core.epsilon import to_number, to_text
from anonymaly.questions.explain.everyone.picture import strip
from anonymaly.questions.explain.everyone.value import Explanation, shown_value
from anonymaly.questions.score.reasons import Reason

MOST_VALUES = 12  # of a record in a line of text
LONGEST_NAME = 40  # characters of a value that a record is called by
LONGEST = 120  # characters of a value that are shown


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
    share_nano, charged_nano, number
        The named share and what this call was charged, in nano-ε, and the answer's number.
    failed
        Whether the question was asked and failed, rather than not asked.
    """

    explanation: Explanation | None
    share_nano: int
    charged_nano: int = 0
    number: int | None = None
    missing: str | None = None
    note: str | None = None
    failed: bool = False

    @property
    def charged(self) -> float:
        """The ε that this call was charged for it."""
        return to_number(self.charged_nano)

    def words(self, *, drawn: bool = False) -> list[str]:
        """Return it in words, a line each; with a strip below each group whose quartiles are known."""
        found = self.explanation
        if found is None:
            return [f"no explanation: {self.missing}"]
        if not found.groups:
            if not found.needed:  # nothing is drawn for an owner, so that the least margin counts
                return [f"stands out in no group in {found.metric}"]
            return [
                f"stands out in no group in {found.metric}, or not clearly enough: at this share of ε a "
                f"record needs a margin of about {shown_value(found.needed)} records"
            ]
        lines = []
        for group in found.groups:
            lines += [f"stands out in {found.metric} {group.brief}", found.reason(group)]
            lines += strip(found, group) if drawn else []
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "share": to_text(self.share_nano),
            "charged": to_text(self.charged_nano),
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
    """Write a value as people read it: numbers in groups of three, long texts cut, no control characters.

    Whole numbers of four digits are left as they are, as they may be years.

    Examples
    --------
    >>> shown(1999), shown(1999.0), shown(1900000), shown(0.25), shown(None), shown(False)
    ('1999', '1,999', '1,900,000', '0.25', 'missing', 'false')
    >>> print(shown("\\x1b[2Jevil"))
    \\x1b[2Jevil
    """
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    told = plain(value)
    if told is None or isinstance(told, bool):
        return "missing" if told is None else str(told).lower()
    if isinstance(told, int | float):
        return _number(told)
    # Whoever writes a field of a table must not be able to write to a terminal by it.
    text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(told))
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

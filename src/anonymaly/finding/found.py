# SPDX-License-Identifier: Apache-2.0
"""What a find found: the oddest of the asker's records, their reasons, and explanations of the first few."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from anonymaly.core.epsilon import to_number, to_text
from anonymaly.core.files import appearing
from anonymaly.errors import InputError
from anonymaly.finding.odd_record import OddRecord
from anonymaly.finding.plan import FindPlan
from anonymaly.promise import Guarantee
from anonymaly.questions.explain.everyone.value import Explanation
from anonymaly.questions.score.reasons import Reasons

AGAIN = (
    "The same command asked again is free for what is stored, and goes on with what is missing; an answer "
    "that failed is charged anew."
)


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
    model_number, model_charged_nano
        The model's answer, and what it was charged by this call, in nano-ε.
    guarantee
        The promise of everything in here together.
    remaining_nano
        What the account, or the asker's part of it, holds after it, in nano-ε.
    """

    plan: FindPlan
    odd: tuple[OddRecord, ...]
    reasons: Reasons
    model_number: int | None
    model_charged_nano: int
    guarantee: Guarantee
    remaining_nano: int

    @property
    def records(self) -> list[dict[str, Any]]:
        """The oddest records themselves, with all of their columns."""
        return [dict(item.record) for item in self.odd]

    @property
    def explanations(self) -> list[Explanation | None]:
        """The explanations of the first few; None for one that there is not."""
        return [item.explained.explanation for item in self.odd if item.explained is not None]

    @property
    def charged_nano(self) -> int:
        """What this call was charged in all, in nano-ε."""
        return self.model_charged_nano + sum(
            item.explained.charged_nano for item in self.odd if item.explained is not None
        )

    @property
    def charged(self) -> float:
        """The ε that this call was charged in all."""
        return to_number(self.charged_nano)

    @property
    def remaining(self) -> float:
        """The ε that the account, or the asker's part of it, holds after it."""
        return to_number(self.remaining_nano)

    @property
    def cost(self) -> str:
        """What this call was charged in all: ε, as decimal text."""
        return to_text(self.charged_nano)

    @cached_property
    def failed(self) -> tuple[OddRecord, ...]:
        """The records whose explanation was asked for and did not come."""
        return tuple(item for item in self.odd if item.explained is not None and item.explained.failed)

    def paid(self) -> list[tuple[str, str, str, str]]:
        """Return name, share, charge and answer of each question."""
        model = self.plan.steps[0]
        lines = [("model", model.share_nano, self.model_charged_nano, self.model_number)]
        told = [item.explained for item in self.odd if item.explained is not None]
        lines += [
            (f"explanation {place}", item.share_nano, item.charged_nano, item.number)
            for place, item in enumerate(told, start=1)
        ]
        return [
            (name, to_text(share), to_text(charged), _answer(number, charged))
            for name, share, charged, number in lines
        ]

    def statement(self) -> list[str]:
        """Say in one place what was charged, what remains, and what is promised."""
        unspent = self.plan.epsilon_nano - self.charged_nano
        left = (
            f"; ε = {to_text(unspent)} of {to_text(self.plan.epsilon_nano)} stays unspent" if unspent else ""
        )
        lines = [f"charged ε = {self.cost}{left}; {to_text(self.remaining_nano)} remain"]
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
            "remaining": to_text(self.remaining_nano),
            "questions": [
                dict(zip(("name", "share", "charged", "answer"), line, strict=True)) for line in self.paid()
            ],
            "missing": [item.row for item in self.failed],
            "guarantee": self.guarantee.to_dict(),
        }

    def __str__(self) -> str:
        shown = [self.plan.title, *(f"note: {note}" for note in self.plan.notes), ""]
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
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"must end in .html, got {path}", field="path", next_step=f"Write, say, {path.stem}.html."
        )
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

# SPDX-License-Identifier: Apache-2.0
"""A declared rule that lets a question be asked, and counts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymaly.ask.secret import Digest
from anonymaly.ledger.counters import counter_of


@dataclass(frozen=True)
class Permit:
    """A rule, how many questions it allows, and what makes two questions the same to it.

    Parameters
    ----------
    rule : str
        The rule's name.
    questions : int
        How many different questions may be asked under it.
    same : plain data
        Equal for questions that count once. It may tell of a person, so only its digest is written down.
    """

    rule: str
    questions: int
    same: Any

    @property
    def allows(self) -> str:
        """What the rule allows, in words."""
        if self.questions == 1:
            return f"{self.rule!r} allows 1 question, at any ε"
        return f"{self.rule!r} allows {self.questions:,} questions that differ in anything but ε"

    @property
    def counter(self) -> str:
        """The name of the counter in the ledger."""
        return counter_of(self.rule)

    def mark(self, digest_of: Digest) -> str:
        """Return the name under which the ledger knows that this question was counted."""
        return f"asked:{digest_of('counted', [self.rule, self.same])}"


@dataclass(frozen=True)
class RuleUse:
    """How many of the questions that a rule allows were asked, and whether this is one of them."""

    permit: Permit
    asked: int
    counted: bool

    @property
    def left(self) -> bool:
        """Whether the question may be asked."""
        return self.counted or self.asked < self.permit.questions

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "rule": self.permit.rule,
            "questions": self.permit.questions,
            "asked": self.asked,
            "counted": self.counted,
        }

    def __str__(self) -> str:
        text = f"{self.permit.allows}; {self.asked:,} {'is' if self.asked == 1 else 'are'} asked"
        if self.counted:
            return f"{text}, this one among them"
        return text if self.left else f"{text}: it would be refused"

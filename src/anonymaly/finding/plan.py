# SPDX-License-Identifier: Apache-2.0
"""The plan of a find: which questions are asked, at which named share of ε, and what they would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_text
from anonymaly.errors import InputError
from anonymaly.promise import Guarantee

MODEL_WEIGHT = 2  # the model has two parts of ε, each explanation one


@dataclass(frozen=True)
class Shares:
    """How ε is divided, in billionths.

    By the explanations that were asked for, not by the records that there are: so the same command has the
    same model for every file of records, and the second file's is free.

    Examples
    --------
    >>> Shares.of(1_000_000_000, explanations=3)
    Shares(model=400000000, explanation=200000000)
    >>> Shares.of(1_000_000_000, explanations=0)
    Shares(model=1000000000, explanation=0)
    """

    model: int
    explanation: int

    @classmethod
    def of(cls, epsilon: int, *, explanations: int) -> Shares:
        """Divide ε: two parts for the model, and one for each explanation."""
        if not explanations:
            return cls(epsilon, 0)
        each = epsilon // (MODEL_WEIGHT + explanations)
        if not each:
            raise InputError(
                f"is too small to be divided among a model and {explanations} explanations",
                field="epsilon",
                next_step="Give a larger one, or fewer explanations.",
            )
        return cls(epsilon - explanations * each, each)


@dataclass(frozen=True)
class Step:
    """One question of the plan.

    Attributes
    ----------
    name
        The share's name: model, explanation 1, …
    asks
        What is asked, in words, as far as it is known before the model is there.
    share
        What it may spend, in billionths of ε.
    cost
        What it would be charged now: nothing, if its answer is stored.
    stored
        The number of the stored answer.
    at
        The ε of the stored answer, where that is not the share.
    charged_before
        Its number, if it was charged before and not answered: asking again goes on with it. Or if another
        was charged for it, and this asker's grant is not yet.
    """

    name: str
    asks: str
    share: int
    cost: int
    stored: int | None = None
    at: int | None = None
    charged_before: int | None = None

    @property
    def price(self) -> str:
        """What it costs, in words."""
        if self.charged_before is not None and self.cost:
            return (
                f"up to ε = {to_text(self.cost)} of your grant: another asker was charged for it, as number "
                f"{self.charged_before}"
            )
        if self.charged_before is not None:
            return f"nothing: it was charged before, as number {self.charged_before}, and not answered"
        if self.stored is None:
            return f"ε = {to_text(self.cost)}" if self.cost else "nothing"
        other = "" if self.at in (None, self.share) else f" at ε = {to_text(self.at or 0)}"
        return f"nothing: answer {self.stored} is stored{other}, and its share stays unspent"

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain data."""
        return {
            "name": self.name,
            "asks": self.asks,
            "share": to_text(self.share),
            "cost": to_text(self.cost),
            "stored": self.stored,
            **({} if self.charged_before is None else {"charged_before": self.charged_before}),
        }


@dataclass(frozen=True)
class FindPlan:
    """What a find would ask, at which share each, what it would cost, and who is protected.

    Attributes
    ----------
    dataset, records, given, top
        The table's name, the file that the records are in, how many there are, and how many are looked for.
    epsilon
        What may be spent in all, in billionths.
    steps
        The questions in order.
    remaining
        What the account, or the analyst's part of it, still holds.
    guarantee
        The promise of all answers together: one ε, the sum of the shares.
    notes
        What makes records odd by the way that they are written, such as labels that are not declared.
    """

    dataset: str
    records: str | None
    given: int
    top: int
    epsilon: int
    steps: tuple[Step, ...]
    remaining: int
    guarantee: Guarantee
    notes: tuple[str, ...] = ()

    @property
    def cost(self) -> int:
        """The most that would be charged, in billionths of ε."""
        return sum(step.cost for step in self.steps)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay for all of it now."""
        return self.cost <= self.remaining

    @property
    def title(self) -> str:
        """What is looked for."""
        shown = min(self.top, self.given)
        many = "the oddest" if shown == 1 else f"the {shown:,} oddest"
        place = "" if self.records is None else f" of {self.records}"
        given = "1 record" if self.given == 1 else f"{self.given:,} records"
        return f"{many} of {given}{place}, compared with {self.dataset}"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "dataset": self.dataset,
            "records": self.given,
            "top": self.top,
            "epsilon": to_text(self.epsilon),
            "cost": to_text(self.cost),
            "remaining": to_text(self.remaining),
            "affordable": self.affordable,
            "shares": [step.to_dict() for step in self.steps],
            "guarantee": self.guarantee.to_dict(),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def __str__(self) -> str:
        width = max(len(step.name) for step in self.steps) + 2
        lines = [f"find: {self.title}", f"  may spend ε = {to_text(self.epsilon)}, in named shares:"]
        for step in self.steps:
            lines.append(f"    {step.name:<{width}}ε = {to_text(step.share)}  {step.asks}")
            if step.stored is not None or step.charged_before is not None:
                lines.append(f"    {'':<{width}}costs {step.price}")
        left = f"of {to_text(self.remaining)} remaining"
        lines.append(f"  would cost at most ε = {to_text(self.cost)} {left}")
        if not self.affordable:
            lines[-1] += ": more than remains, it would be refused"
        lines.append(f"  protected: {self.guarantee.relation.protects()}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

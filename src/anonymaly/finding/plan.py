# SPDX-License-Identifier: Apache-2.0
"""The plan of a find: which questions are asked, at which named share of ε, and what they would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymaly.core.epsilon import to_number, to_text
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
    share_nano
        What it may spend, in nano-ε.
    cost_nano
        What it would be charged now, in nano-ε: nothing, if its answer is stored.
    stored
        The number of the stored answer.
    at_nano
        The nano-ε of the stored answer, where that is not the share.
    charged_before
        Its number, if it was charged before and not answered: asking again goes on with it. Or if another
        was charged for it, and this asker's grant is not yet.
    """

    name: str
    asks: str
    share_nano: int
    cost_nano: int
    stored: int | None = None
    at_nano: int | None = None
    charged_before: int | None = None

    @property
    def share(self) -> float:
        """The ε that it may spend."""
        return to_number(self.share_nano)

    @property
    def cost(self) -> float:
        """The ε that it would be charged now: 0, if its answer is stored."""
        return to_number(self.cost_nano)

    @property
    def price(self) -> str:
        """What it costs, in words."""
        if self.charged_before is not None and self.cost_nano:
            return (
                f"up to ε = {to_text(self.cost_nano)} of your grant: another asker was charged for it, as "
                f"number {self.charged_before}"
            )
        if self.charged_before is not None:
            return f"nothing: it was charged before, as number {self.charged_before}, and not answered"
        if self.stored is None:
            return f"ε = {to_text(self.cost_nano)}" if self.cost_nano else "nothing"
        other = "" if self.at_nano in (None, self.share_nano) else f" at ε = {to_text(self.at_nano or 0)}"
        return f"nothing: answer {self.stored} is stored{other}, and its share stays unspent"

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain data."""
        return {
            "name": self.name,
            "asks": self.asks,
            "share": to_text(self.share_nano),
            "cost": to_text(self.cost_nano),
            "stored": self.stored,
            **({} if self.charged_before is None else {"charged_before": self.charged_before}),
        }


@dataclass(frozen=True, repr=False)
class FindPlan:
    """What a find would ask, at which share each, what it would cost, and who is protected.

    Attributes
    ----------
    dataset, records, given, top
        The table's name, the file that the records are in, how many there are, and how many are looked for.
    epsilon_nano
        What may be spent in all, in nano-ε.
    steps
        The questions in order.
    remaining_nano
        What the account, or the analyst's part of it, still holds, in nano-ε.
    guarantee
        The promise of all answers together: one ε, the sum of the shares.
    notes
        What makes records odd by the way that they are written, such as labels that are not declared.
    """

    dataset: str
    records: str | None
    given: int
    top: int
    epsilon_nano: int
    steps: tuple[Step, ...]
    remaining_nano: int
    guarantee: Guarantee
    notes: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """The ε that may be spent in all."""
        return to_number(self.epsilon_nano)

    @property
    def remaining(self) -> float:
        """The ε that the account, or the analyst's part of it, still holds."""
        return to_number(self.remaining_nano)

    @property
    def cost_nano(self) -> int:
        """The most that would be charged, in nano-ε."""
        return sum(step.cost_nano for step in self.steps)

    @property
    def cost(self) -> float:
        """The most ε that would be charged."""
        return to_number(self.cost_nano)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay for all of it now."""
        return self.cost_nano <= self.remaining_nano

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
            "epsilon": to_text(self.epsilon_nano),
            "cost": to_text(self.cost_nano),
            "remaining": to_text(self.remaining_nano),
            "affordable": self.affordable,
            "shares": [step.to_dict() for step in self.steps],
            "guarantee": self.guarantee.to_dict(),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def _repr_html_(self) -> str:
        from anonymaly.ask.answer_page import cost_chart  # noqa: PLC0415  (only notebooks)
        from anonymaly.pictures.page import cells, figure, fragment, heading, paragraph  # noqa: PLC0415

        rows = [[step.name, f"ε = {to_text(step.share_nano)}", step.price, step.asks] for step in self.steps]
        refused = "" if self.affordable else "It would be refused: it costs more than remains."
        return fragment(
            heading(f"find: {self.title}", 3),
            figure(cost_chart(self.cost_nano, self.remaining_nano)),
            paragraph(refused, "warning") if refused else "",
            cells(["share", "may spend", "would cost", "asks"], rows, numbers=(1,)),
            paragraph(f"protected: {self.guarantee.relation.protects()}"),
            *(paragraph(f"note: {note}", "faint") for note in self.notes),
        )

    def __repr__(self) -> str:
        return f"<plan to find {self.title}; would cost at most ε = {to_text(self.cost_nano)}>"

    def __str__(self) -> str:
        width = max(len(step.name) for step in self.steps) + 2
        lines = [f"find: {self.title}", f"  may spend ε = {to_text(self.epsilon_nano)}, in named shares:"]
        for step in self.steps:
            lines.append(f"    {step.name:<{width}}ε = {to_text(step.share_nano)}  {step.asks}")
            if step.stored is not None or step.charged_before is not None:
                lines.append(f"    {'':<{width}}costs {step.price}")
        left = f"of {to_text(self.remaining_nano)} remaining"
        lines.append(f"  would cost at most ε = {to_text(self.cost_nano)} {left}")
        if not self.affordable:
            lines[-1] += ": more than remains, it would be refused"
        lines.append(f"  protected: {self.guarantee.relation.protects()}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

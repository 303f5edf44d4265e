# SPDX-License-Identifier: Apache-2.0
"""Everything about a find that is decided before the first charge; it reads no row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymaly.ask.answer import Preview
from anonymaly.ask.curator import Curator
from anonymaly.core.epsilon import Number, to_nano, to_text
from anonymaly.declare.domain import Opaque
from anonymaly.errors import BudgetExceeded, InputError
from anonymaly.finding.asking import Asking, remaining_of
from anonymaly.finding.explaining import RecordQuestion, choose, probe
from anonymaly.finding.own_records import OwnRecords, compared_columns
from anonymaly.finding.plan import FindPlan, Shares, Step
from anonymaly.promise import Guarantee
from anonymaly.questions.score.binding import ScoreBinding
from anonymaly.questions.score.missing import Missing, refuse_missing
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.query import Score
from anonymaly.questions.score.reasons import Reasons
from anonymaly.questions.score.value import Model

TOP, EXPLAIN = 10, 3
MOST_TOP, MOST_EXPLAIN = 10_000, 100
EVERY_PART = 10**6  # all parts of a record are named


@dataclass(frozen=True)
class Prepared:
    """A find that is checked and planned, and not paid for."""

    curator: Curator
    own: OwnRecords
    score: Score
    shares: Shares
    plan: FindPlan
    explain: int
    missing: Missing
    repeat: int = 0  # of the model: asked anew if it failed before

    @property
    def labels(self) -> list[str]:
        """The columns that a record is called by: those that are not declared, keys and persons."""
        declared = self.curator.declaration
        own = [name for name in self.own.table.column_names if name not in self.own.compared]
        return [
            name
            for name in own
            if name in (declared.key, declared.person)
            or isinstance(declared.columns.get(name, Opaque()), Opaque)
        ]

    def odd(self, model: Model) -> Reasons:
        """Return the reasons of the oddest records, from a released model."""
        scores = model.score(self.own.frame, missing=self.missing)
        places = [int(place) for place in np.argsort(-scores, kind="stable")[: self.plan.top]]
        found = model.reasons(self.own.frame.take(places), missing=self.missing, named=EVERY_PART)
        return found.told(rows=places, named=EVERY_PART)

    def choices(self, reasons: Reasons) -> list[RecordQuestion]:
        """Return the question about each of the first few."""
        first = list(reasons[: self.explain])
        records = self.own.rows([reason.row for reason in first])
        declaration = self.curator.declaration
        return [
            choose(record, reason, declaration, self.shares.explanation)
            for record, reason in zip(records, first, strict=True)
        ]

    def refuse_beyond_budget(self, analyst: str) -> None:
        """Refuse the whole before its first charge, if it may cost more than there is by now."""
        plan = replace(self.plan, remaining=remaining_of(self.curator, analyst))
        if not plan.affordable:
            raise BudgetExceeded(
                f"needs up to ε={to_text(plan.cost)} for {len(plan.steps)} questions; "
                f"{to_text(plan.remaining)} remain, and nothing was charged",
                field="epsilon",
                next_step=f"Give at most {to_text(plan.remaining)}, or ask the owner to raise the budget."
                if plan.remaining
                else "Ask the owner to raise the budget.",
            )


def prepare(
    curator: Curator,
    frame: Any,
    *,
    epsilon: Number,
    top: int = TOP,
    explain: int = EXPLAIN,
    columns: Sequence[str] | None = None,
    missing: Missing = "skip",
    analyst: str = "owner",
    name: str | None = None,
) -> Prepared:
    """Check and plan a find, with the parameters of ``find``; reads no row of the table, spends nothing."""
    nano = to_nano(epsilon)
    _whole(top, "top", 1, MOST_TOP)
    _whole(explain, "explain", 0, MOST_EXPLAIN)
    if not isinstance(curator, Curator):
        raise InputError(
            f"must be a Curator, got {type(curator).__name__}",
            field="curator",
            next_step="Open the account first: am.Curator(dataset, budget=…).",
        )
    declaration = curator.declaration
    own = OwnRecords.read(frame, compared_columns(declaration, columns))
    shares = Shares.of(nano, explanations=explain)
    explained = min(explain, top, len(own))
    # By name: without it an account may hold the answer of another method under the same words.
    score = Score(columns=own.compared, method="mixed", epsilon=to_text(shares.model))
    notes = _check_records(score, own, declaration, missing)
    if explained:
        probe(own.rows([0])[0], declaration, shares.explanation)
    stored = _stored_model(curator, score)
    asking = Asking(curator, analyst)
    repeat, preview, charge, cost = (
        asking.attempt(score) if stored is None else (0, stored, None, stored.cost)
    )
    model_step = Step(
        "model",
        preview.query.describe(),
        shares.model,
        cost,
        None if stored is None else stored.charged_before,
        preview.query.cost,
        None if charge is None else charge.seq,
    )
    later = [
        Step(f"explanation {number}", _asks(number), shares.explanation, shares.explanation)
        for number in range(1, explained + 1)
    ]
    shown = preview.query.cost + explained * shares.explanation
    plan = FindPlan(
        dataset=declaration.name,
        records=name,
        given=len(own),
        top=top,
        epsilon=nano,
        steps=(model_step, *later),
        remaining=remaining_of(curator, analyst),
        guarantee=Guarantee(preview.guarantee.relation, to_text(shown)),
        notes=notes,
    )
    asked = score if stored is None else Score.from_dict(stored.query.to_dict())
    prepared = Prepared(curator, own, asked, shares, plan, explained, missing, repeat)
    return prepared if stored is None else _with_stored(prepared, asking)


def _asks(number: int) -> str:
    which = {1: "the oddest record", 2: "the second", 3: "the third"}.get(number, f"number {number}")
    return f"in which group {which} stands out, and why; for everyone"


def _stored_model(curator: Curator, score: Score) -> Preview | None:
    """Return the stored model of the same question with the largest ε, if that is at least the share.

    Of the same question but for ε: one that somebody asked with two bins is not what is wanted. Using it
    again costs nothing and tells nothing new, so its ε is not part of what is spent.
    """
    columns, found = list(score.columns), None
    wanted = _but_for_epsilon(curator.preview(score))
    for reservation in curator.accountant.answers():
        recorded = reservation.record
        fields = recorded["query"]
        if recorded["question"] != Score.question or fields.get("columns") != columns:
            continue
        try:
            preview = curator.preview(Score.from_dict(fields))
        except InputError:
            continue  # of a declaration of before
        fits = preview.charged_before == reservation.seq and _but_for_epsilon(preview) == wanted
        if fits and preview.query.cost >= max(score.cost, 0 if found is None else found.query.cost + 1):
            found = preview
    return found


def _but_for_epsilon(preview: Preview) -> dict[str, Any]:
    return {**preview.query.to_dict(), "epsilon": None}


def _with_stored(prepared: Prepared, asking: Asking) -> Prepared:
    """Plan the explanations exactly: the stored model says already which records are odd, and in what."""
    curator = prepared.curator
    model: Model = curator.ask(prepared.score).value  # stored: it is charged nothing
    steps = [prepared.plan.steps[0]]
    for step, choice in zip(prepared.plan.steps[1:], prepared.choices(prepared.odd(model)), strict=True):
        if choice.query is None:
            steps.append(replace(step, asks=f"none: {choice.why_not}", cost=0))
            continue
        found = asking.attempt(choice.query)
        number = None if found.charge is None else found.charge.seq
        answered = found.charge is not None and found.charge.state == "committed"
        steps.append(
            replace(
                step,
                asks=choice.query.describe(),
                cost=found.cost,
                stored=number if answered else None,
                charged_before=None if answered else number,
            )
        )
    return replace(prepared, plan=replace(prepared.plan, steps=tuple(steps)))


def _check_records(score: Score, own: OwnRecords, declaration: Any, missing: Missing) -> tuple[str, ...]:
    """Refuse records that the model could not score, before it is paid for; return what is odd in itself."""
    bound = score.bind(declaration)
    if not isinstance(bound, ScoreBinding):
        raise AssertionError("not a score")
    known = {**dict.fromkeys(bound.unknown, (0.0, 1.0)), **bound.known}
    space = MixedSpace.of(bound.columns, bound.domains, known)
    points = space.points(own.frame)
    refuse_missing(points, space.columns, missing)
    notes = []
    for name, labels, values in zip(space.columns, space.labels, points.T, strict=True):
        unknown = 0 if labels is None else int(np.sum(values >= len(labels)))
        if unknown:
            notes.append(f"{name}: {unknown:,} of {len(own):,} records have a label that is not declared")
    return tuple(notes)


def _whole(number: Any, field: str, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise InputError(
            f"must be a whole number from {least} to {most:,}, got {number!r}",
            field=field,
            next_step=f"Give, say, {TOP if field == 'top' else EXPLAIN}.",
        )

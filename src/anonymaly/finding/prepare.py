# SPDX-License-Identifier: Apache-2.0
"""Everything about a find that is decided before the first charge; it reads no row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.curator import Curator
from anonymaly.ask.remote import RemoteCurator
from anonymaly.core.arrays import Integers
from anonymaly.core.epsilon import Number, to_nano, to_text
from anonymaly.declare.domain import Opaque
from anonymaly.errors import BudgetExceeded, InputError
from anonymaly.finding.asking import Asking, Attempt, asking_of
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
ALIKE = "If they are written as the table's own rows are, read them by am.read_alike, or --as-table."
NAMED = 5  # records that a note names by their numbers
MOST_TOP, MOST_EXPLAIN = 10_000, 100
EVERY_PART = 10**6  # all parts of a record are named


@dataclass(frozen=True)
class Prepared:
    """A find that is checked and planned, and not paid for."""

    asking: Asking
    own: OwnRecords
    score: Score
    shares: Shares
    plan: FindPlan
    explain: int
    missing: Missing
    repeat: int = 0  # of the model: asked anew if it failed before
    stored: Answer | None = None  # the model, if it is there already

    @property
    def labels(self) -> list[str]:
        """The columns that a record is called by: those that are not declared, keys and persons."""
        declared = self.asking.declaration
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
        declaration = self.asking.declaration
        return [
            choose(record, reason, declaration, self.shares.explanation)
            for record, reason in zip(records, first, strict=True)
        ]

    def refuse_beyond_budget(self) -> None:
        """Refuse the whole before its first charge, if it may cost more than there is by now."""
        plan = replace(self.plan, remaining_nano=self.asking.remaining())
        left = to_text(plan.remaining_nano)
        if not plan.affordable:
            less = plan.cost_nano < plan.epsilon_nano
            given = (
                f" of the {to_text(plan.epsilon_nano)} that were given (a share that no record needs, or "
                "whose answer is stored, stays unspent)"
            )
            many = "1 question" if len(plan.steps) == 1 else f"{len(plan.steps)} questions"
            raise BudgetExceeded(
                f"needs up to ε={to_text(plan.cost_nano)}{given if less else ''} for {many}; "
                f"{left} remain, and nothing was charged",
                field="epsilon",
                next_step=f"Give at most {left}, or ask the owner to raise the budget."
                if plan.remaining_nano
                else "Ask the owner to raise the budget.",
            )


def prepare(
    curator: Curator | RemoteCurator,
    frame: Any,
    *,
    epsilon: Number,
    top: int = TOP,
    explain: int = EXPLAIN,
    columns: Sequence[str] | None = None,
    missing: Missing = "skip",
    analyst: str | None = None,
    name: str | None = None,
) -> Prepared:
    """Check and plan a find, with the parameters of ``find``; reads no row of the table, spends nothing."""
    return prepare_for(
        asking_of(curator, analyst),
        frame,
        epsilon=epsilon,
        top=top,
        explain=explain,
        columns=columns,
        missing=missing,
        name=name,
    )


def prepare_for(
    asking: Asking,
    frame: Any,
    *,
    epsilon: Number,
    top: int = TOP,
    explain: int = EXPLAIN,
    columns: Sequence[str] | None = None,
    missing: Missing = "skip",
    name: str | None = None,
) -> Prepared:
    """Check and plan a find of somebody who asks by their own way."""
    nano = to_nano(epsilon)
    _whole(top, "top", 1, MOST_TOP)
    _whole(explain, "explain", 0, MOST_EXPLAIN)
    declaration = asking.declaration
    own = OwnRecords.read(frame, compared_columns(declaration, columns))
    shares = Shares.of(nano, explanations=explain)
    explained = min(explain, top, len(own))
    # By name: without it an account may hold the answer of another method under the same words.
    score = Score(columns=own.compared, method="mixed", epsilon=to_text(shares.model))
    notes = _check_records(score, own, declaration, missing)
    if explained:
        probe(own.rows([0])[0], declaration, shares.explanation)
    stored = _stored_model(score, asking)
    found = asking.attempt(score) if stored is None else Attempt(0, stored.preview, 0)
    preview = found.preview
    model_step = Step(
        "model",
        preview.query.describe(),
        shares.model,
        found.cost,
        None if stored is None else stored.number,
        preview.query.cost,
        found.number,
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
        epsilon_nano=nano,
        steps=(model_step, *later),
        remaining_nano=asking.remaining(),
        guarantee=Guarantee(preview.guarantee.relation, to_text(shown)),
        notes=notes,
    )
    asked = score if stored is None else Score.from_dict(preview.query.to_dict())
    answer = None if stored is None else stored.answer
    prepared = Prepared(asking, own, asked, shares, plan, explained, missing, found.repeat, answer)
    return prepared if answer is None else _with_stored(prepared, answer.value)


def _asks(number: int) -> str:
    which = {1: "the oddest record", 2: "the second", 3: "the third"}.get(number, f"number {number}")
    return f"in which group {which} stands out, and why; for everyone"


class _Stored(NamedTuple):
    """A model that is there already."""

    number: int
    preview: Preview
    answer: Answer


def _stored_model(score: Score, asking: Asking) -> _Stored | None:
    """Return the stored model of the same question with the largest ε, if that is at least the share.

    Of the same question but for ε: one that somebody asked with two bins is not what is wanted. Using it
    again costs nothing and tells nothing new, so its ε is not part of what is spent.
    """
    wanted = _but_for_epsilon(asking.preview(score))
    best: tuple[int, Preview] | None = None
    for number, preview in asking.models(score):
        least = score.cost if best is None else best[1].query.cost + 1
        if _but_for_epsilon(preview) == wanted and preview.query.cost >= least:
            best = number, preview
    if best is None:
        return None
    number, preview = best
    answer = asking.stored(number, Score.from_dict(preview.query.to_dict()))
    return None if answer is None else _Stored(number, preview, answer)


def _but_for_epsilon(preview: Preview) -> dict[str, Any]:
    return {**preview.query.to_dict(), "epsilon": None}


def _with_stored(prepared: Prepared, model: Model) -> Prepared:
    """Plan the explanations exactly: the stored model says already which records are odd, and in what."""
    steps = [prepared.plan.steps[0]]
    for step, choice in zip(prepared.plan.steps[1:], prepared.choices(prepared.odd(model)), strict=True):
        if choice.query is None:
            steps.append(replace(step, asks=f"none: {choice.why_not}", cost_nano=0))
            continue
        found = prepared.asking.attempt(choice.query)
        steps.append(
            replace(
                step,
                asks=choice.query.describe(),
                cost_nano=found.cost,
                stored=found.number if found.answered else None,
                charged_before=None if found.answered else found.number,
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
    try:
        points = space.points(own.frame)
    except InputError as error:
        if not _is_read_by_rules(error.field, declaration):
            raise
        raise InputError(error.problem, field=error.field, next_step=f"{error.next_step} {ALIKE}") from None
    refuse_missing(points, space.columns, missing)
    notes = []
    for name, labels, values in zip(space.columns, space.labels, points.T, strict=True):
        other = getattr(declaration.columns[name], "other", None)
        if labels is None:
            continue
        unknown = np.flatnonzero((values >= len(labels)) & own.differ(name, other))
        if len(unknown):
            many = "record has" if len(own) == 1 else "records have"
            hint = f". {ALIKE}" if _is_read_by_rules(name, declaration) else ""
            notes.append(
                f"{name}: {len(unknown):,} of {len(own):,} {many} a label that is not declared, "
                f"and counts as other ({_rows(unknown)}){hint}"
            )
    return tuple(notes)


def _rows(places: Integers) -> str:
    """Name the first few records by their rows, as reports count them."""
    shown = ", ".join(f"{place + 1:,}" for place in places[:NAMED])
    more = ", …" if len(places) > NAMED else ""
    return f"row{'s' if len(places) > 1 else ''} {shown}{more}"


def _is_read_by_rules(name: str | None, declaration: Any) -> bool:
    """Say whether the owner declared how a column is read: spellings, decimal commas, words for null."""
    return getattr(declaration.columns.get(name), "read", None) is not None


def _whole(number: Any, field: str, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise InputError(
            f"must be a whole number from {least} to {most:,}, got {number!r}",
            field=field,
            next_step=f"Give, say, {TOP if field == 'top' else EXPLAIN}.",
        )

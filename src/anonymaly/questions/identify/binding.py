# SPDX-License-Identifier: Apache-2.0
"""Identify bound to a declaration: the balls to count in, the rate of the flips, and what to expect of them.

What the counting is given, and what it must give back, because the proofs rest on it:

- a view of the table with one float64 column for each axis: numbers moved into their declared bounds,
  categories and flags numbered, null where a row has no value;
- ``balls``: the points asked about, already divided by the scales, and a radius a hair larger than the
  model's, so that rounding never leaves out a record that is within the exact one;
- a row's coordinates are ``value / scale`` in double precision. It is in a ball if its distance, computed
  from its own coordinates alone by one fixed sequence of operations, is at most the radius, and it is a
  copy if all coordinates are equal. What other rows there are, their number or their order must make no
  difference to that, and neither may the way of counting that is chosen. A null is in no ball;
- a count that reached ``balls.stop`` is ``balls.stop``, and nothing else is used of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anonymaly.ask.binding import Binding, Choices, Expectation, Measure, Used
from anonymaly.core.arrays import Integers
from anonymaly.core.epsilon import to_text
from anonymaly.core.rate import noise_rate, rows_moved
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.promise import Relation, SensitiveRecords
from anonymaly.questions.identify.axes import Axis, inclusive_radius, read_axes
from anonymaly.questions.identify.balls import Balls
from anonymaly.questions.identify.choices import Setting, choices_of
from anonymaly.questions.identify.model import find_model
from anonymaly.questions.identify.overlap import most_overlapping
from anonymaly.questions.identify.verdicts import StepBound, Verdicts, flip_probability, judge

if TYPE_CHECKING:
    from anonymaly.questions.identify.query import Identify

POOR = 0.25  # of answers about anomalies that are wrong; a coin is wrong in half of them
POINTS = 40  # of the error curve; enough for a picture, few enough for the ledger


@dataclass(frozen=True, kw_only=True)
class IdentifyBinding(Binding):
    """What the one stage of identify needs."""

    query: Identify
    model: AnomalyModel
    axes: tuple[Axis, ...]
    balls: Balls
    overlap: int
    rate: Fraction  # ε for each answer and each step of the table
    step_bound: StepBound
    k: int  # of the mechanism: above the model's where a person has several rows
    slack: int  # L: counts stop at beta + slack (Lemma 6)

    @property
    def relation(self) -> Relation:
        """Everyone, or those who are sensitive by the model."""
        if self.protects_everyone:
            return super().relation
        given = self.declaration
        return SensitiveRecords(self.query.model, self.model, given.adjacency, given.unit_rows)

    @property
    def used(self) -> Used:
        """The model, and the columns that it compares records by."""
        rules = [] if self.query.model is None else [self.query.model]
        return Used(frozenset(self.columns), frozenset(rules))

    @property
    def shares(self) -> Mapping[str, int]:
        """The whole charge for the one stage."""
        return {"verdicts": self.query.cost}

    @property
    def warning(self) -> str | None:
        """That answers about a batch are hardly better than a coin, if they are."""
        records, error = len(self.balls.queries), self.lone_error
        if records == 1 or error < POOR:
            return None
        overlap = "" if self.overlap == 1 else f", because {self.overlap:,} of their balls overlap"
        each = float(self.query.epsilon / self.overlap)
        return (
            f"answers about anomalies among these {records:,} records are close to coin flips: each gets ε = "
            f"{each:.3g}{overlap}, and about a record that is alone, or not in the data, it is wrong in "
            f"{100 * error:.0f} of 100 cases, where a coin is in 50; score the records with one model "
            "instead (anonymaly find, or Score)"
        )

    @property
    def lone_error(self) -> float:
        """How often an answer is wrong about a record that is alone, or that is not there with none near."""
        (alone,), (absent,) = self.errors(1, [1]), self.errors(0, [0])
        return max(alone, absent)

    @property
    def protects_everyone(self) -> bool:
        """Whether the promise is differential privacy, asked for or because k reaches β (Lemma 4)."""
        return self.step_bound == "differential" or self.k >= self.model.beta

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in the order of the points' coordinates."""
        return tuple(axis.column for axis in self.axes)

    @property
    def scales(self) -> tuple[float, ...]:
        """What each coordinate of a row is divided by."""
        return tuple(axis.scale for axis in self.axes)

    def judge(self, own: Integers, within: Integers) -> Verdicts:
        """Return the verdicts for counts in the balls."""
        return judge(own, within, beta=self.model.beta, k=self.k, bound=self.step_bound, slack=self.slack)

    def errors(self, own: int, within: Sequence[int]) -> list[float]:
        """Return the probability of a wrong answer for each of some supposed numbers of neighbours."""
        counts = np.array(within, np.int64)
        verdicts = self.judge(np.full_like(counts, own), counts)
        return [float(flip_probability(self.rate, int(steps))) for steps in verdicts.steps]

    def expect(self) -> Expectation:
        """Return the probability of an error by the number of neighbours; it holds whatever the rows are."""
        records, beta = len(self.balls.queries), self.model.beta
        each = float(self.query.epsilon / self.overlap)
        alone, few, many = self.errors(1, [1, beta, 2 * beta])
        (absent,) = self.errors(0, [0])
        privacy = "differential privacy" if self.protects_everyone else "sensitive privacy"
        if self.protects_everyone and self.step_bound != "differential":
            privacy += ", because k reaches beta"
        overlap = "no balls overlap" if self.overlap == 1 else f"at most {self.overlap:,} balls overlap"
        total = to_text(self.query.cost)
        batch = (
            ""
            if records == 1
            else f"; {records:,} records, {overlap}: ε {each:.4g} each for a total of {total}"
        )
        return Expectation(
            noise=f"each answer is flipped by chance, the more rarely the clearer it is ({privacy}{batch})",
            error=(
                f"wrong with probability {alone:.3g} for a record that is alone within the radius, "
                f"{few:.3g} for one with {beta:,} records there, {many:.3g} with "
                f"{2 * beta:,}; {absent:.3g} for one that is not in the data, nor any near it"
            ),
            details={
                "records": records,
                "overlap": self.overlap,
                "epsilon_each": each,
                "extra_error_at_most": float(np.exp(-float(self.rate) * (self.slack - 1))),
                "curve": self._curve(),
            },
            measure=Measure(
                self.lone_error,
                "probability",
                "that an answer is wrong about a record that is alone within the radius, or not in the data "
                "nor near any; it is larger, and below 0.5, for records near the border between "
                "the two answers",
            ),
        )

    def at(self, cost: int) -> Self:
        """Return the same question at another ε, without looking again at how balls overlap."""
        rate = answer_rate(cost, self.declaration, self.overlap)
        slack = least_slack(rate, Fraction(self.query.extra_error))
        return replace(
            self,
            query=self.query.model_copy(update={"epsilon": Decimal(to_text(cost))}),
            balls=replace(self.balls, stop=self.model.beta + slack),
            rate=rate,
            slack=slack,
        )

    def choices(self, costs: Sequence[int], wanted: float | None) -> Choices | None:
        """Return the error by beta, k and ε: β and k are the owner's, in the rule."""
        if self.step_bound == "differential":
            return None  # no number of the model changes the error of a lone record
        rates = {to_text(cost): answer_rate(cost, self.declaration, self.overlap) for cost in costs}
        more = self.declaration.rows - 1  # by which k is raised where a person has several rows
        return choices_of(Setting(self.model.beta, self.model.k, more, self.step_bound), rates, wanted)

    def _curve(self) -> dict[str, Any]:
        """Return the error of a record that is there once, and of one that is not, by its neighbours."""
        last, beta = self.balls.stop, self.model.beta
        spread = {round(last * place / POINTS) for place in range(POINTS + 1)}
        neighbours = sorted(spread | {1, max(1, beta - self.k), beta, beta + 1})
        return {
            "neighbours": neighbours,
            "present": [None, *self.errors(1, neighbours[1:])],  # a record that is there is within its radius
            "absent": self.errors(0, neighbours),
        }


def bind(query: Identify, declaration: Declaration) -> IdentifyBinding:
    """Check the question against the declaration; write the records' values in their one spelling."""
    model = find_model(query, declaration)
    axes = read_axes(model, declaration.columns, field="columns")
    values = _read_values(query, axes)
    points = np.column_stack([axis.place(values[axis.column]) for axis in axes])
    radius = inclusive_radius(model, axes)
    overlap = most_overlapping(points, radius, model.metric)
    rate = answer_rate(query.cost, declaration, overlap)
    slack = least_slack(rate, Fraction(query.extra_error))
    return IdentifyBinding(
        query=_with_values(query, values),
        declaration=declaration,
        model=model,
        axes=axes,
        balls=Balls(points, radius, model.metric, model.beta + slack),
        overlap=overlap,
        rate=rate,
        step_bound="differential" if query.guarantee == "differential" else query.bound,
        k=raised_k(model, declaration),
        slack=slack,
    )


def answer_rate(cost: int, declaration: Declaration, overlap: int = 1) -> Fraction:
    """Return ε for one answer and one step: the charge over all that one person's change can touch (Lemma 9).

    That is ``overlap`` answers, up to ``max_rows`` rows, and twice as many where a person is replaced.
    """
    return noise_rate(
        cost,
        moves=rows_moved(declaration.rows, declaration.adjacency),
        parts=overlap,
        next_step="Give a larger epsilon, or ask about fewer records at once.",
    )


def least_slack(rate: Fraction, extra_error: Fraction) -> int:
    """Return the smallest L with e^(−rate·(L−1)) <= ``extra_error``, where counting may stop (Lemma 6)."""
    # That is the chance that a one-sided geometric variable of this rate reaches L−1.
    return 2 + laws.one_sided_geometric_quantile(rate, 1 - extra_error)


def raised_k(model: AnomalyModel, declaration: Declaration) -> int:
    """Return k of the mechanism: rows of a person must stay sensitive while they go one by one (Lemma 9)."""
    return model.k + declaration.rows - 1


def _read_values(query: Identify, axes: tuple[Axis, ...]) -> dict[str, list[Any]]:
    """Return the records asked about by column; the messages name fields, never values."""
    if (query.record is None) == (query.records is None):
        raise InputError(
            "is needed, or records" if query.record is None else "and records are both given",
            field="record",
            next_step="Give one of them: a record as a mapping, or many as a data frame.",
        )
    field = "record" if query.records is None else "records"
    given: dict[str, tuple[Any, ...]] = (
        {name: (value,) for name, value in query.record or ()}
        if query.records is None
        else dict(query.records)
    )
    label = None if query.records is None else query.label
    if label is not None and label not in given:
        raise InputError(
            f"the records have no column {label!r}",
            field="label",
            next_step=f"Name one of theirs: {', '.join(given)}.",
        )
    needed = [axis.column for axis in axes]
    missing = [name for name in needed if name not in given]
    extra = [name for name in given if name not in needed and name != label]
    if missing or extra:
        raise InputError(
            f"has no {missing[0]}" if missing else f"has {extra[0]}, which the model does not use",
            field=field,
            next_step=f"Give {', '.join(needed)}."
            + (
                ""
                if missing or query.records is None
                else f" If it names the records, say so: label={extra[0]!r}."
            ),
        )
    return {axis.column: axis.read(given[axis.column], field=field) for axis in axes}


def _with_values(query: Identify, values: Mapping[str, list[Any]]) -> Identify:
    if query.records is None:
        record = tuple(sorted((name, value) for name, (value,) in values.items()))
        return query.model_copy(update={"record": record, "label": None})
    columns = tuple(sorted((name, tuple(column)) for name, column in values.items()))
    return query.model_copy(update={"records": columns, "label": None})

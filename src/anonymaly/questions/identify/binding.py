# SPDX-License-Identifier: Apache-2.0
"""What follows from the question and the declaration alone: everything but the rows.

What the counting is given, and what it must give back, because the proofs rest on it:

- the view of the table that ``Plan.view`` makes: one float64 column for each column of the model, numbers
  moved into their declared bounds, categories and flags numbered, null where a row has no value;
- ``Plan.balls``: the points asked about, already divided by the scales, and a radius a hair larger than the
  model's, so that rounding never leaves out a record that is within the exact one;
- a row's coordinates are ``value / scale`` in double precision. It is in a ball if its distance, computed
  from its own coordinates alone by one fixed sequence of operations, is at most the radius, and it is a
  copy if all coordinates are equal. What other rows there are, their number or their order must make no
  difference to that, and neither may the way of counting that is chosen. A null is in no ball;
- a count that reached ``balls.stop`` is ``balls.stop``, and nothing else is used of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from anonymaly.ask.cited import Citing, find_model
from anonymaly.core.epsilon import NANO, to_text
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError
from anonymaly.noise import one_sided_geometric_quantile
from anonymaly.questions.identify.axes import Axis, inclusive_radius, read_axes
from anonymaly.questions.identify.balls import Balls
from anonymaly.questions.identify.overlap import most_overlapping
from anonymaly.questions.identify.verdicts import Bound

if TYPE_CHECKING:
    import ibis.expr.types as ir

LARGEST_PART = 2**56  # of a rate's terms, as the noise takes them
FINEST = 10**15


class Asked(Citing, Protocol):
    """The fields of the question, which stands above this file in the import order."""

    @property
    def cost(self) -> int: ...  # noqa: D102
    @property
    def record(self) -> Any: ...  # noqa: D102
    @property
    def records(self) -> Any: ...  # noqa: D102
    @property
    def bound(self) -> Any: ...  # noqa: D102
    @property
    def extra_error(self) -> float: ...  # noqa: D102


@dataclass(frozen=True)
class Plan:
    """The question with every name looked up."""

    model: AnomalyModel
    axes: tuple[Axis, ...]
    values: dict[str, list[Any]]  # the records asked about, column by column, in canonical spelling
    balls: Balls
    overlap: int
    rate: Fraction  # ε for each answer and each step of the table
    bound: Bound
    k: int  # of the mechanism: above the model's where a person has several rows
    slack: int  # L: counts stop at beta + slack

    @property
    def records(self) -> int:
        """How many records are asked about."""
        return len(self.balls.queries)

    @property
    def protects_everyone(self) -> bool:
        """Whether the promise is differential privacy, asked for or because k reaches β (Lemma 4)."""
        return self.bound == "differential" or self.k >= self.model.beta

    @property
    def scales(self) -> tuple[float, ...]:
        """What each coordinate of a row is divided by."""
        return tuple(axis.scale for axis in self.axes)

    def view(self, table: ir.Table) -> ir.Table:
        """Return the model's columns of the rows, as numbers that the counting takes."""
        return table.select(**{axis.column: axis.to_ibis(table) for axis in self.axes})


def make_plan(asked: Asked, declaration: Declaration) -> Plan:
    """Check the question against the declaration, or say which field does not fit."""
    model = find_model(asked, declaration)
    axes = read_axes(model, declaration.columns, field="columns")
    values = _values(asked, axes)
    points = np.column_stack([axis.place(values[axis.column]) for axis in axes])
    radius = inclusive_radius(model, axes)
    overlap = most_overlapping(points, radius, model.metric)
    rate = rate_of(asked.cost, declaration, overlap)
    # Smallest L with e^(−ε0·(L−1)) ≤ extra_error: the chance that a variable of that law reaches L−1.
    slack = 2 + one_sided_geometric_quantile(rate, 1 - Fraction(asked.extra_error))
    return Plan(
        model=model,
        axes=axes,
        values=values,
        balls=Balls(points, radius, model.metric, model.beta + slack),
        overlap=overlap,
        rate=rate,
        bound="differential" if asked.guarantee == "differential" else asked.bound,
        k=model.k + declaration.rows - 1,
        slack=slack,
    )


def rate_of(cost: int, declaration: Declaration, overlap: int = 1) -> Fraction:
    """Return ε for one answer and one step: the charge over all that one person's change can touch (Lemma 9).

    That is ``overlap`` answers, up to ``max_rows`` rows, and two steps where a record is replaced.
    """
    steps = declaration.rows * (2 if declaration.adjacency == "replace" else 1)
    rate = Fraction(cost, NANO * steps * overlap)
    if rate.denominator > LARGEST_PART:
        rate = Fraction(int(rate * FINEST), FINEST)  # rounded down: what is left over is not spent
    if not rate:
        raise InputError(
            f"{to_text(cost)} is too little to divide by {steps * overlap:,}",
            field="epsilon",
            next_step="Give more, or ask about fewer records at once.",
        )
    return rate


def _values(asked: Asked, axes: tuple[Axis, ...]) -> dict[str, list[Any]]:
    """Return the records asked about by column; the messages name fields, never values."""
    if (asked.record is None) == (asked.records is None):
        raise InputError(
            "is needed, or records" if asked.record is None else "and records are both given",
            field="record",
            next_step="Give one of them: a record as a mapping, or many as a data frame.",
        )
    field = "record" if asked.records is None else "records"
    given = {name: (value,) for name, value in asked.record} if asked.records is None else dict(asked.records)
    needed = [axis.column for axis in axes]
    missing = [name for name in needed if name not in given]
    extra = [name for name in given if name not in needed]
    if missing or extra:
        raise InputError(
            f"has no {missing[0]}" if missing else f"has {extra[0]}, which the model does not use",
            field=field,
            next_step=f"Give {', '.join(needed)}.",
        )
    return {axis.column: axis.read(given[axis.column], field=field) for axis in axes}

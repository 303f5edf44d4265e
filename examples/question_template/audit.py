# SPDX-License-Identifier: Apache-2.0
"""What ``proportion`` claims, written from its GUARANTEE.md and not from its code, and broken variants."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Any, get_args

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Mass, Sensitivity
from anonymaly.audit.listed import Audited, ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Interval
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.proportion.query import Proportion

OLD, YOUNG = {"age": 70}, {"age": 20}
FEW = 200  # answers: each reads the table twice


class ProportionCase(Case):
    """A case whose answer is the first of the two counts, whose law is known."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stages with one number as the answer."""
        first, last = super().stages(bound)

        def release(count: int, released: Released, noise: Noise) -> int:
            answer: dict[str, Any] = last.release(count, released, noise)
            return int(answer["matching"])

        return first, dataclasses.replace(last, release=release)


def proportion_case(
    *, epsilon: Number, adjacency: Adjacency = "add_remove", kind: type[Proportion] = Proportion
) -> Case:
    """Return ``proportion`` as an audit sees it."""
    query = kind(where="age >= 65", epsilon=epsilon)
    rate = float(to_fraction(query.cost)) / 2

    def law(records: Database) -> Mass:
        """Count by hand, and add two-sided geometric noise of rate ε/2: Lemma 2."""
        centre = sum(row["age"] is not None and row["age"] >= 65 for row in records)
        return lambda value: math.tanh(rate / 2) * math.exp(-rate * abs(value - centre))

    return ProportionCase(
        name=f"proportion, records, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns={"age": Interval(0, 120)},
        records=(OLD, YOUNG, OLD, {"age": None}),
        sensitivity={"matching": Sensitivity(1), "others": Sensitivity(1)},
        worst_pair=((OLD,), () if adjacency == "add_remove" else (YOUNG,)),
        # Each count loses half of ε, and one of them is looked at.
        tight=False,
        law=law,
        adjacency=adjacency,
    )


def _changed(change: Any) -> Case:
    """Return the case of a proportion whose first stage releases in another way; its claims stay the same."""

    class BrokenProportion(Proportion):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            first, last = super().stages(bound)
            return dataclasses.replace(first, release=partial(change, first.release)), last

    return proportion_case(epsilon="2", kind=BrokenProportion)


def _quarter_noise(real: Any, count: int, released: Released, noise: Noise) -> int:
    return count + (int(real(count, released, noise)) - count) // 4


def _no_noise(real: Any, count: int, released: Released, noise: Noise) -> int:
    return count


PROPORTION_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(
        partial(proportion_case, adjacency=adjacency),
        samples=FEW,
        thorough_samples=10 * FEW,
        fit_samples=FEW,
        thorough_fit_samples=10 * FEW,
        thorough_epsilon="2",
    )
    for adjacency in get_args(Adjacency)
)
PROPORTION_MUTANTS: tuple[Mutant, ...] = (
    Mutant("noise scale × 0.25", "fit", lambda: _changed(_quarter_noise), FEW),
    Mutant("no noise on those that match", "replay", lambda: _changed(_no_noise)),
)
# A package of its own offers this; a question of ours has a line in audit/questions.py.
AUDITED = Audited(PROPORTION_CASES, PROPORTION_MUTANTS)

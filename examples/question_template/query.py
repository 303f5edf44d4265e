# SPDX-License-Identifier: Apache-2.0
"""The question ``proportion``."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anonymaly.questions.proportion.mechanism import noise_rate, proportion, release
from anonymaly.questions.proportion.summary import count_where
from pydantic import Field

from anonymaly.ask.query import Example, Expectation, Query, Released, Stage
from anonymaly.core.epsilon import Number
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Flag, Interval
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate
from anonymaly.errors import InputError
from anonymaly.noise import laws


class Proportion(Query):
    """What proportion of the records match?

    Parameters
    ----------
    where : str
        A filter such as ``"age >= 65"``.
    epsilon : number
        The total charge; half of it pays for each of the two counts.
    """

    question: ClassVar[str] = "proportion"

    where: str = Field(description='A filter such as "age >= 65".')

    if TYPE_CHECKING:

        def __init__(self, *, where: str, epsilon: Number) -> None: ...

    def resolve(self, declaration: Declaration) -> Self:
        """Write the filter in its one canonical spelling; refuse an epsilon that cannot be split."""
        if self.cost < 2:
            raise InputError(
                "cannot be split between two counts", field="epsilon", next_step="Give 0.000000002 or more."
            )
        return self.model_copy(update={"where": str(self._predicate(declaration))})

    @classmethod
    def example(cls) -> Example:
        """Ask for the consenting part of a small table."""
        return Example(
            query=cls(where="consent and age >= 18", epsilon="0.5"),
            records={"age": [30, 17, 45, None], "consent": [True, True, None, False]},
            columns={"age": Interval(0, 120), "consent": Flag()},
        )

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Count those that match, then those that do not."""
        first = self.cost // 2  # shares round down; the last stage takes the rest
        return (
            self._stage("matching", first, True, declaration),
            self._stage("others", self.cost - first, False, declaration),
        )

    def describe(self) -> str:
        """Say what is asked."""
        return f"proportion of records where {self.where}"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return what is known of the error beforehand: that of the two counts."""
        half_width = laws.two_sided_geometric_half_width(
            noise_rate(self.cost // 2, declaration), Fraction(95, 100)
        )
        return Expectation(
            noise="two-sided geometric on each of two counts",
            error=f"each count within ±{half_width:,} in 95 of 100 draws",
        )

    def combine(self, released: Released) -> Any:
        """Return both released counts and their ratio."""
        return {**released, "proportion": proportion(released["matching"], released["others"])}

    @classmethod
    def show(cls, value: Any, asks: str) -> str:
        """Write the ratio as a percentage."""
        ratio = value["proportion"]
        return f"{'unknown' if ratio is None else f'{ratio:.1%}'}: {asks}"

    def _stage(self, name: str, share: int, verdict: bool, declaration: Declaration) -> Stage:
        predicate = self._predicate(declaration)
        rate = noise_rate(share, declaration)
        return Stage(
            name=name,
            share=share,
            summarise=lambda table, released: count_where(table, predicate, verdict),
            release=lambda count, released, noise: release(count, rate, noise),
        )

    def _predicate(self, declaration: Declaration) -> Predicate:
        return parse(self.where, declaration.columns)

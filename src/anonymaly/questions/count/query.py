# SPDX-License-Identifier: Apache-2.0
"""The question ``count``."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field

from anonymaly.ask.query import Example, Expectation, Query, Stage
from anonymaly.core.epsilon import Number
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Interval
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate
from anonymaly.noise import laws
from anonymaly.questions.count.mechanism import noise_rate, release_count
from anonymaly.questions.count.summary import count_matching


class Count(Query):
    """How many records match?

    Parameters
    ----------
    where : str, optional
        A filter such as ``"ward == 'A' and age >= 18"``; all records without it. A record whose filter
        is unknown because of a null does not match.
    epsilon : number
        The total charge.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Count(where="ward == 'A'", epsilon=0.1).describe()
    "records where ward == 'A'"
    """

    question: ClassVar[str] = "count"

    where: str | None = Field(
        default=None, description="A filter such as \"ward == 'A' and age >= 18\"; all records without it."
    )

    if TYPE_CHECKING:

        def __init__(self, *, where: str | None = None, epsilon: Number) -> None: ...

    def resolve(self, declaration: Declaration) -> Self:
        """Write the filter in its one canonical spelling."""
        predicate = self._predicate(declaration)
        return self if predicate is None else self.model_copy(update={"where": str(predicate)})

    @classmethod
    def example(cls) -> Example:
        """Count the older half of a ward."""
        return Example(
            query=cls(where="age >= 60 and ward == 'A'", epsilon="0.5"),
            records={"age": [71, 64, 58, 80, 33, 62, None], "ward": ["A", "A", "A", "B", "A", "A", "B"]},
            columns={"age": Interval(0, 120), "ward": Categories(["A", "B"])},
        )

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Count on the engine, then add noise."""
        predicate = self._predicate(declaration)
        rate = noise_rate(self.cost, declaration)
        return (
            Stage(
                name="count",
                share=self.cost,
                summarise=lambda table, released: count_matching(table, predicate),
                release=lambda count, released, noise: release_count(count, rate, noise),
            ),
        )

    def describe(self) -> str:
        """Say what is counted."""
        return "all records" if self.where is None else f"records where {self.where}"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return the noise's law and the distance within which 95 % of answers fall."""
        rate = noise_rate(self.cost, declaration)
        half_width = laws.two_sided_geometric_half_width(rate, Fraction(95, 100))
        return Expectation(
            noise=f"two-sided geometric, standard deviation {laws.two_sided_geometric_deviation(rate):.4g}",
            error=f"within ±{half_width:,} of the true count in 95 of 100 draws",
            half_width=half_width,
        )

    @classmethod
    def show(cls, value: Any, asks: str) -> str:
        """Write the count with its unit."""
        return f"{value:,} {asks}"

    def _predicate(self, declaration: Declaration) -> Predicate | None:
        return None if self.where is None else parse(self.where, declaration.columns)

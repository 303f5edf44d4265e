# SPDX-License-Identifier: Apache-2.0
"""A count bound to a declaration: its filter, parsed, and the rate of its noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation
from anonymaly.core.rate import noise_rate
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate
from anonymaly.noise import laws

if TYPE_CHECKING:
    from anonymaly.questions.count.query import Count


@dataclass(frozen=True, kw_only=True)
class CountBinding(Binding):
    """What the one stage of a count needs."""

    predicate: Predicate | None
    rate: Fraction

    def expect(self) -> Expectation:
        """Return the noise's law and the distance within which 95 % of answers fall."""
        half_width = laws.two_sided_geometric_half_width(self.rate, Fraction(95, 100))
        deviation = laws.two_sided_geometric_deviation(self.rate)
        return Expectation(
            noise=f"two-sided geometric, standard deviation {deviation:.4g}",
            error=f"within ±{half_width:,} of the true count in 95 of 100 draws",
            half_width=half_width,
        )


def bind(query: Count, declaration: Declaration) -> CountBinding:
    """Parse the filter and write it in its canonical form."""
    predicate = None if query.where is None else parse(query.where, declaration.columns)
    if predicate is not None:
        query = query.model_copy(update={"where": str(predicate)})
    # Lemma 1: one person changes the count by at most the rows they have, in both adjacencies.
    rate = noise_rate(query.cost, moves=declaration.rows)
    return CountBinding(query=query, declaration=declaration, predicate=predicate, rate=rate)

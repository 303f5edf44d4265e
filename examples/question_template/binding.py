# SPDX-License-Identifier: Apache-2.0
"""A proportion bound to a declaration: its filter, parsed, and the rates of its two counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.core.rate import noise_rate
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate
from anonymaly.errors import InputError
from anonymaly.noise import laws

if TYPE_CHECKING:
    from anonymaly.questions.proportion.query import Proportion


@dataclass(frozen=True, kw_only=True)
class ProportionBinding(Binding):
    """What the two stages need."""

    predicate: Predicate

    @property
    def used(self) -> Used:
        """The columns that the filter names."""
        return Used(frozenset(self.predicate.columns()))

    @property
    def shares(self) -> Mapping[str, int]:
        """Half of the charge for each count; the first share is rounded down, the last takes the rest."""
        first = self.query.cost // 2
        return {"matching": first, "others": self.query.cost - first}

    def rate(self, stage: str) -> Fraction:
        """Return the rate of the noise on one count (Lemma 1)."""
        return noise_rate(self.shares[stage], moves=self.declaration.rows)

    def expect(self) -> Expectation:
        """Return what is known about the error before the charge: that of the two counts."""
        half_width = laws.two_sided_geometric_half_width(self.rate("matching"), Fraction(95, 100))
        return Expectation(
            noise="two-sided geometric on each of two counts",
            error=f"each count within ±{half_width:,} in 95 of 100 draws",
            # The number that a plan wants to be small.
            measure=Measure(half_width, "records", "95 of 100 draws of each count are within this"),
        )


def bind(query: Proportion, declaration: Declaration) -> ProportionBinding:
    """Write the filter in its canonical form; refuse an epsilon that cannot be split."""
    if query.cost < 2:
        raise InputError(
            "cannot be split between two counts", field="epsilon", next_step="Give 0.000000002 or more."
        )
    predicate = parse(query.where, declaration.columns)
    query = query.model_copy(update={"where": str(predicate)})
    return ProportionBinding(query=query, declaration=declaration, predicate=predicate)

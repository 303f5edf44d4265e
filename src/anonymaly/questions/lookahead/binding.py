# SPDX-License-Identifier: Apache-2.0
"""Lookahead bound to a declaration: its cells, the rate of the noise, and which counts get it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.ask.cited import cited_model
from anonymaly.core.rate import noise_rate, rows_moved
from anonymaly.declare.attributes import MOST_CELLS, Attribute, read_attributes
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.promise import Relation, SensitiveRecords

if TYPE_CHECKING:
    from anonymaly.questions.lookahead.query import Lookahead


@dataclass(frozen=True, kw_only=True)
class LookaheadBinding(Binding):
    """What the one stage of lookahead needs."""

    query: Lookahead
    model: AnomalyModel
    attributes: tuple[Attribute, ...]
    rate: Fraction
    least: int  # counts from here on get noise: β+1−n with n = k+1 (Lemma 1)

    @property
    def relation(self) -> Relation:
        """Everyone, or those who are sensitive by the model."""
        if self.protects_everyone:
            return super().relation
        given = self.declaration
        return SensitiveRecords(self.query.model, self.model, given.adjacency, given.unit_rows)

    @property
    def used(self) -> Used:
        """The model, and the columns that it compares records by: those of the cells are among them."""
        return Used(frozenset(self.model.columns), frozenset([self.query.model]))

    @property
    def shares(self) -> Mapping[str, int]:
        """The whole charge for the one stage."""
        return {"counts": self.query.cost}

    @property
    def protects_everyone(self) -> bool:
        """Whether every count gets noise, those of nobody too."""
        return self.least <= 0

    def expect(self) -> Expectation:
        """Return the noise's law, and which counts have it."""
        half_width = laws.two_sided_geometric_half_width(self.rate, Fraction(95, 100))
        which = "every count" if self.protects_everyone else f"counts from {self.least:,} on"
        below = "" if self.protects_everyone else "; smaller counts are exact"
        deviation = laws.two_sided_geometric_deviation(self.rate)
        return Expectation(
            noise=f"two-sided geometric, standard deviation {deviation:.4g}, on {which}",
            error=f"each within ±{half_width:,} of the true count in 95 of 100 draws{below}",
            half_width=half_width,
            measure=Measure(
                half_width,
                "records",
                f"95 of 100 draws are within this of the true count, for {which}{below}",
            ),
        )


def bind(query: Lookahead, declaration: Declaration) -> LookaheadBinding:
    """Check the question against the declaration, or say which field does not fit."""
    model = cited_model(query.model, declaration)
    if model.radius:
        raise InputError(
            f"the rule {query.model!r} has radius {model.radius}: records that are near and not equal are "
            "in different cells, and their counts would not show who is protected",
            field="model",
            next_step="Name a model with radius 0, or ask with Identify.",
        )
    attributes = read_attributes(query.columns, declaration.columns, field="columns")
    for attribute in attributes:
        if attribute.column not in model.columns:
            raise InputError(
                f"names {attribute.column}, by which the model does not tell records apart",
                field="columns",
                next_step=f"Columns of the model: {', '.join(model.columns)}.",
            )
    cells = math.prod(len(attribute.values) for attribute in attributes)
    if cells > MOST_CELLS:
        raise InputError(
            f"make {cells:,} cells; at most {MOST_CELLS:,} are released",
            field="columns",
            next_step="Use fewer columns, or wider bins.",
        )
    return LookaheadBinding(
        query=query,
        declaration=declaration,
        model=model,
        attributes=attributes,
        rate=noise_rate(query.cost, moves=rows_moved(declaration.rows, declaration.adjacency)),
        least=model.beta - (model.k + declaration.rows - 1),  # k is raised for persons of several rows
    )

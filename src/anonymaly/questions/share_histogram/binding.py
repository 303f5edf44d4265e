# SPDX-License-Identifier: Apache-2.0
"""A histogram bound to a declaration: its cells, its method, the policy it cites, the rates of its draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Used
from anonymaly.ask.cited import CitedPolicy, cited_policy
from anonymaly.core.rate import noise_rate
from anonymaly.core.suggestions import guess
from anonymaly.declare.attributes import MOST_CELLS, Attribute, read_attributes
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.publication import Publication
from anonymaly.errors import InputError
from anonymaly.promise import Relation
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.methods.method import HistogramMethod
from anonymaly.questions.share_histogram.methods.rates import Rates
from anonymaly.questions.share_histogram.methods.words import expectation

if TYPE_CHECKING:
    from anonymaly.questions.share_histogram.query import ShareHistogram

MOST_EDGES = 10_000  # of one column: the ledger keeps the question, edges and all


@dataclass(frozen=True, kw_only=True)
class ShareHistogramBinding(Binding):
    """What the one stage of a histogram needs."""

    by: tuple[Attribute, ...]
    method: HistogramMethod
    cited: CitedPolicy | None  # None for a method that protects everyone
    rates: Rates

    @property
    def relation(self) -> Relation:
        """Those whom the policy calls sensitive, or everyone if the method needs no policy."""
        return super().relation if self.cited is None else self.cited.relation(self.declaration)

    @property
    def policy(self) -> Publication | None:
        """The cited policy, if the method looks at it; undeclared values are sensitive too (Lemma P4)."""
        if self.cited is None:
            return None
        return Publication(self.cited.policy, tuple(attribute.column for attribute in self.by))

    @property
    def used(self) -> Used:
        """The columns of the cells, and the policy if the method looks at one, with the columns it names."""
        own = Used(frozenset(attribute.column for attribute in self.by))
        return own if self.cited is None else self.cited.used(own.columns, self.declaration)

    @property
    def shares(self) -> Mapping[str, int]:
        """All of the charge for the one stage; the method divides it among its draws."""
        return {"histogram": self.query.cost}

    def expect(self) -> Expectation:
        """Return the noise of the method and the error that it makes."""
        return expectation(self.method, self.rates, _cells(self.by))


def bind(query: ShareHistogram, declaration: Declaration) -> ShareHistogramBinding:
    """Check every field against the declaration; a policy that the method does not look at is left out."""
    by = read_attributes(query.by, declaration.columns, field="by")
    _refuse_large(by)
    method = _method(query.method)
    # Lemma 11: a person with m rows moves a histogram by no more than m records do.
    rate = noise_rate(query.cost, moves=declaration.rows)
    rates = method.rates_of(rate, declaration.adjacency, _cells(by))
    # Checked even if it is not needed: whoever names a policy that does not exist has made a mistake.
    cited = None if query.policy is None else cited_policy(query.policy, declaration)
    if not method.reads_non_sensitive:
        cited = None
    elif cited is None:
        free = ", ".join(name for name, known in METHODS.items() if not known.reads_non_sensitive)
        raise InputError(
            f"is needed for the method {method.name}, which treats sensitive records apart",
            field="policy",
            next_step=f"Cite a declared policy, or use a method that protects everyone: {free}.",
        )
    return ShareHistogramBinding(
        query=query.model_copy(update={"policy": None if cited is None else cited.text}),
        declaration=declaration,
        by=by,
        method=method,
        cited=cited,
        rates=rates,
    )


def _cells(by: Sequence[Attribute]) -> int:
    return math.prod(len(attribute.values) for attribute in by)


def _refuse_large(by: Sequence[Attribute]) -> None:
    if _cells(by) > MOST_CELLS:
        raise InputError(
            f"makes {_cells(by):,} cells, and at most {MOST_CELLS:,} are answered",
            field="by",
            next_step="Use fewer columns or wider bins.",
        )
    for attribute in by:
        if attribute.bins is not None and len(attribute.bins.edges) > MOST_EDGES:
            raise InputError(
                f"cuts {attribute.column} at {len(attribute.bins.edges):,} edges, "
                f"and at most {MOST_EDGES:,} are read",
                field="by",
                next_step="Use wider bins.",
            )


def _method(name: str) -> HistogramMethod:
    if name not in METHODS:
        raise InputError(
            f"there is no {name!r}",
            field="method",
            next_step=f"{guess(name, METHODS)}Methods: {', '.join(METHODS)}.",
        )
    return METHODS[name]

# SPDX-License-Identifier: Apache-2.0
"""A histogram bound to a declaration: its cells, its method, the policy it cites, the rates of its draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
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
from anonymaly.questions.share_histogram.decided import harmless_cells
from anonymaly.questions.share_histogram.methods import BEFORE, CHOOSING, METHODS
from anonymaly.questions.share_histogram.methods.method import Facts, HistogramMethod
from anonymaly.questions.share_histogram.methods.rates import Rates, hybrid, plain_by_facts
from anonymaly.questions.share_histogram.methods.words import expectation

if TYPE_CHECKING:
    from anonymaly.questions.share_histogram.query import ShareHistogram

AUTO = "auto"
USUAL_AIM = "cells"
MOST_EDGES = 10_000  # of one column: the ledger keeps the question, edges and all


@dataclass(frozen=True, kw_only=True)
class ShareHistogramBinding(Binding):
    """What the one stage of a histogram needs."""

    by: tuple[Attribute, ...]
    method: HistogramMethod
    cited: CitedPolicy | None  # None for a method that protects everyone
    rates: Rates
    facts: Facts

    @property
    def schema_version(self) -> int:
        """2 by ``auto``: by the same words, version 1 had another rule and one view."""
        return 2 if self.method.chooses else 1

    @property
    def earlier(self) -> Binding | None:
        """What ``auto`` was in version 1, which released one of two methods and one view."""
        query: ShareHistogram = self.query  # type: ignore[assignment]  # that of this question
        if not self.method.chooses or query.matters is not None:
            return None
        rates = BEFORE.rates_of(
            _rate(self.declaration, query.cost), self.declaration.adjacency, _cells(self.by)
        )
        return replace(self, method=BEFORE, rates=rates, facts=Facts(self.facts.shape))

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
    method = _method(query)
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
    rates, facts = _plan(query, method, by, cited, declaration)
    # Written down where it is not what auto does without a word.
    matters = None if query.matters == USUAL_AIM else query.matters
    text = None if cited is None else cited.text
    return ShareHistogramBinding(
        query=query.model_copy(update={"policy": text, "matters": matters}),
        declaration=declaration,
        by=by,
        method=method,
        cited=cited,
        rates=rates,
        facts=facts,
    )


def _plan(
    query: ShareHistogram,
    method: HistogramMethod,
    by: tuple[Attribute, ...],
    cited: CitedPolicy | None,
    declaration: Declaration,
) -> tuple[Rates, Facts]:
    """Return the rates of the draws, and what is public besides: auto asks for no number that facts tell."""
    rate, adjacency, cells = _rate(declaration, query.cost), declaration.adjacency, _cells(by)
    facts = Facts(tuple(len(attribute.values) for attribute in by))
    if not method.chooses or cited is None:
        return method.rates_of(rate, adjacency, cells), facts
    # A person's row is harmless only if all of the person's rows are, which no cell's text tells.
    harmless = (
        None if declaration.person is not None else harmless_cells(cited.policy, by, declaration.columns)
    )
    whole = hybrid(rate, adjacency, cells)
    plain = plain_by_facts(
        whole["two_sided"],
        cells=cells,
        rows=declaration.about_rows,
        decided=harmless is not None,
        ranges=query.matters not in (None, USUAL_AIM),
    )
    facts = Facts(facts.shape, harmless, plain)
    if plain is None:
        return method.rates_of(rate, adjacency, cells), facts
    return ({"two_sided": whole["two_sided"]} if plain else whole), facts


def _rate(declaration: Declaration, cost: int) -> Fraction:
    # Lemma 11: a person with m rows moves a histogram by no more than m records do.
    return noise_rate(cost, moves=declaration.rows)


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


def _method(query: ShareHistogram) -> HistogramMethod:
    if query.method not in METHODS:
        raise InputError(
            f"there is no {query.method!r}",
            field="method",
            next_step=f"{guess(query.method, METHODS)}Methods: {', '.join(METHODS)}.",
        )
    if query.method == AUTO:
        return CHOOSING[query.matters or USUAL_AIM]
    if query.matters is not None:
        raise InputError(
            f"is what auto chooses by, and the method is {query.method}",
            field="matters",
            next_step="Leave one of the two out.",
        )
    return METHODS[query.method]

# SPDX-License-Identifier: Apache-2.0
"""A count bound to a declaration: its filters, parsed, and the rate of its noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.core.rate import Adjacency, noise_rate
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate
from anonymaly.errors import ExpressionError
from anonymaly.noise import laws
from anonymaly.questions.count.together import most_together

if TYPE_CHECKING:
    from anonymaly.questions.count.query import Count

MOST = "95 of 100 draws"
LONGEST_LIST = 100_000  # characters of all filters together: the ledger keeps them, and an engine reads them


@dataclass(frozen=True, kw_only=True)
class CountBinding(Binding):
    """What the one stage of a count needs: one predicate, or those of a list."""

    rate: Fraction
    predicate: Predicate | None = None
    predicates: tuple[Predicate, ...] | None = None
    together: int = 1  # at most so many filters match one record
    changed: int = 1  # at most so many counts change with one record

    @property
    def used(self) -> Used:
        """The columns that the filters name."""
        asked = self.predicates or (() if self.predicate is None else (self.predicate,))
        return Used(frozenset(name for predicate in asked for name in predicate.columns()))

    def expect(self) -> Expectation:
        """Return the noise's law and the distance within which 95 % of answers fall."""
        half_width = laws.two_sided_geometric_half_width(self.rate, Fraction(95, 100))
        deviation = laws.two_sided_geometric_deviation(self.rate)
        noise = f"two-sided geometric, standard deviation {deviation:.4g}"
        error = f"within ±{half_width:,} of the true count in 95 of 100 draws"
        if self.predicates is None:
            measure = Measure(half_width, "records", f"{MOST} are within this of the true count")
            return Expectation(noise=noise, error=error, half_width=half_width, measure=measure)
        return Expectation(
            noise=f"{noise}, on each count: {self._division()}",
            error=f"each {error}",
            half_width=half_width,
            details={
                "counts": len(self.predicates),
                "together": self.together,
                "changed": self.changed,
                "epsilon_each": float(self.query.epsilon / self.changed),
            },
            measure=Measure(half_width, "records", f"{MOST} of each count are within this of the true one"),
        )

    def _division(self) -> str:
        """Say what each count of a list gets of ε, and why."""
        counts = f"{len(self.predicates or ()):,} counts"
        if len(self.predicates or ()) == 1:
            return "one count"
        if self.changed == 1:
            return f"no record matches two of the filters, so these {counts} cost ε once"
        if self.declaration.adjacency == "replace":
            why = f"a replaced record may change up to {self.changed:,} of these {counts}"
        else:
            why = f"a record may match up to {self.together:,} of the filters of these {counts}"
        return f"{why}, so each is answered at ε/{self.changed:,}"


def bind(query: Count, declaration: Declaration) -> CountBinding:
    """Parse the filters and write them in their canonical form."""
    if isinstance(query.where, tuple):
        return _bind_list(query, query.where, declaration)
    predicate = None if query.where is None else parse(query.where, declaration.columns)
    if predicate is not None:
        query = query.model_copy(update={"where": str(predicate)})
    # Lemma 1: one person changes the count by at most the rows they have, in both adjacencies.
    rate = noise_rate(query.cost, moves=declaration.rows)
    return CountBinding(query=query, declaration=declaration, predicate=predicate, rate=rate)


def _bind_list(query: Count, texts: Sequence[str], declaration: Declaration) -> CountBinding:
    _refuse_long(texts)
    predicates = tuple(
        parse(text, declaration.columns, field=f"where.{place}") for place, text in enumerate(texts)
    )
    canonical = tuple(map(str, predicates))
    _refuse_long(canonical)
    together = most_together(predicates, declaration.columns)
    changed = most_changed(len(predicates), together, declaration.adjacency)
    return CountBinding(
        query=query.model_copy(update={"where": canonical}),
        declaration=declaration,
        predicates=predicates,
        together=together,
        changed=changed,
        rate=noise_rate(
            query.cost,
            moves=declaration.rows,
            parts=changed,
            next_step="Give a larger epsilon, or fewer filters that one record can match.",
        ),
    )


def most_changed(counts: int, together: int, adjacency: Adjacency) -> int:
    """Return how many counts of a list one record changes at most (Lemma 3).

    Under replacement it leaves ``together`` of them and enters as many others.

    Examples
    --------
    >>> most_changed(5, 1, "add_remove"), most_changed(5, 1, "replace"), most_changed(3, 2, "replace")
    (1, 2, 3)
    """
    return min(counts, 2 * together if adjacency == "replace" else together)


def _refuse_long(texts: Sequence[str]) -> None:
    length = sum(map(len, texts))
    if length > LONGEST_LIST:
        raise ExpressionError(
            f"has {length:,} characters in all its filters; at most {LONGEST_LIST:,} are read",
            field="where",
            next_step="Ask about fewer filters at once.",
        )

# SPDX-License-Identifier: Apache-2.0
"""Sequences bound to a declaration: their places, the policy they cite, the rate and the threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.ask.cited import CitedPolicy, cited_policy
from anonymaly.core.rate import noise_rate, rows_moved
from anonymaly.declare.attributes import Attribute, read_attributes
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import find_domain
from anonymaly.declare.publication import Publication, WholePersons
from anonymaly.errors import InputError
from anonymaly.noise import laws
from anonymaly.noise.sparse import reaching, threshold_for
from anonymaly.promise import Relation
from anonymaly.questions.share_ngrams.sequences import Sequences

if TYPE_CHECKING:
    from anonymaly.questions.share_ngrams.query import ShareNgrams

MOST_VALUES = 1_000  # of one column: the engine compares each row with all of them
MOST_SEQUENCES = 2**62  # an engine's integers hold the number of each
MOST_PUBLISHED = 2**20  # sequences that are noise, on average
EMPTY = Fraction(1)  # of them by default
LEVEL = Fraction(95, 100)


@dataclass(frozen=True, kw_only=True)
class ShareNgramsBinding(Binding):
    """What the one stage of a count of sequences needs."""

    place: tuple[Attribute, ...]
    order: str
    per_person: int
    sequences: Sequences
    cited: CitedPolicy | None  # None: everyone counts, and everyone is protected
    rate: Fraction
    threshold: int

    @property
    def relation(self) -> Relation:
        """Those whom the policy calls sensitive, or everyone."""
        return super().relation if self.cited is None else self.cited.relation(self.declaration)

    @property
    def policy(self) -> WholePersons:
        """All rows of each person, judged by the policy; undeclared places are sensitive too (Lemma P4)."""
        if self.cited is None:
            return WholePersons()
        return WholePersons(Publication(self.cited.policy, self._columns))

    @property
    def used(self) -> Used:
        """Places, order and person, and the policy with the columns that it names."""
        person = self.declaration.person
        declared = [person] if person is not None and person in self.declaration.columns else []
        own = [*self._columns, self.order, *declared]
        return Used(frozenset(own)) if self.cited is None else self.cited.used(own, self.declaration)

    @property
    def shares(self) -> Mapping[str, int]:
        """All of the charge for the one stage."""
        return {"ngrams": self.query.cost}

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(attribute.column for attribute in self.place)

    def expect(self) -> Expectation:
        """Return the noise, the error that it makes, and what is not published."""
        most = self.per_person
        counted = [
            "a count is the number of persons with that sequence; all of their rows are read",
            f"of a person with more than {most:,} sequences only so many count, the first in a public order; "
            "sequences late in it are counted too low",
        ]
        unpublished = (
            f"of {self.sequences.size:,} sequences, those below {self.threshold:,} are not published"
        )
        if self.cited is None:
            half = laws.two_sided_geometric_half_width(self.rate, LEVEL)
            deviation = laws.two_sided_geometric_deviation(self.rate)
            false = float(reaching(self.threshold, self.rate)) * self.sequences.size
            return Expectation(
                noise=f"two-sided geometric on each sequence, standard deviation {deviation:.4g}",
                error="\n".join(
                    [
                        f"before the threshold each count is within ±{half:,} in 95 of 100 draws",
                        "published ones were chosen for being large, so that more of them are too high",
                        f"{unpublished}; up to {false:.2g} that nobody has are, on average",
                        *counted,
                    ]
                ),
                half_width=half,
                measure=Measure(
                    half,
                    "persons",
                    "95 of 100 draws are within this of a sequence's persons, before the threshold",
                ),
            )
        below = laws.one_sided_geometric_quantile(self.rate, LEVEL)
        mean = laws.one_sided_geometric_mean(self.rate)
        return Expectation(
            noise=f"one-sided geometric taken from each count, mean {mean:.4g}",
            error="\n".join(
                [
                    f"each count at most {below:,} below that of persons who are not sensitive, "
                    "in 95 of 100 draws, and never above it",
                    f"{unpublished}; each published one is somebody's",
                    "sensitive persons are not counted",
                    *counted,
                ]
            ),
            measure=Measure(
                below,
                "persons",
                "95 of 100 draws are within this of a sequence's persons who are not sensitive",
            ),
        )


def bind(query: ShareNgrams, declaration: Declaration) -> ShareNgramsBinding:
    """Check every field against the declaration."""
    if declaration.person is None:
        raise InputError(
            f"{declaration.name} does not say whose row each is, so that no row follows another",
            field="place",
            next_step="Ask the owner to declare person= and max_rows=, or ask ShareHistogram.",
        )
    place = read_attributes(query.place, declaration.columns, field="place")
    _refuse_long_lists(place)
    if find_domain(query.order, declaration.columns, field="order").kind not in ("number", "moment"):
        raise InputError(
            f"{query.order} is {declaration.columns[query.order].describe()}; rows are put in order by a "
            "number or a moment",
            field="order",
            next_step="Name a column declared as Interval, Unbounded or Timestamps.",
        )
    if query.shortest > query.length:
        raise InputError(
            f"is {query.shortest}, and no sequence has more than {query.length} places",
            field="shortest",
            next_step=f"Give at most {query.length}, or a larger length.",
        )
    places = math.prod(len(attribute.values) for attribute in place)
    sequences = Sequences(places, query.length, query.shortest)
    if sequences.size > MOST_SEQUENCES:
        raise InputError(
            f"makes {sequences.size:.2g} sequences of {sequences.places:,} places; at most 2^62 are counted",
            field="length",
            next_step="Ask for shorter sequences, or use fewer and larger places.",
        )
    cited = None if query.policy is None else cited_policy(query.policy, declaration)
    # Lemma 1: a person moves at most per_person counts by one; under a policy none of them falls.
    moves = query.per_person if cited else rows_moved(query.per_person, declaration.adjacency)
    rate = noise_rate(query.cost, moves=moves)
    return ShareNgramsBinding(
        query=query.model_copy(update={"policy": None if cited is None else cited.text}),
        declaration=declaration,
        place=place,
        order=query.order,
        per_person=query.per_person,
        sequences=sequences,
        cited=cited,
        rate=rate,
        threshold=_threshold(query.threshold, sequences, rate, one_sided=cited is not None),
    )


def _threshold(given: int | None, sequences: Sequences, rate: Fraction, *, one_sided: bool) -> int:
    if one_sided:  # noise never lifts a count, so that no sequence that nobody has reaches 1
        return given or 1
    if given is None:
        return max(1, threshold_for(sequences.size, rate, EMPTY))
    least = threshold_for(sequences.size, rate, Fraction(MOST_PUBLISHED))
    if given < least:
        raise InputError(
            f"too many of {sequences.size:,} sequences that nobody has would reach {given:,}",
            field="threshold",
            next_step=f"Leave it out, or give {least:,} or more.",
        )
    return given


def _refuse_long_lists(place: tuple[Attribute, ...]) -> None:
    for attribute in place:
        if len(attribute.values) > MOST_VALUES:
            raise InputError(
                f"has {len(attribute.values):,} values of {attribute.column}; at most {MOST_VALUES:,} fit",
                field="place",
                next_step="Use larger places, or two columns that make a grid.",
            )

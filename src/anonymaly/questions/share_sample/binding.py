# SPDX-License-Identifier: Apache-2.0
"""A sample bound to a declaration: the policy it cites, and whether a coin is a row's or a person's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.ask.cited import CitedPolicy, cited_policy
from anonymaly.core.rate import noise_rate
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import find_domain
from anonymaly.declare.publication import Publication, WholePersons
from anonymaly.errors import InputError
from anonymaly.promise import Relation

if TYPE_CHECKING:
    from anonymaly.questions.share_sample.query import ShareSample

NEXT_TO_NOTHING = 0.01  # of the records: below it the preview says what would be needed


@dataclass(frozen=True, kw_only=True)
class ShareSampleBinding(Binding):
    """What the one stage of a sample needs."""

    query: ShareSample
    cited: CitedPolicy
    columns: tuple[str, ...]
    # Only where persons are what is protected: of rows that are protected one by one, one coin for several
    # has no bound (Lemma S3).
    by_person: bool
    rate: Fraction  # of a coin, by Lemma S1 or S3

    @property
    def schema_version(self) -> int:
        """2 where a coin is a person's: by the same words, version 1 threw one for each of their rows."""
        return 2 if self.by_person else 1

    @property
    def earlier(self) -> ShareSampleBinding | None:
        """The question of version 1, in which each row of a person had a coin, at ε/m; without weights."""
        if not self.by_person or self.query.weights:
            return None
        rate = noise_rate(self.query.cost, moves=self.declaration.rows)
        return replace(self, by_person=False, rate=rate)

    @property
    def label(self) -> str | None:
        """The name of the column with the persons' labels; None where a coin is a row's."""
        return free_name("person", self.columns) if self.by_person else None

    @property
    def weight(self) -> str | None:
        """The name of the column with weights, if they are asked for."""
        return free_name("weight", self.columns) if self.query.weights else None

    @property
    def relation(self) -> Relation:
        """Those whom the policy calls sensitive."""
        return self.cited.relation(self.declaration)

    @property
    def policy(self) -> Publication | WholePersons:
        """The cited policy; undeclared values of what is published are sensitive too (Lemma P4)."""
        judged = Publication(self.cited.policy, self.columns)
        return WholePersons(judged) if self.by_person else judged

    @property
    def used(self) -> Used:
        """What is published, and the policy with the columns that it names."""
        return self.cited.used(self.columns, self.declaration)

    @property
    def shares(self) -> Mapping[str, int]:
        """All of the charge for the one stage."""
        return {"sample": self.query.cost}

    def expect(self) -> Expectation:
        """Return which part of the records, or persons, is kept."""
        kept = kept_share(float(self.rate))
        each = "person" if self.by_person else "record"
        harmless = f"{each}s {'who' if self.by_person else 'that'} are not sensitive"
        lines = [f"{100 * kept:.3g} of 100 {harmless} are kept on average"]
        if self.by_person:
            label = f"in the column {self.label} a label drawn anew says whose they are"
            lines.append(f"all rows of a person stay together, however many they are; {label}")
        if kept < NEXT_TO_NOTHING:
            times = 1 if self.by_person else self.declaration.rows
            needed = "ε = 1" if times == 1 else f"ε = 1 times {times}"
            lines.append(f"at this ε next to nothing is released ({needed} keeps 63 of 100)")
        if self.weight is not None:
            of = "of persons who" if self.by_person else "that"
            stands = f"stands for {1 / kept:.4g} records {of} are not sensitive"
            lines.append(f"each record {stands}, as the column {self.weight} says")
        # The coins keep ε in both adjacencies (Lemmas S1 and S3), so this holds in either.
        missing = "that one is missing shows that it is absent or sensitive only up to the factor e^ε"
        lines.append(f"kept records are true; {missing}")
        return Expectation(
            noise=f"a coin for each {each}, heads with probability {kept:.4g}; the order is drawn anew",
            error="\n".join(lines),
            measure=Measure(math.exp(-float(self.rate)), "share", f"of the {harmless}, left out on average"),
        )


def kept_share(rate: float) -> float:
    """Return 1 − e^-ε as a float: to write the exact number as one takes minutes if ε is vast."""
    return -math.expm1(-rate)


def free_name(name: str, columns: Sequence[str]) -> str:
    """Return a name for a column beside the published ones, whatever the owner calls those.

    Examples
    --------
    >>> free_name("weight", ["age"]), free_name("weight", ["Weight", "weight_2"])
    ('weight', 'weight_3')
    """
    taken = {column.lower() for column in columns}
    names = (name if place == 1 else f"{name}_{place}" for place in count(1))
    return next(free for free in names if free not in taken)


def bind(query: ShareSample, declaration: Declaration) -> ShareSampleBinding:
    """Check policy and columns against the declaration."""
    for name in query.columns:
        find_domain(name, declaration.columns, field="columns")
    if len(set(query.columns)) < len(query.columns):
        raise InputError("names a column twice", field="columns", next_step="Name each column once.")
    cited = cited_policy(query.policy, declaration)
    return ShareSampleBinding(
        query=query.model_copy(update={"policy": cited.text}),
        declaration=declaration,
        cited=cited,
        columns=query.columns,
        by_person=declaration.person is not None,
        rate=noise_rate(query.cost, moves=1),
    )

# SPDX-License-Identifier: Apache-2.0
"""A sample bound to a declaration: the policy it cites, and ε for each row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonymaly.ask.binding import Binding, Expectation, Measure, Used
from anonymaly.ask.cited import CitedPolicy, cited_policy
from anonymaly.core.rate import noise_rate
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import find_domain
from anonymaly.declare.publication import Publication
from anonymaly.errors import InputError
from anonymaly.promise import Relation

if TYPE_CHECKING:
    from anonymaly.questions.share_sample.query import ShareSample

NEXT_TO_NOTHING = 0.01  # of the records: below it the preview says what would be needed


@dataclass(frozen=True, kw_only=True)
class ShareSampleBinding(Binding):
    """What the one stage of a sample needs."""

    cited: CitedPolicy
    columns: tuple[str, ...]
    rate: Fraction

    @property
    def relation(self) -> Relation:
        """Those whom the policy calls sensitive."""
        return self.cited.relation(self.declaration)

    @property
    def policy(self) -> Publication:
        """The cited policy; undeclared values of what is published are sensitive too (Lemma P4)."""
        return Publication(self.cited.policy, self.columns)

    @property
    def used(self) -> Used:
        """What is published, and the policy with the columns that it names."""
        return self.cited.used(self.columns, self.declaration)

    @property
    def shares(self) -> Mapping[str, int]:
        """All of the charge for the one stage."""
        return {"sample": self.query.cost}

    def expect(self) -> Expectation:
        """Return which part of the records is kept."""
        kept = kept_share(float(self.rate))
        lines = [f"{100 * kept:.3g} of 100 records that are not sensitive are kept on average"]
        if kept < NEXT_TO_NOTHING:
            rows = self.declaration.rows
            times = "" if rows == 1 else f" times {rows}"
            lines.append(f"at this ε next to nothing is released (ε = 1{times} keeps 63 of 100)")
        # The coins keep ε in both adjacencies (Lemma S1), so this holds in either.
        missing = "that one is missing shows that it is absent or sensitive only up to the factor e^ε"
        lines.append(f"kept records are true; {missing}")
        return Expectation(
            noise=f"a coin for each record, heads with probability {kept:.4g}; the order is drawn anew",
            error="\n".join(lines),
            measure=Measure(
                math.exp(-float(self.rate)),
                "share",
                "of the records that are not sensitive, left out on average",
            ),
        )


def kept_share(rate: float) -> float:
    """Return 1 − e^-ε as a float: to write the exact number as one takes minutes if ε is vast."""
    return -math.expm1(-rate)


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
        # Lemma S1: all rows of a person are left out together with probability e^-ε.
        rate=noise_rate(query.cost, moves=declaration.rows),
    )

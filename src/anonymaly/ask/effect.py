# SPDX-License-Identifier: Apache-2.0
"""What one more answer does to the promise of those before it, from the declaration and the ledger alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymaly.ask.binding import Binding
from anonymaly.declare.domain import Domain
from anonymaly.ledger import Reservation
from anonymaly.ledger.composition import compose_charges, versions_asked, whole
from anonymaly.promise import Everyone, Guarantee, Intersection, compose
from anonymaly.promise.policies import protects_nobody, who_is_protected


@dataclass(frozen=True)
class Effect:
    """The promise of all earlier answers together, and what it becomes with one more."""

    questions: int
    before: Guarantee
    after: Guarantee
    versions: tuple[str, ...]  # all that are asked about then
    columns: Mapping[str, Domain]

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data."""
        return {
            "questions": self.questions,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "versions": list(self.versions),
            "protected_before": who_is_protected(self.before.relation, self.columns),
            "protected_after": who_is_protected(self.after.relation, self.columns),
        }

    def __str__(self) -> str:
        relation = self.before.relation
        who = "whoever all of them protect" if isinstance(relation, Intersection) else relation.protects()
        several = "question" if self.questions == 1 else "questions"
        lines = [
            f"{self.questions:,} {several} promised ε = {self.before.epsilon} to {who}",
            f"with this one, all together promise ε = {self.after.epsilon} only to those of them whom it "
            "protects too; for the others there is no bound any more",
        ]
        if len(self.versions) > 1:
            lines.append(
                f"and only to those for whom that is so in every version of {', '.join(self.versions)}"
            )
        if protects_nobody(self.after.relation, self.columns):
            lines.append(f"that is {who_is_protected(self.after.relation, self.columns)}")
        return "\n".join(lines)


def effect_of(bound: Binding, charges: Sequence[Reservation]) -> Effect | None:
    """Say what a question would do to the promise of those before it; None if it protects no fewer."""
    lines = compose_charges(charges)
    if not lines:
        return None
    before = compose(*(line.guarantee for line in lines))
    after = compose(before, bound.guarantee)
    asked = [version.name for version in versions_asked(charges)]
    versions = tuple(dict.fromkeys([*asked, whole(bound.declaration.version)]))
    # In a version that is new, whom a rule protects may be others; differential privacy protects all in each.
    elsewhere = len(versions) > len(asked) and not isinstance(after.relation, Everyone)
    if after.relation == before.relation and not elsewhere:
        return None
    return Effect(len(charges), before, after, versions, bound.declaration.columns)

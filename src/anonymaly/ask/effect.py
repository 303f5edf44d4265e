# SPDX-License-Identifier: Apache-2.0
"""What one more answer does to the promise of those before it, from the declaration and the ledger alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymaly.ask.binding import Binding
from anonymaly.ask.fingerprints import is_same
from anonymaly.declare.domain import Domain
from anonymaly.ledger import Reservation
from anonymaly.ledger.composition import compose_charges, versions_asked, whole
from anonymaly.ledger.declarations import Declared, asked_under, common_columns
from anonymaly.promise import Everyone, Guarantee, Intersection, compose
from anonymaly.promise.policies import protects_nobody, who_is_protected


@dataclass(frozen=True)
class Effect:
    """The promise of all earlier answers together, and what it becomes with one more."""

    questions: int
    before: Guarantee
    after: Guarantee
    versions: tuple[str, ...]  # all that are asked about then
    columns: Mapping[str, Domain]  # those that are declared alike wherever it was asked
    declarations: tuple[int, ...] = ()  # all that are asked under then, if whom a rule protects may differ

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as plain data."""
        return {
            "questions": self.questions,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "versions": list(self.versions),
            "protected_before": who_is_protected(self.before.relation, self.columns),
            "protected_after": who_is_protected(self.after.relation, self.columns),
            **({"declarations": list(self.declarations)} if self.declarations else {}),
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
        if self.declarations:
            entries = ", ".join(map(str, self.declarations))
            lines.append(
                f"and only to those for whom that is so under every declaration, of entries {entries}"
            )
        if protects_nobody(self.after.relation, self.columns):
            lines.append(f"that is {who_is_protected(self.after.relation, self.columns)}")
        return "\n".join(lines)


def effect_of(
    bound: Binding, charges: Sequence[Reservation], declared: Sequence[Declared] = ()
) -> Effect | None:
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
    under = _asked_under(charges, declared)
    # Under a declaration that is new, too, if what decides is declared otherwise.
    otherwise = not isinstance(bound.relation, Everyone) and not all(is_same(bound, item) for item in under)
    if after.relation == before.relation and not elsewhere and not otherwise:
        return None
    declarations = tuple(sorted({*(item.number for item in under), declared[-1].number})) if otherwise else ()
    columns = common_columns([bound.declaration.to_dict(), *(item.declaration for item in under)])
    return Effect(len(charges), before, after, versions, columns, declarations)


def _asked_under(charges: Sequence[Reservation], declared: Sequence[Declared]) -> list[Declared]:
    """Return the declarations before the one in force that anything was asked under."""
    numbers = {asked_under(declared, item).number for item in charges} if len(declared) > 1 else set()
    return [item for item in declared[:-1] if item.number in numbers]

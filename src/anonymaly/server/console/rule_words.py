# SPDX-License-Identifier: Apache-2.0
"""An owner's rules in plain words: what each allows, whom it protects, and whom it does not."""

from __future__ import annotations

from anonymaly.declare.declaration import Declaration
from anonymaly.declare.rules import AnomalyModel, Policy, Rule, SameContexts
from anonymaly.promise.everyone import Everyone
from anonymaly.promise.sensitive_records import SensitiveRecords
from anonymaly.promise.sensitive_under_policy import SensitiveUnderPolicy


def in_words(name: str, rule: Rule, declared: Declaration) -> dict[str, str | None]:
    """Say a rule of a table.

    Examples
    --------
    >>> from anonymaly.declare.domain import Interval
    >>> declared = Declaration.read(name="patients", columns={"age": Interval(0, 120)})
    >>> in_words("adults", Policy("age >= 18"), declared)["says"]
    'Whoever has age >= 18 is not sensitive; everybody else is.'
    """
    return {"name": name, **_words(name, rule, declared)}


def rules_in_words(declared: Declaration) -> list[dict[str, str | None]]:
    """Say every rule of a table in words."""
    return [in_words(name, rule, declared) for name, rule in declared.rules.items()]


def promise_in_words(declared: Declaration) -> dict[str, str]:
    """Say what every question promises that cites no rule."""
    relation = Everyone(adjacency=declared.adjacency, rows=declared.unit_rows)
    return {"protected": relation.protects(), "not_protected": relation.does_not_protect()}


def _words(name: str, rule: Rule, declared: Declaration) -> dict[str, str | None]:
    adjacency, rows = declared.adjacency, declared.unit_rows
    match rule:
        case Policy():
            promise: SensitiveUnderPolicy | SensitiveRecords = SensitiveUnderPolicy(
                name, rule, adjacency, rows
            )
            says = f"Whoever has {rule.text} is not sensitive; everybody else is."
        case AnomalyModel():
            promise = SensitiveRecords(name, rule, adjacency, rows)
            near = "equal" if rule.radius == 0 else f"within {rule.radius:g}"
            says = (
                f"Odd is a record with at most {rule.beta:,} records {near} in {', '.join(rule.columns)}, "
                "itself included."
            )
        case SameContexts():
            return {
                "says": f"Questions about single records may be asked: {rule.describe()}.",
                "protected": None,
                "not_protected": SameContexts.WARNING,
            }
    return {"says": says, "protected": promise.protects(), "not_protected": promise.does_not_protect()}

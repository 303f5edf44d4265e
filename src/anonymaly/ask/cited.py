# SPDX-License-Identifier: Apache-2.0
"""The declared rules that questions cite by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anonymaly.ask.binding import Used
from anonymaly.core.suggestions import guess
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.rules import AnomalyModel, Policy
from anonymaly.declare.sensitivity import who_is_sensitive
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.promise import SensitiveUnderPolicy


@dataclass(frozen=True)
class CitedPolicy:
    """A policy and the name under which the owner declared it; no name if it is written in the question."""

    rule: str | None
    policy: Policy

    @property
    def text(self) -> str:
        """What the question's field says: the name, or the policy's own text."""
        return self.policy.text if self.rule is None else self.rule

    def relation(self, declaration: Declaration) -> SensitiveUnderPolicy:
        """Return who is protected, in the account's adjacency and for its unit."""
        return SensitiveUnderPolicy(self.rule, self.policy, declaration.adjacency, declaration.unit_rows)

    def used(self, published: Iterable[str], declaration: Declaration) -> Used:
        """Return what a question uses that publishes columns under the policy."""
        named = self.policy.predicate(declaration.columns).columns()
        rules = [] if self.rule is None else [self.rule]
        return Used(frozenset([*published, *named]), frozenset(rules))


def cited_policy(name: str, declaration: Declaration) -> CitedPolicy:
    """Return the policy of that name, or raise an error that says why it cannot be cited; reads no rows."""
    rule = declaration.rules.get(name)
    if isinstance(rule, Policy):
        cited = CitedPolicy(name, rule)
    elif declaration.any_rule:
        cited = CitedPolicy(None, Policy(name).resolve(declaration.columns, field="policy"))
    else:
        policies = [known for known, item in declaration.rules.items() if isinstance(item, Policy)]
        raise RuleNotDeclared(
            f"the owner of {declaration.name} declared no policy {name!r}",
            field="policy",
            next_step=f"{guess(name, policies)}Cite a declared one "
            f"({', '.join(policies) or 'there is none'}), or ask the owner to declare it, "
            f"as in rules={{{name!r}: am.Policy('age >= 18')}}.",
        )
    _refuse_trivial(cited.policy, declaration)
    return cited


def _refuse_trivial(policy: Policy, declaration: Declaration) -> None:
    """Refuse a policy that, by its text and the declared domain, calls everyone or nobody sensitive."""
    match who_is_sensitive(policy, declaration.columns):
        case "nobody":
            raise InputError(
                f"`{policy.text}` is true of every value in the declared domain, so it protects nobody but "
                "records with a missing or undeclared value",
                field="policy",
                next_step="If you mean that, publish the table without anonymaly; if not, correct the policy "
                "or the declared columns.",
            )
        case "everyone":
            raise InputError(
                f"`{policy.text}` is true of no value in the declared domain, so every record is sensitive "
                "and nothing about them may be shared under it",
                field="policy",
                next_step="Ask a question that protects everyone: Count, or ShareHistogram without a policy "
                'and with method="geometric", "smoothed" or "dawa".',
            )


def cited_model(name: str, declaration: Declaration) -> AnomalyModel:
    """Return a declared anomaly model by its name."""
    rule = declaration.rules.get(name)
    if rule is None:
        raise RuleNotDeclared(
            f"there is no rule {name!r}",
            field="model",
            next_step=f"{guess(name, declaration.rules)}Cite a declared anomaly model "
            f"({model_names(declaration)}), or ask the owner to declare one, "
            f"as in rules={{{name!r}: am.AnomalyModel(['age'], radius=1, beta=10)}}.",
        )
    if not isinstance(rule, AnomalyModel):
        raise InputError(
            f"the rule {name!r} is a {rule.type}, not an anomaly model",
            field="model",
            next_step=f"Declared anomaly models: {model_names(declaration)}.",
        )
    return rule


def model_names(declaration: Declaration) -> str:
    """List the declared anomaly models, for messages."""
    names = [name for name, rule in declaration.rules.items() if isinstance(rule, AnomalyModel)]
    return ", ".join(names) or "none"

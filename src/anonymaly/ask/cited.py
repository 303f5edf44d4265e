# SPDX-License-Identifier: Apache-2.0
"""The rules that questions cite: declared by the owner, found by their names."""

from __future__ import annotations

from anonymaly.declare.dataset import Declaration
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError, RuleNotDeclared


def cited_model(name: str, declaration: Declaration) -> AnomalyModel:
    """Return a declared anomaly model by its name."""
    rule = declaration.rules.get(name)
    if rule is None:
        raise RuleNotDeclared(
            f"there is no rule {name!r}",
            field="model",
            next_step=f"Declared anomaly models: {model_names(declaration)}.",
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

# SPDX-License-Identifier: Apache-2.0
"""Which anomaly model a question means: the owner's by its name, or one written out."""

from __future__ import annotations

from typing import Any, Protocol

from anonymaly.declare.dataset import Declaration
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError, RuleNotDeclared


class Citing(Protocol):
    """The fields that say which model is meant."""

    @property
    def model(self) -> str | None: ...  # noqa: D102
    @property
    def guarantee(self) -> str: ...  # noqa: D102
    @property
    def columns(self) -> tuple[str, ...] | None: ...  # noqa: D102
    @property
    def radius(self) -> float | None: ...  # noqa: D102
    @property
    def beta(self) -> int | None: ...  # noqa: D102
    @property
    def k(self) -> int | None: ...  # noqa: D102
    @property
    def metric(self) -> Any: ...  # noqa: D102
    @property
    def scaled(self) -> bool | None: ...  # noqa: D102


def find_model(asked: Citing, declaration: Declaration) -> AnomalyModel:
    """Return the model, checked against the declared columns."""
    written = {
        name: getattr(asked, name)
        for name in ("columns", "radius", "beta", "k", "metric", "scaled")
        if getattr(asked, name) is not None
    }
    if asked.model is not None:
        if written:
            raise InputError(
                f"is given beside model={asked.model!r}, which says it already",
                field=next(iter(written)),
                next_step="Cite the model or write it out, not both.",
            )
        return cited_model(asked.model, declaration)
    needed = [name for name in ("columns", "radius", "beta") if name not in written]
    if needed and asked.guarantee == "sensitive":
        raise InputError(
            "is needed",
            field="model",
            next_step=f"Name a declared anomaly model ({_models(declaration)}), or ask with "
            "guarantee='differential', which needs none.",
        )
    if needed:
        raise InputError(
            "is needed where no model is named",
            field=needed[0],
            next_step="Give columns, radius and beta, or the name of a declared model.",
        )
    if asked.guarantee == "differential" and "k" in written:
        raise InputError(
            "says whom sensitive privacy protects, and differential privacy protects all",
            field="k",
            next_step="Leave it out.",
        )
    model = AnomalyModel.read(written)
    return model.resolve(declaration.columns, field="model")


def cited_model(name: str, declaration: Declaration) -> AnomalyModel:
    """Return a declared model by its name."""
    rule = declaration.rules.get(name)
    if rule is None:
        raise RuleNotDeclared(
            f"there is no rule {name!r}",
            field="model",
            next_step=f"Declared anomaly models: {_models(declaration)}.",
        )
    if not isinstance(rule, AnomalyModel):
        raise InputError(
            f"the rule {name!r} is a {rule.type}, not an anomaly model",
            field="model",
            next_step=f"Declared anomaly models: {_models(declaration)}.",
        )
    return rule


def _models(declaration: Declaration) -> str:
    names = [name for name, rule in declaration.rules.items() if isinstance(rule, AnomalyModel)]
    return ", ".join(names) or "none"

# SPDX-License-Identifier: Apache-2.0
"""Which anomaly model a question means: the owner's by its name, or one written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymaly.ask.cited import cited_model, model_names
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.rules import AnomalyModel
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.questions.identify.query import Identify

WRITTEN = ("columns", "radius", "beta", "k", "metric", "scaled")  # the fields of a model written out


def find_model(query: Identify, declaration: Declaration) -> AnomalyModel:
    """Return the model, checked against the declared columns."""
    written = {name: getattr(query, name) for name in WRITTEN if getattr(query, name) is not None}
    if query.model is not None:
        if written:
            raise InputError(
                f"is given beside model={query.model!r}, which says it already",
                field=next(iter(written)),
                next_step="Cite the model or write it out, not both.",
            )
        return cited_model(query.model, declaration)
    needed = [name for name in ("columns", "radius", "beta") if name not in written]
    if needed and query.guarantee == "sensitive":
        raise InputError(
            "is needed",
            field="model",
            next_step=f"Name a declared anomaly model ({model_names(declaration)}), or ask with "
            "guarantee='differential', which needs none.",
        )
    if needed:
        raise InputError(
            "is needed where no model is named",
            field=needed[0],
            next_step="Give columns, radius and beta, or the name of a declared model.",
        )
    if query.guarantee == "differential" and "k" in written:
        raise InputError(
            "says whom sensitive privacy protects, and differential privacy protects all",
            field="k",
            next_step="Leave it out.",
        )
    return AnomalyModel.read(written).resolve(declaration.columns, field="model")

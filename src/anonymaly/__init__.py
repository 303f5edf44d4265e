# SPDX-License-Identifier: Apache-2.0
"""Find anomalies in records about people without exposing anyone.

Everything public is here; each name is imported when it is first used, so that ``import anonymaly``
costs nothing that the program does not need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from anonymaly.version import __version__

if TYPE_CHECKING:
    from anonymaly import datasets, inspect, stream
    from anonymaly.answer import Answer, Preview
    from anonymaly.count.query import Count
    from anonymaly.curator import Curator
    from anonymaly.dataset import Dataset
    from anonymaly.domain import Bins, Categories, Flag, Interval, Opaque, Timestamps
    from anonymaly.errors import AnonymalyError
    from anonymaly.explain.query import Explain
    from anonymaly.guarantee import Guarantee, compose
    from anonymaly.manifest import Manifest
    from anonymaly.query import Query
    from anonymaly.rules import AnomalyModel, Policy, SameContexts
    from anonymaly.simulation import simulate

__all__ = [
    "AnomalyModel",
    "AnonymalyError",
    "Answer",
    "Bins",
    "Categories",
    "Count",
    "Curator",
    "Dataset",
    "Explain",
    "Flag",
    "Guarantee",
    "Interval",
    "Manifest",
    "Opaque",
    "Policy",
    "Preview",
    "Query",
    "SameContexts",
    "Timestamps",
    "__version__",
    "compose",
    "datasets",
    "inspect",
    "simulate",
    "stream",
]

_HOMES = {
    "AnomalyModel": "rules",
    "AnonymalyError": "errors",
    "Answer": "answer",
    "Bins": "domain",
    "Categories": "domain",
    "Curator": "curator",
    "Dataset": "dataset",
    "Flag": "domain",
    "Guarantee": "guarantee",
    "Interval": "domain",
    "Manifest": "manifest",
    "Opaque": "domain",
    "Policy": "rules",
    "Preview": "answer",
    "Query": "query",
    "SameContexts": "rules",
    "Timestamps": "domain",
    "compose": "guarantee",
    "simulate": "simulation",
}

_MODULES = ("datasets", "inspect", "stream")


def __getattr__(name: str) -> Any:
    from anonymaly.questions import QUESTIONS  # noqa: PLC0415  (not a public name of this module)

    for home in QUESTIONS.values():
        module, _, kind = home.partition(":")
        if kind == name:
            return getattr(importlib.import_module(module), name)
    if name in _MODULES:
        return importlib.import_module(f"anonymaly.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymaly' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"anonymaly.{_HOMES[name]}"), name)
    if name == "Curator":
        found.questions = QUESTIONS  # the curator stands below the questions and cannot import their table
    return found


def __dir__() -> list[str]:
    return __all__

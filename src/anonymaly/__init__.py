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
    from anonymaly import datasets, identify, inspect, stream
    from anonymaly.answer import Answer, Preview
    from anonymaly.count.query import Count
    from anonymaly.curator import Curator
    from anonymaly.dataset import Dataset
    from anonymaly.domain import Bins, Categories, Flag, Interval, Opaque, Timestamps, Unbounded
    from anonymaly.errors import AnonymalyError
    from anonymaly.estimators.grid_knn import GridKNN
    from anonymaly.estimators.marginal_histograms import MarginalHistograms
    from anonymaly.estimators.search import search_cost
    from anonymaly.explain.query import Explain
    from anonymaly.guarantee import Guarantee, compose
    from anonymaly.identify.query import Identify, Lookahead
    from anonymaly.manifest import Manifest
    from anonymaly.query import Query
    from anonymaly.rules import AnomalyModel, Policy, SameContexts
    from anonymaly.score.model import Model
    from anonymaly.score.query import Score
    from anonymaly.share.histogram_query import ShareHistogram
    from anonymaly.share.sample_query import ShareSample
    from anonymaly.simulation import simulate
    from anonymaly.table import Table

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
    "GridKNN",
    "Guarantee",
    "Identify",
    "Interval",
    "Lookahead",
    "Manifest",
    "MarginalHistograms",
    "Model",
    "Opaque",
    "Policy",
    "Preview",
    "Query",
    "SameContexts",
    "Score",
    "ShareHistogram",
    "ShareSample",
    "Table",
    "Timestamps",
    "Unbounded",
    "__version__",
    "compose",
    "datasets",
    "identify",
    "inspect",
    "search_cost",
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
    "GridKNN": "estimators.grid_knn",
    "Guarantee": "guarantee",
    "Interval": "domain",
    "Manifest": "manifest",
    "MarginalHistograms": "estimators.marginal_histograms",
    "Model": "score.model",
    "Opaque": "domain",
    "Policy": "rules",
    "Preview": "answer",
    "Query": "query",
    "SameContexts": "rules",
    "Table": "table",
    "Timestamps": "domain",
    "Unbounded": "domain",
    "compose": "guarantee",
    "search_cost": "estimators.search",
    "simulate": "simulation",
}

_MODULES = ("datasets", "identify", "inspect", "stream")


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

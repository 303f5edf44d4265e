# SPDX-License-Identifier: Apache-2.0
"""How a detector finds suspects among the places of a window's readings: models by name.

A model is a frozen dataclass with a ``name``; it is deterministic, so that a window judged again after
a crash is judged the same. Add one here and it can be declared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from anonymaly.core.arrays import Booleans, Floats
from anonymaly.core.extras import load, require
from anonymaly.errors import InputError
from anonymaly.stream.protocol.neighbourhoods import Squares

# How an error begins if the model's extra is not installed: when it is declared, not when a window is judged.
NEIGHBOURS, FOREST = "The model neighbours", "The model isolation_forest"


class SuspectModel(ABC):
    """Says which places stand out among all of them.

    Examples
    --------
    >>> places = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> make_model("dbscan", {"radius": 0.5, "neighbours": 2}).suspects(places).tolist()
    [False, False, False, True]
    """

    name: ClassVar[str]

    @abstractmethod
    def suspects(self, places: Floats) -> Booleans:
        """Return for each row whether it stands out; nothing stands out among none."""


@dataclass(frozen=True)
class Dbscan(SuspectModel):
    """The noise points of DBSCAN, as in Böhler et al. 2017.

    A point is a core point if at least ``neighbours`` points lie within ``radius`` of it, itself among them;
    noise is what has no core point within ``radius``. These are scikit-learn's noise points exactly; clusters
    are not formed, because none are needed, so memory grows with the points and not with the pairs.
    """

    radius: float = 0.5
    neighbours: int = 5

    name = "dbscan"

    def suspects(self, places: Floats) -> Booleans:
        """Return the noise points."""
        if len(places) == 0:
            return np.zeros(0, np.bool_)
        core = Squares(places, self.radius, self.neighbours).reach(places)
        noise = ~core
        if core.any() and noise.any():
            noise[noise] = ~Squares(places[core], self.radius, 1).reach(places[noise])
        return noise


@dataclass(frozen=True)
class Neighbours(SuspectModel):
    """The share ``outliers`` of points that are farthest from their k-th other point."""

    outliers: float = 0.1
    neighbours: int = 5

    name = "neighbours"

    def __post_init__(self) -> None:
        require("stream", NEIGHBOURS, "scipy")

    def suspects(self, places: Floats) -> Booleans:
        """Return the points that are farthest from others."""
        count = min(self.neighbours + 1, len(places))
        if count == 0:
            return np.zeros(0, np.bool_)
        tree = load("scipy.spatial", "stream", NEIGHBOURS).cKDTree(places)
        return _largest(_distance_to(tree, places, count), self.outliers)


@dataclass(frozen=True)
class Radius(SuspectModel):
    """All points farther than ``radius`` from the centre: the cheapest, one look at each reading."""

    radius: float = 1.0

    name = "radius"

    def suspects(self, places: Floats) -> Booleans:
        """Return the far points."""
        return np.asarray(np.einsum("ij,ij->i", places, places) > self.radius**2)


@dataclass(frozen=True)
class IsolationForest(SuspectModel):
    """The share ``outliers`` that random cuts isolate soonest (scikit-learn's, with a fixed seed)."""

    outliers: float = 0.1
    trees: int = 100

    name = "isolation_forest"

    def __post_init__(self) -> None:
        require("estimators", FOREST)

    def suspects(self, places: Floats) -> Booleans:
        """Return the points that are isolated soonest."""
        if len(places) == 0:
            return np.zeros(0, np.bool_)
        kind = load("sklearn.ensemble", "estimators", FOREST).IsolationForest
        forest = kind(n_estimators=self.trees, random_state=0).fit(places)
        return _largest(-forest.score_samples(places), self.outliers)


MODELS: dict[str, type[SuspectModel]] = {
    kind.name: kind for kind in (Dbscan, IsolationForest, Neighbours, Radius)
}


def make_model(name: str, parameters: Mapping[str, Any]) -> SuspectModel:
    """Return a model by name, or say what is wrong with it.

    Examples
    --------
    >>> make_model("radius", {"radius": 2})
    Radius(radius=2.0)
    """
    kind = MODELS.get(name)
    if kind is None:
        raise InputError(
            f"there is none called {name!r}", field="model", next_step=f"One of {', '.join(MODELS)}."
        )
    known = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    for given in parameters:
        if given not in known:
            raise InputError(
                f"{name} has none called {given!r}",
                field="parameters",
                next_step=f"It takes {', '.join(known)}.",
            )
    return kind(**{given: _read(given, value, str(known[given])) for given, value in parameters.items()})


def _read(name: str, value: Any, kind: str) -> float | int:
    number = isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
    whole = number and float(value).is_integer()
    if not number or value <= 0 or (kind == "int" and not whole) or (name == "outliers" and value >= 1):
        wanted = "a whole number from 1 on" if kind == "int" else "a number above 0"
        raise InputError(
            f"must be {'a share between 0 and 1' if name == 'outliers' else wanted}",
            field=f"parameters.{name}",
            next_step="Give such a number, or leave it out for the default.",
        )
    return int(value) if kind == "int" else float(value)


def _distance_to(tree: Any, places: Floats, number: int) -> Floats:
    distances, _ = tree.query(places, k=[number])
    return np.asarray(distances[:, 0])


def _largest(scores: Floats, share: float) -> Booleans:
    """Mark the highest scores, as many as the share says; equal scores stand out together or not at all."""
    count = round(share * len(scores))
    if count == 0:
        return np.zeros(len(scores), np.bool_)
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    if np.count_nonzero(scores >= least) > count:
        return np.asarray(scores > least)
    return np.asarray(scores >= least)

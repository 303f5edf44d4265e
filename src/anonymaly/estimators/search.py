# SPDX-License-Identifier: Apache-2.0
"""The cost of a search over parameters, known before it runs: every fit is charged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    RandomizedSearchCV,
    check_cv,
)

from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.errors import InputError
from anonymaly.estimators.detector import PrivateDetector


@dataclass(frozen=True)
class SearchCost:
    """The number of fits of private detectors in a search, and their total cost."""

    fits: int
    nano: int

    @property
    def epsilon(self) -> str:
        """The total, as an exact decimal."""
        return to_text(self.nano)

    def __str__(self) -> str:
        return f"{self.fits:,} fits, ε = {self.epsilon} together, where no record moves others between folds"


def search_cost(search: Any, X: Any = None, y: Any = None) -> SearchCost:  # noqa: N803 - scikit-learn's names
    """Return what a GridSearchCV or RandomizedSearchCV will cost, before it is run.

    Parameters
    ----------
    search : GridSearchCV or RandomizedSearchCV
        Of a private detector, or of a pipeline with one.
    X, y : optional
        What it will be fitted to, where the number of its splits depends on it.

    Notes
    -----
    A record is in all folds' training parts but one; the total charges it for all, as an account does.

    Folds by position (``KFold``, a number as ``cv``) stay in place where one record is replaced by another,
    which is what a curator's account then promises about. Where a record comes or goes, others move from
    fold to fold, and the total says nothing: without a curator, count it twice, as for one record removed
    and another added in its place. Folds by value (``StratifiedKFold``, ``GroupKFold``) move others either
    way.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> import anonymaly as am
    >>> detector = am.GridKNN(bounds=(0, 1), epsilon=0.5)
    >>> print(am.search_cost(GridSearchCV(detector, {"cells": [2, 3, 4]}, cv=5)))
    16 fits, ε = 8 together, where no record moves others between folds
    """
    found = [_cost(search.estimator, chosen) for chosen in _candidates(search)]
    costs = [cost for cost in found if cost is not None]
    if not costs or len(costs) < len(found):
        raise InputError(
            "fits no private detector",
            field="search",
            next_step="Give a search over GridKNN, MarginalHistograms or a pipeline with one of them.",
        )
    if isinstance(search.cv, Iterator):
        raise InputError(
            "gives its splits once, and counting them would leave none for the search",
            field="cv",
            next_step="Give a list of them, such as cv=list(KFold(5).split(X)).",
        )
    splits = check_cv(search.cv, y).get_n_splits(X, y)
    refit = max(costs) if search.refit else 0
    return SearchCost(len(costs) * splits + bool(search.refit), sum(costs) * splits + refit)


def _candidates(search: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(search, GridSearchCV):
        return list(ParameterGrid(search.param_grid))
    if isinstance(search, RandomizedSearchCV):
        varies = any(str(name).rpartition("__")[2] == "epsilon" for name in search.param_distributions)
        if varies and not isinstance(search.random_state, int):
            raise InputError(
                "draws epsilon itself, differently every time",
                field="search",
                next_step="Give the search a random_state, or a list of epsilons to a GridSearchCV.",
            )
        sampler = ParameterSampler(
            search.param_distributions, search.n_iter, random_state=search.random_state if varies else 0
        )
        return list(sampler)
    raise InputError(
        f"must be a GridSearchCV or a RandomizedSearchCV, got {type(search).__name__}",
        field="search",
        next_step="Other searches decide on the way how often they fit.",
    )


def _cost(estimator: Any, chosen: Mapping[str, Any]) -> int | None:
    """Return what one fit with these parameters costs, or None if nothing in it is private."""
    prepared = clone(estimator).set_params(**chosen)
    parts = [prepared, *prepared.get_params(deep=True).values()]
    private = {id(part): part for part in parts if isinstance(part, PrivateDetector)}
    return sum(to_nano(part.epsilon) for part in private.values()) if private else None

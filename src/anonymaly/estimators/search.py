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
from anonymaly.estimators.folds import PrivateKFold

COMES_OR_GOES = "if one comes or goes, no total is promised"


@dataclass(frozen=True)
class SearchCost:
    """The number of fits of private detectors in a search, and their total cost."""

    fits: int
    nano: int
    # Whether an account that promises about replaced records is charged for all of them.
    charged: bool = False
    shuffled: bool = False  # whether the folds are those of a secret order
    each: tuple[int, int] = (0, 0)  # the smallest and the largest cost of one fit, in nano-ε

    @property
    def epsilon(self) -> str:
        """The sum over all fits, as an exact decimal: what an account is charged."""
        return to_text(self.nano)

    def __str__(self) -> str:
        together = self.nano if self.charged else 2 * self.nano
        place = "if the folds go by position, and the order of rows does not follow their values"
        order = "" if self.shuffled else f", {place}"
        each = " to ".join(dict.fromkeys(map(to_text, self.each)))
        replaced = f"together ε = {to_text(together)} if one record is replaced by another{order}"
        return f"{self.fits:,} fits at ε = {each} each; {replaced}; {COMES_OR_GOES}"


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
    which is what a curator's account then promises about, if the order of rows does not follow their values:
    in a sorted table the new record has another place, and those between move from fold to fold.
    `PrivateKFold` needs no such condition, because its order is drawn in secret. Where a record comes or
    goes, others move from fold to fold, and the sum says nothing: without a curator it is counted twice, as
    for one record removed and another added in its place. Folds by value (``StratifiedKFold``,
    ``GroupKFold``) move others either way, and nothing is promised of them.

    The fits alone are counted. The scores by which a search compares them, and so which candidate it chooses,
    are computed from the test rows without noise, and are not covered.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> import anonymaly as am
    >>> detector = am.GridKNN(bounds=(0, 1), epsilon=0.5)
    >>> search = GridSearchCV(detector, {"cells": [2, 3, 4]}, cv=am.PrivateKFold(5))
    >>> print(am.search_cost(search))  # doctest: +NORMALIZE_WHITESPACE
    16 fits at ε = 0.5 each; together ε = 16 if one record is replaced by another; if one comes or goes, no
    total is promised
    """
    found = [_private(search.estimator, chosen) for chosen in _candidates(search)]
    costs = [sum(to_nano(detector.epsilon) for detector in detectors) for detectors in found]
    if not all(found) or not found:
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
    splitter = check_cv(search.cv, y)
    splits = splitter.get_n_splits(X, y)
    refit = max(costs) if search.refit else 0
    return SearchCost(
        len(costs) * splits + bool(search.refit),
        sum(costs) * splits + refit,
        charged=all(detector.curator is not None for detectors in found for detector in detectors),
        shuffled=isinstance(splitter, PrivateKFold),
        each=(min(costs), max(costs)),
    )


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


def _private(estimator: Any, chosen: Mapping[str, Any]) -> list[PrivateDetector]:
    """Return the private detectors that one fit with these parameters fits."""
    prepared = clone(estimator).set_params(**chosen)
    parts = [prepared, *prepared.get_params(deep=True).values()]
    return list({id(part): part for part in parts if isinstance(part, PrivateDetector)}.values())

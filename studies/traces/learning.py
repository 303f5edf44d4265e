# SPDX-License-Identifier: Apache-2.0
"""Which taxis are busy? Logistic regression on features of one day: sections 6.2 and 6.3.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.noise import Noise
from studies.traces.paper import FREQUENT, PLACES
from studies.traces.ways import distinct_pairs, windows

SLOTS = 144
WEIGHT = 10.0  # of the loss against the penalty: scikit-learn's C, the same wherever no noise is added
PENALTIES = (0.0001, 0.001, 0.01)  # Λ of objective perturbation
CURVATURE = 0.25  # c: the largest second derivative of the logistic loss

Scorer = Callable[["Examples"], Floats]
Trainer = Callable[["Examples"], Scorer]


@dataclass(frozen=True)
class Examples:
    """Trajectories as features: the stay, distinct places, visits to each, and sequences of three.

    Attributes
    ----------
    plain
        A line for each trajectory, each feature over its public maximum.
    busy, fold
        What is learned, and the part of cross-validation.
    owner, pattern
        Every sequence of three places: in which line, and which.
    """

    plain: Floats
    busy: Booleans
    fold: Integers
    owner: Integers
    pattern: Integers

    @classmethod
    def of(cls, rows: pd.DataFrame, whose: str) -> Examples:
        """Compute the features of released or public rows."""
        rows = rows.sort_values([whose, "slot"], ignore_index=True)
        rows = rows.assign(line=rows.groupby(whose).ngroup(), place=rows["place"].astype(np.int64))
        of_line = rows.groupby("line")
        visits = np.zeros((of_line.ngroups, PLACES))
        np.add.at(visits, (rows["line"].to_numpy(), rows["place"].to_numpy()), 1)
        stay = (of_line["slot"].max() - of_line["slot"].min()).to_numpy(np.float64)
        distinct = (visits > 0).sum(axis=1)
        plain = np.column_stack([stay / SLOTS, distinct / PLACES, visits / SLOTS])
        owner, pattern = windows(rows, 3, "line")
        busy, fold = of_line["busy"].first().to_numpy(bool), of_line["fold"].first().to_numpy(np.int64)
        return cls(plain, busy, fold, owner, pattern)

    def only(self, chosen: Booleans) -> Examples:
        """Return some of the trajectories."""
        line = np.cumsum(chosen) - 1
        kept = chosen[self.owner]
        return Examples(
            self.plain[chosen], self.busy[chosen], self.fold[chosen],
            line[self.owner[kept]], self.pattern[kept],
        )  # fmt: skip

    def frequent(self) -> Integers:
        """Return the sequences of three that many trajectories have."""
        _, once = distinct_pairs(self.owner, self.pattern, PLACES**3)
        patterns, counts = np.unique(once, return_counts=True)
        return patterns[counts >= FREQUENT]

    def matrix(self, patterns: Integers) -> sparse.csr_matrix:
        """Return all features, with how often each of some patterns appears."""
        known = np.isin(self.pattern, patterns)
        spot = np.searchsorted(patterns, self.pattern[known])
        once = np.full(len(spot), 1 / SLOTS)
        shape = len(self.plain), len(patterns)
        counts = sparse.coo_matrix((once, (self.owner[known], spot)), shape=shape)
        return sparse.hstack([sparse.csr_matrix(self.plain), counts], format="csr")


def error(train: Examples, test: Examples, folds: int, trainer: Trainer) -> float:
    """Return 1 − AUC, the mean over folds of the public trajectories that a classifier was not trained on."""
    areas = []
    for fold in range(folds):
        part = train.only(train.fold != fold)
        judged = test.only(test.fold == fold)
        if len(np.unique(judged.busy)) == 2:
            # Whoever has seen one kind alone tells nobody apart.
            known = len(np.unique(part.busy)) == 2
            areas.append(roc_auc_score(judged.busy, trainer(part)(judged)) if known else 0.5)
    return 1 - float(np.mean(areas))


def logistic(train: Examples) -> Scorer:
    """Train without noise; patterns are the sequences of three that are frequent in what it is given."""
    return _logistic(train, train.frequent())


def logistic_without_patterns(train: Examples) -> Scorer:
    """Train without noise, and without sequences."""
    return _logistic(train, np.zeros(0, np.int64))


def _logistic(train: Examples, patterns: Integers) -> Scorer:
    model = LogisticRegression(C=WEIGHT, max_iter=500).fit(train.matrix(patterns), train.busy)
    return lambda test: np.asarray(model.decision_function(test.matrix(patterns)), np.float64)


def objective_perturbation(epsilon: float, penalty: float, noise: Noise) -> Trainer:
    """Return Algorithm 2 of Chaudhuri, Monteleoni and Sarwate 2011, as the paper's ObjDP.

    A baseline to compare with, not for release: its noise is made of floating-point numbers. It has no
    patterns, which could not be chosen without a further part of ε.
    """

    def train(given: Examples) -> Scorer:
        features, signs = _normed(given.plain), np.where(given.busy, 1.0, -1.0)
        number, dimensions = features.shape
        ratio = CURVATURE / (number * penalty)
        left = epsilon - np.log(1 + 2 * ratio + ratio**2)
        further = 0.0
        if left <= 0:
            further = CURVATURE / (number * np.expm1(epsilon / 4)) - penalty
            left = epsilon / 2
        pull = _noise_vector(dimensions, left / 2, noise)

        def loss(weights: Floats) -> tuple[float, Floats]:
            margin = signs * (features @ weights)
            slope = features.T @ (-signs * expit(-margin)) / number
            size = penalty + further
            value = np.logaddexp(0, -margin).mean() + pull @ weights / number + size / 2 * weights @ weights
            return float(value), slope + pull / number + size * weights

        weights = minimize(loss, np.zeros(dimensions), jac=True, method="L-BFGS-B").x
        return lambda test: np.asarray(_normed(test.plain) @ weights, np.float64)

    return train


def _normed(features: Floats) -> Floats:
    """Return features of norm 1, as the method needs; a constant is one, for it has no other intercept."""
    whole = np.column_stack([np.ones(len(features)), features])
    scaled: Floats = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    return scaled


def _noise_vector(dimensions: int, rate: float, noise: Noise) -> Floats:
    """Draw a vector of density proportional to e^(-rate · norm)."""
    uniform = (np.asarray(noise.uniform(1 << 52, 2 * dimensions), np.float64) + 0.5) / 2.0**52
    direction = ndtri(uniform[:dimensions])
    length = -np.log(uniform[dimensions:]).sum() / rate  # a sum of exponentials has the norm's law
    drawn: Floats = length * direction / np.linalg.norm(direction)
    return drawn

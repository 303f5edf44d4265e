# SPDX-License-Identifier: Apache-2.0
"""How often answers of ``identify`` are wrong: exactly, from counts, by the formula that is drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from anonymaly.ask.simulation import simulate
from anonymaly.core.arrays import Booleans, Floats
from anonymaly.noise import Noise, one_sided_geometric_quantile
from anonymaly.questions.identify.axes import RELATIVE
from anonymaly.questions.identify.balls import BallCounts, Balls
from anonymaly.questions.identify.binding import bind
from anonymaly.questions.identify.kernels.counter import count_balls
from anonymaly.questions.identify.query import Identify
from anonymaly.questions.identify.verdicts import StepBound, is_anomaly, judge
from studies.sensitive.data import Points
from studies.sensitive.paper import DRAWN, EPSILON, EPSILONS, Figures

EXTRA_ERROR = Fraction(1, 10**12)  # what stopping early may add: the question's default


def slack_of(epsilon: str) -> int:
    """Return how far beyond β counts go."""
    return 2 + one_sided_geometric_quantile(Fraction(epsilon), 1 - EXTRA_ERROR)


@dataclass(frozen=True)
class Counted:
    """The counts of some records, and what follows from them.

    Examples
    --------
    >>> counted = Counted(BallCounts(np.array([1, 30]), np.array([1, 1])), beta=18)
    >>> counted.errors("improved", "0.1").round(4).tolist(), counted.errors("differential", "0.1")[0].round(4)
    ([0.0868, 0.1581], np.float64(0.475))
    """

    counts: BallCounts
    beta: int

    @property
    def anomalous(self) -> Booleans:
        """Which of them are anomalies."""
        return is_anomaly(self.counts.own, self.counts.within, self.beta)

    def errors(self, bound: StepBound, epsilon: str, k: int = 1) -> Floats:
        """Return the probability of a wrong answer about each."""
        verdicts = judge(
            self.counts.own,
            self.counts.within,
            beta=self.beta,
            k=k,
            bound=bound,
            slack=slack_of(epsilon),
        )
        rate = float(epsilon)
        wrong: Floats = np.exp(-rate * (verdicts.steps - 1)) / (1 + math.exp(rate))
        return wrong


@dataclass(frozen=True)
class Measured:
    """A table, its own records counted, and records drawn from its value space."""

    points: Points
    records: Counted
    drawn: Counted

    def quality(self, truth: Booleans) -> Mapping[str, Figures]:
        """Return expected precision, recall and F1 of every mechanism over all records, as in Table 3.

        B1 and B2 answer alike about every record, so their best threshold is 0, which says yes most often.
        """
        anomalies, rate = float(truth.sum()), float(EPSILON)
        always = np.ones(len(truth))
        yes = {
            "B1": always * (1 - math.exp(-rate * anomalies) / 2),
            "B2": always * (1 - math.exp(-rate * anomalies / self.records.beta) / 2),
        }
        bounds: dict[str, StepBound] = {"DP": "differential", "SP": "improved"}
        for name, bound in bounds.items():
            wrong = self.records.errors(bound, EPSILON)
            yes[name] = np.where(self.records.anomalous, 1 - wrong, wrong)
        return {name: _quality(chances, truth) for name, chances in yes.items()}


def measure(points: Points, seed: int) -> Measured:
    """Count around all records of a table, and around records drawn evenly from its value space."""
    stop = points.beta + slack_of(EPSILONS[-1])
    low, high = points.space()
    number = round(DRAWN * len(points.points))
    draws = np.asarray(Noise.seeded(seed).uniform(1 << 52, number * len(low)), np.float64)
    drawn = low + (high - low) * draws.reshape(number, len(low)) / (1 << 52)

    def count(queries: Floats) -> Counted:
        radius = points.paper.radius * (1 + RELATIVE)  # as the question takes it
        balls = Balls(np.ascontiguousarray(queries), radius, "euclidean", stop)
        return Counted(count_balls(points.points, balls), points.beta)

    return Measured(points, count(points.points), count(drawn))


@dataclass(frozen=True)
class Check:
    """How often simulated answers were wrong, and how often they should be."""

    name: str
    answers: int
    wrong: int
    expected: float
    deviations: float  # between the two, in standard deviations


def check_by_simulation(measured: Measured, seeds: int, records: int = 200) -> Check:
    """Ask the question itself about some records, with seeded noise, and compare with the formula."""
    points = measured.points
    # Half of them anomalies, of which more is answered wrongly.
    sides = (np.flatnonzero(measured.records.anomalous), np.flatnonzero(~measured.records.anomalous))
    chosen = np.concatenate([side[np.arange(records // 2) * len(side) // (records // 2)] for side in sides])
    values = dict(zip(points.columns(), points.points[chosen].T.tolist(), strict=True))
    dataset = points.dataset()
    probe = Identify(records=values, model="paper", epsilon="1")
    overlap = bind(probe, dataset.declaration).overlap
    query = Identify(records=values, model="paper", epsilon=Decimal(EPSILON) * overlap)
    errors = measured.records.errors("improved", EPSILON)[chosen]
    truth = measured.records.anomalous[chosen]
    wrong = sum(
        int((np.array(simulate(query, dataset, seed=seed).value) != truth).sum()) for seed in range(seeds)
    )
    expected = float(errors.sum()) * seeds
    spread = math.sqrt(float((errors * (1 - errors)).sum()) * seeds)
    return Check(points.name, seeds * records, wrong, expected, (wrong - expected) / spread)


def _quality(yes: Floats, truth: Booleans) -> Figures:
    right = float(yes[truth].sum())
    precision, recall = right / float(yes.sum()), right / max(1.0, float(truth.sum()))
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-300)

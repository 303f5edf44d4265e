# SPDX-License-Identifier: Apache-2.0
"""The errors of every method on one input: a histogram, a policy and a share of non-sensitive records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.epsilon import to_nano
from anonymaly.core.rate import Adjacency
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods import METHODS
from studies.journal import Entry, Journal
from studies.one_sided.data import non_sensitive
from studies.one_sided.paper import EPSILONS, POLICIES, RATIOS
from studies.progress import Progress

Release = Callable[[Noise], npt.NDArray[Any]]

MEASURES = ("mre", "rel50", "rel95", "l1")
# PDP's Suppress, which is not one-sided private: with a threshold of τ it is free of exclusion attacks for τ.
SUPPRESS = {"suppress10": 10, "suppress100": 100}
SUPPRESS_EPSILON = "1"


def errors(counts: Integers, found: npt.NDArray[Any]) -> dict[str, float]:
    """Return mean, median and 95th percentile of the relative errors (δ = 1), and the total error.

    Examples
    --------
    >>> errors(np.array([0, 10]), np.array([1, 5]))
    {'mre': 0.75, 'rel50': 0.75, 'rel95': 0.975, 'l1': 6.0}
    """
    apart = np.abs(counts - found)
    relative = apart / np.maximum(counts, 1)
    return {
        "mre": float(relative.mean()),
        "rel50": float(np.percentile(relative, 50)),
        "rel95": float(np.percentile(relative, 95)),
        "l1": float(apart.sum()),
    }


def measure_inputs(
    histograms: Mapping[str, Integers],
    journal: Journal,
    *,
    runs: int,
    seed: int,
    adjacency: Adjacency,
    progress: Progress,
) -> list[Entry]:
    """Measure the inputs that the journal does not hold yet, and return all of them in order."""
    inputs = [(name, policy, ratio) for name in histograms for policy in POLICIES for ratio in RATIOS]
    known = {(entry["histogram"], entry["policy"], entry["ratio"]): entry for entry in journal}
    progress.start("one-sided", total=len(inputs), done=len(known), unit="inputs")
    for number, case in enumerate(inputs):
        if case not in known:
            name, policy, ratio = case
            # Every input has a seed of its own, so that a run that goes on draws what it would have drawn.
            noise = Noise.seeded(1_000 * seed + number)
            part = non_sensitive(histograms[name], policy, ratio, noise)
            results = measure_input(histograms[name], part, runs=runs, adjacency=adjacency, noise=noise)
            entry = {"histogram": name, "policy": policy, "ratio": ratio, "results": results}
            journal.write(entry)
            known[case] = entry
        progress.advance(number + 1)
    return [known[case] for case in inputs]


def measure_input(
    counts: Integers, part: Integers, *, runs: int, adjacency: Adjacency, noise: Noise
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the mean errors of each method at each ε."""
    found = {}
    for epsilon in EPSILONS:
        nano = to_nano(epsilon)
        releases = {name: _release(name, nano, counts, part, adjacency) for name in METHODS}
        if epsilon == SUPPRESS_EPSILON:
            releases |= {name: _suppress(threshold, part, adjacency) for name, threshold in SUPPRESS.items()}
        found[epsilon] = {name: _mean(counts, release, runs, noise) for name, release in releases.items()}
    return found


def _release(name: str, nano: int, counts: Integers, part: Integers, adjacency: Adjacency) -> Release:
    method = METHODS[name]
    rates = method.rates(nano, adjacency=adjacency, bins=len(counts))
    return lambda noise: method.run(counts, part, rates=rates, noise=noise)


def _suppress(threshold: int, part: Integers, adjacency: Adjacency) -> Release:
    """The non-sensitive records with noise for the threshold instead of ε; the others are left out."""
    rate = Fraction(threshold, 2 if adjacency == "replace" else 1)
    return lambda noise: noise.add_two_sided_geometric(part, rate)


def _mean(counts: Integers, release: Release, runs: int, noise: Noise) -> dict[str, float]:
    drawn = [errors(counts, release(noise)) for _ in range(runs)]
    return {measure: float(np.mean([each[measure] for each in drawn])) for measure in MEASURES}

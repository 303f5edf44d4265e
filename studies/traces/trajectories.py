# SPDX-License-Identifier: Apache-2.0
"""The errors of classifiers and of counts of sequences: Figures 1 to 3.

Everything private but the paper's two baselines is asked through `anonymaly.simulate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Any

import numpy as np
import pandas as pd

import anonymaly as am
from anonymaly.core.arrays import Floats
from anonymaly.noise import Noise
from studies.seeds import seed_of
from studies.traces.data import EVERYONE, OPEN, Traces, policy_name
from studies.traces.errors import means
from studies.traces.learning import (
    PENALTIES,
    Examples,
    error,
    logistic,
    logistic_without_patterns,
    objective_perturbation,
)
from studies.traces.paper import LENGTHS
from studies.traces.ways import Ways

PER_PERSON = 64  # sequences of a trajectory that `ShareNgrams` counts
TRUNCATIONS = (1, 4, 16, 64)  # among which LM T* takes the best

Result = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """What Figures 1 to 3 are measured on, and how often."""

    traces: Traces
    runs: int
    samples: int
    folds: int
    seed: int

    @cached_property
    def examples(self) -> Examples:
        """All trajectories, as features."""
        return Examples.of(self.traces.rows, "trajectory")

    @cached_property
    def ways(self) -> dict[int, Ways]:
        """All sequences."""
        return {length: Ways.of(self.traces.rows, length) for length in LENGTHS}

    def input(self, share: str, epsilon: str) -> Result:
        """Return the errors at a share of harmless trajectories and an ε."""
        if epsilon == OPEN:
            return self._open(share)
        return self._everyone(epsilon) if share == EVERYONE else self._one_sided(share, epsilon)

    def _open(self, share: str) -> Result:
        if share == EVERYONE:
            trainers = {"all": logistic, "all, without patterns": logistic_without_patterns}
            return {
                "learning": {
                    name: error(self.examples, self.examples, self.folds, trainer)
                    for name, trainer in trainers.items()
                }
            }
        sensitive = list(self.traces.policies[share].sensitive)
        harmless = self.traces.visits[:, sensitive].sum(axis=1) == 0
        train = self.examples.only(harmless)
        found: Result = {"learning": {"harmless": error(train, self.examples, self.folds, logistic)}}
        for length, ways in self.ways.items():
            counts = ways.among(np.flatnonzero(harmless))
            found[str(length)] = {"harmless": ways.errors(counts, 0.0)}
        return found

    def _one_sided(self, share: str, epsilon: str) -> Result:
        learned: list[float] = []
        drawn: dict[int, dict[str, list[dict[str, float]]]] = {
            length: {"sample": [], "weighted": [], "ngrams": []} for length in LENGTHS
        }
        for run in range(self.runs):
            seed = seed_of(self.seed, share, epsilon, run)
            rows = self._sample(share, epsilon, seed)
            if run < self.samples:
                given = Examples.of(rows, "person")
                learned.append(error(given, self.examples, self.folds, logistic))
            kept = 1 - exp(-float(epsilon))
            for length, ways in self.ways.items():
                counts, beside = _counted(rows, ways)
                drawn[length]["sample"].append(ways.errors(counts, beside))
                drawn[length]["weighted"].append(ways.errors(counts / kept, beside))
        for run in range(self.samples):
            released = self._ngrams(policy_name(share), epsilon, seed_of(self.seed, share, epsilon, run))
            for length, ways in self.ways.items():
                drawn[length]["ngrams"].append(_released(released, ways))
        found: Result = {"learning": {"sample": float(np.mean(learned)), "samples": learned}}
        return found | {str(length): means(lists) for length, lists in drawn.items()}

    def _everyone(self, epsilon: str) -> Result:
        noise = Noise.seeded(seed_of(self.seed, EVERYONE, epsilon))
        tried = {
            str(penalty): float(
                np.mean(
                    [
                        error(
                            self.examples, self.examples, self.folds,
                            objective_perturbation(float(epsilon), penalty, noise),
                        )
                        for _ in range(self.runs)
                    ]
                )
            )
            for penalty in PENALTIES
        }  # fmt: skip
        found: Result = {"learning": {"ObjDP": min(tried.values()), "penalties": tried}}
        released = [
            self._ngrams(None, epsilon, seed_of(self.seed, EVERYONE, epsilon, run))
            for run in range(self.samples)
        ]
        for length, ways in self.ways.items():
            laplace = {
                most: means({"": [dict(ways.laplace(most, epsilon, noise)) for _ in range(self.runs)]})[""]
                for most in TRUNCATIONS
            }
            best = {
                measure: min(TRUNCATIONS, key=lambda most: laplace[most][measure])
                for measure in ("held", "possible")
            }
            found[str(length)] = {
                **{f"LM T{most}": figures for most, figures in laplace.items()},
                "best": best,
                **means({"ngrams for everyone": [_released(each, ways) for each in released]}),
            }
        return found

    def _sample(self, share: str, epsilon: str, seed: int) -> pd.DataFrame:
        columns = ["slot", "place", "busy", "fold"]
        query = am.ShareSample(policy=policy_name(share), columns=columns, epsilon=epsilon)
        answer = am.simulate(query, self.traces.dataset, seed=seed, adjacency="replace")
        frame: pd.DataFrame = answer.value.to_pandas()
        return frame.sort_values(["person", "slot"], ignore_index=True)

    def _ngrams(self, policy: str | None, epsilon: str, seed: int) -> Any:
        query = am.ShareNgrams(
            place=["place"], order="slot", length=max(LENGTHS), per_person=PER_PERSON, policy=policy,
            epsilon=epsilon,
        )  # fmt: skip
        return am.simulate(query, self.traces.dataset, seed=seed, adjacency="replace").value


def _counted(rows: pd.DataFrame, ways: Ways) -> tuple[Floats, float]:
    """Return the counts of a sample's sequences."""
    found = Ways.of(rows.rename(columns={"person": "trajectory"}), ways.length)
    return ways.aligned(found.codes, found.counts)


def _released(value: Any, ways: Ways) -> dict[str, float]:
    """Return the errors of `ShareNgrams`' counts of one length; what it does not publish counts as 0."""
    first, end = value.sequences.first(ways.length), value.sequences.first(ways.length + 1)
    chosen = (value.cells >= first) & (value.cells < end)
    counts, beside = ways.aligned(value.cells[chosen] - first, value.counts[chosen])
    return {**ways.errors(counts, beside), "published": float(chosen.sum())}

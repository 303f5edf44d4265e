# SPDX-License-Identifier: Apache-2.0
"""The errors of counts by place and hour: Figures 4 and 5."""

from __future__ import annotations

from typing import Any

import anonymaly as am
from studies.seeds import seed_of
from studies.traces.data import EVERYONE, Traces, policy_name
from studies.traces.errors import means, relative_errors

ONE_SIDED = ("auto", "one_sided_l1", "dawaz", "sample")
FOR_EVERYONE = ("geometric", "dawa", "smoothed")


def grid_input(
    traces: Traces, grid: str, share: str, epsilon: str, runs: int, seed: int
) -> dict[str, dict[str, float]]:
    """Return the mean errors of each method on places by hour: section 6.3.3.1."""
    exact, dataset = traces.exact_grid(grid), traces.grid_dataset(grid)
    everyone = share == EVERYONE
    policy = None if everyone else policy_name(share)
    drawn: dict[str, list[dict[str, float]]] = {}
    for method in FOR_EVERYONE if everyone else ONE_SIDED:
        query: Any = am.ShareHistogram(by=["place", "hour"], policy=policy, method=method, epsilon=epsilon)
        drawn[method] = [
            relative_errors(
                exact,
                am.simulate(
                    query, dataset, seed=seed_of(seed, grid, share, epsilon, method, run), adjacency="replace"
                ).value.to_array(),
            )
            for run in range(runs)
        ]
    return means(drawn)

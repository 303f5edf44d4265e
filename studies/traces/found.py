# SPDX-License-Identifier: Apache-2.0
"""The measurements, by figure."""

from __future__ import annotations

from collections.abc import Sequence

from studies.journal import Entry
from studies.traces.data import EVERYONE
from studies.traces.paper import SHARES


class Found:
    """The measurements, by figure."""

    def __init__(self, trajectories: Sequence[Entry], grids: Sequence[Entry]) -> None:
        self._trajectories = {(entry["share"], entry["epsilon"]): entry["results"] for entry in trajectories}
        self._grids = {(entry["grid"], entry["share"], entry["epsilon"]): entry["results"] for entry in grids}
        self.grids = list(dict.fromkeys(entry["grid"] for entry in grids))

    def learning(self, share: str, epsilon: str, series: str) -> float:
        """Return 1 − AUC of a classifier."""
        return float(self._trajectories[share, epsilon]["learning"][series])

    def ways(self, length: int, share: str, epsilon: str, series: str, measure: str = "held") -> float:
        """Return an error of counts of sequences."""
        return float(self._trajectories[share, epsilon][str(length)][series][measure])

    def best_truncation(self, length: int, epsilon: str, measure: str = "held") -> int:
        """Return how many sequences of a trajectory LM T* counts."""
        return int(self._trajectories[EVERYONE, epsilon][str(length)]["best"][measure])

    def grid(self, grid: str, share: str, epsilon: str, method: str, measure: str = "mre") -> float:
        """Return an error of places by hour."""
        return float(self._grids[grid, share, epsilon][method][measure])

    def crossing(self, grid: str, epsilon: str, method: str) -> str:
        """Return the least share down to which a method is better than DAWA."""
        dawa = self.grid(grid, EVERYONE, epsilon, "dawa")
        better: list[str] = []
        for share in SHARES:
            if self.grid(grid, share, epsilon, method) >= dawa:
                break
            better.append(share)
        return better[-1] if better else "at none"

# SPDX-License-Identifier: Apache-2.0
"""One measurement of a stream: history to declaration, perturbation, detection, correction, and baselines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from anonymaly.core.arrays import Booleans
from anonymaly.declare.domain import Interval
from anonymaly.noise import Noise
from anonymaly.stream import Declaration
from anonymaly.stream.protocol.correction import missed_layers, split_suspects
from anonymaly.stream.protocol.perturb import Perturbed, perturb
from anonymaly.stream.protocol.suggest import Corrected, correct, suggest
from studies.journal import Entry, Journal
from studies.progress import Progress
from studies.sensors.data import Readings, Source, synthetic
from studies.sensors.paper import EPSILONS

# How ε is read: for each column, as in the paper, or for the whole reading, so that d columns share it.
ACCOUNTS = ("column", "reading")
HISTORY = 1_000_000  # added to a seed, so that no history is judged by itself


def measure_synthetic(
    separation: int, epsilon: str, account: str, *, points: int, runs: int, seed: int
) -> list[Entry]:
    """Measure one separation at one ε: a declaration from history, and runs on fresh points."""
    history = synthetic(separation, points, seed + HISTORY + separation)
    reach = Interval(-2 * separation - 50, 2 * separation + 50)  # public: twice as far as any point lies
    declared = suggest(
        history.values,
        history.outliers,
        names=["x", "y"],
        outer=[reach, reach],
        epsilon=per_column(epsilon, account, 2),
        window=points,
        noise=Noise.seeded(seed + separation),
    )
    entries = []
    for run in range(runs):
        fresh = synthetic(separation, points, seed + 1000 * run + separation)
        figures = judge(declared, [fresh], Noise.seeded(seed + run))
        entries.append({"study": "synthetic", "separation": separation, "run": run, **figures})
    return [{**entry, "epsilon": epsilon, "account": account, **settings(declared)} for entry in entries]


def measure_source(source: Source, epsilon: str, *, runs: int, seed: int) -> list[Entry]:
    """Measure a real source at one ε."""
    declared = declare(source, epsilon, seed)
    entries = []
    for run in range(runs):
        figures = judge(declared, source.windows, Noise.seeded(seed + run))
        entries.append(
            {"study": source.name, "epsilon": epsilon, "run": run, **figures, **settings(declared)}
        )
    return entries


def declare(source: Source, epsilon: str, seed: int) -> Declaration:
    """Return the declaration that a real source's history suggests."""
    return suggest(
        source.history.values,
        source.history.outliers,
        names=["value"],
        outer=[source.outer],
        epsilon=epsilon,
        window=max(len(window.values) for window in source.windows),
        share=source.share,
        noise=Noise.seeded(seed),
    )


def judge(declared: Declaration, windows: Sequence[Readings], noise: Noise) -> Entry:
    """Judge windows in all ways: raw, perturbed, corrected as printed, corrected."""
    counted: dict[str, list[tuple[Booleans, Booleans]]] = {
        name: [] for name in ("raw", "perturbed", "printed", "corrected")
    }
    seconds = 0.0
    for window in windows:
        perturbed = perturb(declared, window.values, noise)
        found = correct(declared, perturbed)
        seconds += _time(declared, perturbed, found)
        masks = {
            "raw": raw_suspects(declared, window),
            "perturbed": found.suspects,
            "printed": correct_as_printed(declared, perturbed, found),
            "corrected": found.found,
        }
        for name, mask in masks.items():
            counted[name].append((mask, window.outliers))
    return {**{name: _figures(pairs) for name, pairs in counted.items()}, "correction_seconds": seconds}


def raw_suspects(declared: Declaration, window: Readings) -> Booleans:
    """Return what the same model finds in the readings themselves: the baseline without privacy."""
    grid = np.column_stack(
        [column.to_grid(window.values[:, index]) for index, column in enumerate(declared.columns)]
    )
    return declared.make_model().suspects(declared.places(grid))


def correct_as_printed(declared: Declaration, perturbed: Perturbed, found: Corrected) -> Booleans:
    """Return the union of Figure 2 with the paper's own rule for the gap; the layers are the same."""
    split = split_suspects(perturbed.shifts, found.suspects, "any")
    layers = found.layers
    return split.confirmed | layers.inward | layers.covered | layers.covered_far


def settings(declared: Declaration) -> Entry:
    """Return what the history gave."""
    ranges = [[column.range.low, column.range.high] for column in declared.columns]
    return {"ranges": ranges, "layer": declared.layer, **dict(declared.parameters)}


def per_column(epsilon: str, account: str, columns: int) -> str:
    """Return ε per column under an account.

    Examples
    --------
    >>> per_column("0.1", "column", 2), per_column("0.1", "reading", 2)
    ('0.1', '0.05')
    """
    return epsilon if account == "column" else str(Decimal(epsilon) / columns)


def measure_all(
    journal: Journal,
    sources: Sequence[Source],
    *,
    separations: Sequence[int],
    points: int,
    runs: int,
    seed: int,
    progress: Progress,
) -> list[Entry]:
    """Measure what the journal does not hold yet."""
    done = {entry["key"] for entry in journal}
    tasks: list[tuple[str, Any]] = [
        (f"{separation} {epsilon} {account}", (separation, epsilon, account))
        for account in ACCOUNTS
        for epsilon in EPSILONS
        for separation in separations
    ]
    tasks += [(f"{source.name} {epsilon}", (source, epsilon)) for source in sources for epsilon in EPSILONS]
    progress.start("sensors", len(tasks), len(done), "settings")
    for key, what in tasks:
        if key in done:
            continue
        if len(what) == 3:
            found = measure_synthetic(*what, points=points, runs=runs, seed=seed)
        else:
            found = measure_source(*what, runs=runs, seed=seed)
        journal.write({"key": key, "entries": found})
        progress.advance(len(journal))
    return [entry for line in journal for entry in line["entries"]]


def _figures(pairs: Sequence[tuple[Booleans, Booleans]]) -> dict[str, float]:
    found = np.concatenate([mask for mask, _ in pairs])
    outliers = np.concatenate([truth for _, truth in pairs])
    return {"recall": float(found[outliers].mean()), "shown": float(found.mean())}


def _time(declared: Declaration, perturbed: Perturbed, found: Corrected) -> float:
    """Return how long the corrector's part takes, without the detector's."""
    near = far = ~found.suspects
    start = time.perf_counter()
    split = split_suspects(perturbed.shifts, found.suspects, declared.gap)
    missed_layers(perturbed.shifts, found.suspects, near, far, split.least, declared.layer_steps)
    return time.perf_counter() - start

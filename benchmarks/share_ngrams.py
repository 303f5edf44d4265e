# SPDX-License-Identifier: Apache-2.0
"""How long sequences of taxis' places take to count and release, in how much memory, and what is found.

    python benchmarks/share_ngrams.py --data DIR [--json]

DIR holds tdrive_600_10min.parquet: 600 taxis of Beijing, in steps of ten minutes. Places are the cells of
a grid of 32 × 32, so that 10^9 sequences of up to three are possible. *Wrong* counts published
sequences that no taxi has.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import anonymaly as am
from anonymaly.noise import Noise
from anonymaly.questions.share_ngrams.mechanism import release_ngrams
from anonymaly.questions.share_ngrams.summary import count_sequences

WEST, EAST, SOUTH, NORTH, SIDE = 116.0, 116.8, 39.6, 40.2, 32
LENGTH, PER_PERSON = 3, 20
EPSILONS = ("1", "10")


def grid() -> list[am.Bins]:
    """Return the places."""
    return [
        am.Bins(name, [round(float(edge), 6) for edge in np.linspace(low, high, SIDE + 1)])
        for name, low, high in (("lon", WEST, EAST), ("lat", SOUTH, NORTH))
    ]


def measure(dataset: am.Dataset, epsilon: str, policy: str | None) -> dict[str, Any]:
    """Return seconds, memory and what was found, of one release."""
    query = am.ShareNgrams(
        place=grid(), order="slot_10min", length=LENGTH, per_person=PER_PERSON, policy=policy, epsilon=epsilon
    )
    bound: Any = query.bind(dataset.declaration)
    start = time.perf_counter()
    counts = count_sequences(dataset.view(bound.policy), bound)
    counted = time.perf_counter()
    found = release_ngrams(counts, bound, Noise.seeded(1))
    released = time.perf_counter()
    exact = dict(zip(counts.cells.tolist(), counts.persons.tolist(), strict=True))
    published = dict(zip(found.cells.tolist(), found.counts.tolist(), strict=True))
    return {
        "policy": policy or "everyone",
        "epsilon": epsilon,
        "possible": bound.sequences.size,
        "in the table": len(exact),
        "largest count": max(exact.values(), default=0),
        "threshold": bound.threshold,
        "published": len(published),
        "wrong": sum(cell not in exact for cell in published),
        "seconds to count": round(counted - start, 2),
        "seconds to release": round(released - counted, 3),
        "megabytes at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    """Measure each form at each ε, and print it."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--data", type=Path, required=True)
    reader.add_argument("--json", action="store_true")
    given = reader.parse_args()
    dataset = am.Dataset(
        given.data / "tdrive_600_10min.parquet",
        name="taxis",
        person="taxi",
        max_rows=1000,
        columns={
            "taxi": am.Interval(0, 100_000),
            "slot_10min": am.Timestamps("2008-02-01", "2008-02-10"),
            "lon": am.Interval(WEST, EAST),
            "lat": am.Interval(SOUTH, NORTH),
        },
        # Invented: two thirds of the taxis agreed. Whoever leaves the grid is sensitive as well.
        rules={"some": am.Policy("taxi < 400")},
    )
    results = [measure(dataset, epsilon, policy) for policy in (None, "some") for epsilon in EPSILONS]
    if given.json:
        print(json.dumps(results))
        return
    for result in results:
        print("  ".join(f"{name} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()

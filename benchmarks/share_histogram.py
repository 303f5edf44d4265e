# SPDX-License-Identifier: Apache-2.0
"""How long the histogram methods take, and how that grows with the number of bins.

    python benchmarks/share_histogram.py [--json] [--bins 4096 16384 65536 262144 1048576] [--repeats 5]

The histograms are synthetic: a third of the bins empty, levels with counts around them, and spikes. Every
method is called once before it is timed, so compilation (some seconds, once per installation) is not in the
figures. Each figure is the best of the repeats; processor seconds show what a quiet machine would need.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.methods import METHODS


def make_counts(bins: int) -> Integers:
    generator = np.random.default_rng(bins)
    levels = np.repeat(generator.integers(0, 300, -(-bins // 64)), 64)[:bins]
    counts = generator.poisson(np.where(generator.random(bins) < 0.33, 0, levels))
    counts[generator.integers(0, bins, bins // 100)] += 5_000
    return counts.astype(np.int64)


def measure(bins: int, repeats: int) -> list[dict[str, Any]]:
    counts = make_counts(bins)
    part = np.random.default_rng(1).binomial(counts, 0.5)
    rows = []
    for name, method in METHODS.items():
        rates = method.rates(10**9, adjacency="replace", bins=bins)
        walls, processors = [], []
        for _ in range(repeats):
            wall, processor = time.perf_counter(), time.process_time()
            method.run(counts, part, rates=rates, noise=Noise.system())
            walls.append(time.perf_counter() - wall)
            processors.append(time.process_time() - processor)
        rows.append(
            {"method": name, "bins": bins, "seconds": min(walls), "processor seconds": min(processors)}
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bins", type=int, nargs="+", default=[4096, 16_384, 65_536, 262_144, 1_048_576])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    measure(64, 1)
    rows = [row for bins in options.bins for row in measure(bins, options.repeats)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "load before": load, "peak MB": peak, "rows": rows}))
        return
    table = Table(title=f"milliseconds for one release, {os.cpu_count()} cores, load before {load:.1f}")
    table.add_column("method")
    for bins in options.bins:
        table.add_column(f"{bins:,} bins", justify="right")
    for name in METHODS:
        figures = [row["seconds"] for row in rows if row["method"] == name]
        table.add_row(name, *(f"{1000 * seconds:,.1f}" for seconds in figures))
    Console(width=110).print(table)
    print(f"peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""How fast the neighbours of all records are counted, beside scikit-learn and scipy in the same run.

    python benchmarks/identify_counts.py [--json] [--rows 284807] [--sample 400] [--grow 1000000 10000000]

The table is synthetic, of the size and shape of the credit card data after PCA: Student's t with 4 degrees of
freedom, axes of scale 2, 1.7, 1.5, 1.4, 1.35, 1.3. Counts stop at β + L = 1,299 (β=1022, L=277, radius 6.7).
The peers count every ball to its end, as they offer nothing else; their time for all records is extrapolated
from a sample of points. The kernel is called once before it is timed, so compilation (some seconds, once per
installation) is not in the figures; processor seconds divided by the cores tell what a quiet machine needs.

Growth is measured at the same stop. Memory is what the process holds at its peak, over what it held once it
had the columns, in a process of its own; the columns themselves count as 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial import cKDTree
from sklearn.neighbors import KDTree

from anonymaly.core.arrays import Floats
from anonymaly.questions.identify.balls import BallCounts, Balls
from anonymaly.questions.identify.kernels.counter import count_balls

ROWS, RADIUS, BETA, EXTRA = 284_807, 6.7, 1022, 277
SCALES = np.array([2, 1.7, 1.5, 1.4, 1.35, 1.3])


def make_rows(number: int) -> Floats:
    rows: Floats = np.random.default_rng(0).standard_t(4, (number, len(SCALES)))
    rows *= SCALES
    return rows


def count_all(rows: Floats, stop: int) -> BallCounts:
    return count_balls(rows, Balls(rows, RADIUS, "euclidean", stop))


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return wall-clock seconds, processor seconds and the result."""
    wall, processor = time.perf_counter(), time.process_time()
    found = action()
    return time.perf_counter() - wall, time.process_time() - processor, found


def compare(number: int, sample: int, repeats: int) -> dict[str, Any]:
    rows = make_rows(number)
    stop = BETA + EXTRA
    runs = [timed(lambda: count_all(rows, stop)) for _ in range(repeats)]
    seconds, processor = min(run[0] for run in runs), min(run[1] for run in runs)
    counts = runs[0][2]
    chosen = np.random.default_rng(1).choice(number, sample, replace=False)
    build, _, ball_tree = timed(lambda: KDTree(rows))
    query, busy, found = timed(lambda: ball_tree.query_radius(rows[chosen], RADIUS, count_only=True))
    scikit, scikit_busy = build + query * number / sample, busy * number / sample
    build, _, other = timed(lambda: cKDTree(rows))
    query, busy, lengths = timed(
        lambda: other.query_ball_point(rows[chosen], RADIUS, return_length=True, workers=2)
    )
    scipy, scipy_busy = build + query * number / sample, busy * number / sample
    assert (np.minimum(found, stop) == counts.within[chosen]).all()
    assert (np.minimum(lengths, stop) == counts.within[chosen]).all()
    return {
        "rows": number, "seconds": seconds, "processor seconds": processor,
        "reached the stop": float((counts.within == stop).mean()),
        "anomalies": int((counts.within <= BETA).sum()),
        "scikit-learn seconds": scikit, "scipy seconds": scipy,
        "times scikit-learn": scikit / seconds, "times scipy": scipy / seconds,
        "scikit-learn processor seconds": scikit_busy, "scipy processor seconds": scipy_busy,
    }  # fmt: skip


def grow(sizes: list[int]) -> list[dict[str, Any]]:
    lines = []
    for number in sizes:
        # What one size leaves behind in memory would hide what the next one takes.
        command = [sys.executable, "-W", "ignore", __file__, "--one", str(number)]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        lines.append({"rows": number, **json.loads(done.stdout)})
    return lines


def measure_one(number: int) -> dict[str, Any]:
    count_all(make_rows(20_000), 99)
    rows = make_rows(number)
    forget_peak()
    before = held("VmRSS")
    seconds, processor, _ = timed(lambda: count_all(rows, BETA + EXTRA))
    return {
        "seconds": seconds,
        "processor seconds": processor,
        "processor microseconds a row": 1e6 * processor / number,
        "memory in columns": 1 + (held("VmHWM") - before) / rows.nbytes,
    }


def forget_peak() -> None:
    """Let the kernel measure the peak from now on: making the rows took more memory than they have."""
    Path("/proc/self/clear_refs").write_text("5")


def held(what: str) -> int:
    """Return the bytes that this process holds now (VmRSS) or held at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--sample", type=int, default=400, help="points on which the peers are measured")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--grow", type=int, nargs="*", default=[300_000, 1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure_one(options.one)))
        return
    count_all(make_rows(20_000), 99)
    load = os.getloadavg()[0]
    found = {
        "cores": os.cpu_count(),
        "load before": load,
        "all records": compare(options.rows, options.sample, options.repeats),
        "growth": grow(options.grow),
    }
    if options.json:
        print(json.dumps(found))
        return
    print(f"{os.cpu_count()} cores, load before {load:.1f}")
    for name, value in found["all records"].items():  # type: ignore[attr-defined]
        print(f"  {name}: {value:,.4g}" if isinstance(value, float) else f"  {name}: {value:,}")
    table = Table(title="all records counted")
    names = ["rows", "seconds", "processor seconds", "processor microseconds a row", "memory in columns"]
    for name in names:
        table.add_column(name, justify="right")
    for line in found["growth"]:  # type: ignore[attr-defined]
        table.add_row(
            *(f"{line[name]:,.3g}" if isinstance(line[name], float) else f"{line[name]:,}" for name in names)
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

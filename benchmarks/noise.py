# SPDX-License-Identifier: Apache-2.0
"""How fast the exact samplers are, beside OpenDP's discrete Laplace in the same run.

    python benchmarks/noise.py [--json] [--draws 4000000]

Every sampler is called once before it is timed, so compilation (some seconds, once per installation) and the
table of a new rate (some milliseconds) are not in the figures. Each figure is the best of three runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
from rich.console import Console
from rich.table import Table

from anonymaly.noise import ExactProbability, Noise

RATES = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(5)]
CANDIDATES = 4_194_304
OPENDP_DRAWS = 50_000


def best_time(action: Callable[[], Any], repeats: int = 3) -> float:
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def compare_with_opendp(draws: int) -> list[dict[str, Any]]:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    zeros = [0] * OPENDP_DRAWS
    noise = Noise.system()
    rows = []
    for rate in RATES:
        peer = dp.m.make_laplace(*space, scale=float(1 / rate))
        peer_speed = OPENDP_DRAWS / best_time(lambda peer=peer: peer(zeros))  # type: ignore[misc]
        speed = draws / best_time(lambda rate=rate: noise.two_sided_geometric(rate, draws))  # type: ignore[misc]
        rows.append(
            {"rate": str(rate), "opendp": peer_speed, "anonymaly": speed, "times": speed / peer_speed}
        )
    return rows


def other_samplers(draws: int) -> list[dict[str, Any]]:
    noise = Noise.system()
    keyed = Noise.keyed(os.urandom(32))
    indices = np.arange(draws, dtype=np.uint64)
    tenth = Fraction(1, 10)
    irrational = ExactProbability.exponential(tenth).complement()
    actions: dict[str, Callable[[], Any]] = {
        "one-sided geometric, rate 1/10": lambda: noise.one_sided_geometric(tenth, draws),
        "two-sided geometric, rate 1e-9": lambda: noise.two_sided_geometric(Fraction(1, 10**9), draws),
        "two-sided geometric by key and index": lambda: keyed.two_sided_geometric_at(tenth, indices),
        "Bernoulli exp(-1/10)": lambda: noise.bernoulli_exp(tenth, draws),
        "Bernoulli 1 - exp(-1/10)": lambda: noise.bernoulli(irrational, draws),
        "Bernoulli 1/3": lambda: noise.bernoulli(Fraction(1, 3), draws),
        "uniform below 1000": lambda: noise.uniform(1000, draws),
        "uniform below 10^18": lambda: noise.uniform(10**18, draws),
    }
    return [{"sampler": name, "per_second": draws / best_time(action)} for name, action in actions.items()]


def single_calls() -> list[dict[str, Any]]:
    noise = Noise.system()
    tail = ExactProbability.logistic(Fraction(5), Fraction(1, 10))
    one_good = np.zeros(CANDIDATES, np.int64)
    one_good[CANDIDATES // 3] = 10**6
    many_good = np.arange(CANDIDATES, dtype=np.int64)
    tenth = Fraction(1, 10)
    actions: dict[str, Callable[[], Any]] = {
        "one two-sided geometric draw": lambda: noise.two_sided_geometric(tenth),
        "binomial, 10^6 trials": lambda: noise.binomial(10**6, tail),
        "binomial, 10^30 trials": lambda: noise.binomial(10**30, tail),
        "permute-and-flip, one good of 4,194,304": lambda: noise.choose(one_good, tenth),
        "permute-and-flip, graded 4,194,304": lambda: noise.choose(many_good, Fraction(1, 10**6)),
        "exponential, one good of 4,194,304": lambda: noise.choose(one_good, tenth, "exponential"),
        "exponential, graded 4,194,304": lambda: noise.choose(many_good, Fraction(1, 10**6), "exponential"),
    }
    return [{"call": name, "seconds": best_time(action)} for name, action in actions.items()]


def show(results: dict[str, Any]) -> None:
    console = Console()
    table = Table(title="Discrete Laplace over integers, draws per second (compilation excluded)")
    for heading in ("rate", "OpenDP", "anonymaly", "times"):
        table.add_column(heading, justify="right")
    for row in results["discrete_laplace"]:
        table.add_row(
            row["rate"], f"{row['opendp']:,.0f}", f"{row['anonymaly']:,.0f}", f"{row['times']:,.0f}"
        )
    console.print(table)
    table = Table(title="Other samplers")
    table.add_column("sampler")
    table.add_column("draws per second", justify="right")
    for row in results["samplers"]:
        table.add_row(row["sampler"], f"{row['per_second']:,.0f}")
    console.print(table)
    table = Table(title="Single calls")
    table.add_column("call")
    table.add_column("milliseconds", justify="right")
    for row in results["calls"]:
        table.add_row(row["call"], f"{row['seconds'] * 1000:,.3f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the exact samplers.")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--draws", type=int, default=4_000_000, help="draws per timed call")
    options = parser.parse_args()
    results = {
        "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "compilation": "excluded",
        "discrete_laplace": compare_with_opendp(options.draws),
        "samplers": other_samplers(options.draws),
        "calls": single_calls(),
    }
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        show(results)


if __name__ == "__main__":
    main()

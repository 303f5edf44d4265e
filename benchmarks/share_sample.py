# SPDX-License-Identifier: Apache-2.0
"""How fast a sample of ten million true records is drawn, from a Parquet file.

    python benchmarks/share_sample.py [--json] [--rows 10000000]

Speeds are in released records per second, of one run: reading, judging and flipping a coin for each record;
the same and putting what is kept into a uniform order, in memory and with a tenth of the memory it
needs; and a whole question with its ledger and store.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table as Grid

import anonymaly as am
from anonymaly.noise import Noise
from anonymaly.questions.share_sample.binding import bind
from anonymaly.questions.share_sample.mechanism import kept_probability
from anonymaly.questions.share_sample.shuffle import MEMORY, shuffled
from anonymaly.questions.share_sample.summary import non_sensitive_records

EPSILON = 2
SENSITIVE = 0.1
PART = 1_000_000
QUERY = am.ShareSample(policy="open", columns=["age", "ward"], epsilon=EPSILON)


def invent(path: Path, rows: int) -> None:
    """Write records, of which about ``rows`` will be kept."""
    needed = round(rows / (1 - np.exp(-EPSILON)) / (1 - SENSITIVE))
    draw = np.random.default_rng(0)
    schema = pa.schema({"age": pa.int64(), "ward": pa.string(), "consent": pa.bool_()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, needed, PART):
            size = min(PART, needed - start)
            wards = pa.array(["A", "B", "C", "D"]).take(pa.array(draw.integers(0, 4, size)))
            ages, consent = draw.integers(0, 100, size), draw.random(size) >= SENSITIVE
            writer.write_table(pa.table([ages, wards, consent], schema=schema))


def dataset(path: Path) -> am.Dataset:
    columns = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B", "C", "D"]), "consent": am.Flag()}
    return am.Dataset(path, name="records", columns=columns, rules={"open": am.Policy("consent")})


def stream(data: am.Dataset, memory: int | None) -> int:
    """Draw a sample without keeping it; return how many records it has."""
    bound = bind(QUERY, data.declaration)
    records = non_sensitive_records(data.view(bound.policy), bound.columns)
    noise, kept = Noise.system(), kept_probability(bound.rate)
    chosen = ((batch, np.flatnonzero(noise.bernoulli(kept, batch.num_rows))) for batch in records)
    if memory is None:
        return sum(batch.take(pa.array(places)).num_rows for batch, places in chosen)
    return sum(len(table) for table in shuffled(records.schema, chosen, noise, memory=memory))


def timed(name: str, action: Callable[[], int]) -> dict[str, Any]:
    start = time.perf_counter()
    records = action()
    seconds = time.perf_counter() - start
    return {"step": name, "records": records, "seconds": seconds, "records_per_second": records / seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        invent(folder / "small.parquet", 1000)
        stream(dataset(folder / "small.parquet"), MEMORY)  # compiles the noise
        invent(folder / "records.parquet", options.rows)
        data = dataset(folder / "records.parquet")
        curator = am.Curator(data, budget=EPSILON, ledger=folder / "records.ledger")
        steps = [
            timed("coins", lambda: stream(data, None)),
            timed("coins and order", lambda: stream(data, MEMORY)),
            timed("coins and order, on disk", lambda: stream(data, 16 * options.rows // 10)),
            timed("a question", lambda: len(curator.ask(QUERY).value)),
        ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"steps": steps, "peak_megabytes": peak}))
        return
    grid = Grid("step", "records", "seconds", "records/s", title="Sampling true records")
    for step in steps:
        speed = f"{step['records_per_second']:,.0f}"
        grid.add_row(step["step"], f"{step['records']:,}", f"{step['seconds']:.2f}", speed)
    Console().print(grid)
    print(f"peak memory: {peak:,.0f} MB")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""How fast sensors perturb, correctors correct, detectors detect, and windows go through all parties.

    python benchmarks/stream_speed.py [--json] [--readings 1000000]

Everything is called once before it is timed; each figure is the best of five runs. The paper's
corrector took 30 to 40 ms for 100,000 points.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from anonymaly import Interval, stream
from anonymaly.noise import Noise
from anonymaly.stream.protocol.correction import missed_layers, split_suspects
from anonymaly.stream.protocol.perturb import perturb

POINTS = 100_000
COLUMN = {"range": Interval(-10, 10), "outer": Interval(-500, 500), "step": 0.01}


def best_time(action: Callable[[], Any], repeats: int = 5) -> float:
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def declaration(columns: int, window: int) -> stream.Declaration:
    made = [stream.Column(f"c{number}", **COLUMN) for number in range(columns)]  # type: ignore[arg-type]
    parameters = {"radius": 4.0, "neighbours": 2000}
    return stream.Declaration(columns=made, epsilon=0.5, window=window, layer=1, parameters=parameters)


def perturbing(readings: int) -> list[dict[str, Any]]:
    rows = []
    for columns in (1, 2):
        values = np.random.default_rng(1).normal(0, 3, (readings, columns))
        declared = declaration(columns, 1000)
        seconds = best_time(lambda d=declared, v=values: perturb(d, v, Noise.system()))  # type: ignore[misc]
        what = f"sensor: readings of {columns} column{'s' * (columns > 1)} perturbed per second"
        rows.append({"what": what, "value": readings / seconds, "unit": "1/s"})
    return rows


def correcting() -> list[dict[str, Any]]:
    draw = np.random.default_rng(2)
    rows = []
    for share in (0.1, 1.0):
        shifts = draw.laplace(0, 30_000, POINTS).astype(np.int64)
        suspects = draw.random(POINTS) < share
        near, far = ~suspects, ~suspects & (draw.random(POINTS) < 0.5)

        def correct(shifts: Any = shifts, suspects: Any = suspects, near: Any = near, far: Any = far) -> None:
            split = split_suspects(shifts, suspects)
            missed_layers(shifts, suspects, near, far, split.least, 700)

        what = f"corrector: {POINTS:,} points, {share:.0%} of them suspects"
        rows.append({"what": what, "value": 1000 * best_time(correct), "unit": "ms"})
    return rows


def detecting() -> list[dict[str, Any]]:
    places = np.random.default_rng(3).laplace(0, 2, (POINTS, 2))
    model = declaration(2, POINTS).make_model()
    seconds = best_time(lambda: model.suspects(places), repeats=2)
    return [{"what": f"detector: DBSCAN of {POINTS:,} points", "value": 1000 * seconds, "unit": "ms"}]


def through_all(readings: int = 100_000, window: int = 1000) -> list[dict[str, Any]]:
    """One process, real journals and ledger on disk."""
    declared = declaration(1, window)
    values = np.random.default_rng(4).normal(0, 3, readings)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sensor = stream.Sensor("s", declared, journal=folder / "s", ledger=folder / "l", budget=10**6)
        streams = {"s": declared}
        parties = [
            sensor,
            stream.Detector(streams, folder / "d"),
            stream.Corrector(streams, folder / "c"),
            stream.Owner(["s"], folder / "o"),
        ]
        transport = stream.LocalTransport(parties)
        transport.carry(sensor.send(values[:window]))
        start = time.perf_counter()
        for first in range(window, readings, window):
            transport.carry(sensor.send(values[first : first + window]))
        seconds = time.perf_counter() - start
        for party in parties:
            party.close()
    rate = (readings - window) / seconds
    return [{"what": f"all parties in one process, windows of {window:,}", "value": rate, "unit": "1/s"}]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--readings", type=int, default=1_000_000)
    options = parser.parse_args()
    rows = [*perturbing(options.readings), *correcting(), *detecting(), *through_all()]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("what", "value", "unit"):
        table.add_column(title, justify="right" if title == "value" else "left")
    for row in rows:
        table.add_row(row["what"], f"{row['value']:,.1f}", row["unit"])
    Console().print(table)


if __name__ == "__main__":
    main()

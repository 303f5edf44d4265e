# SPDX-License-Identifier: Apache-2.0
"""Counting in secret: faults found and false alarms by number of sensors, bytes a reading, readings a second.

Faults: the paper's points (Böhler et al. 2017, Figure 3: N(0, 3²) in the plane, the outer ones pushed out by
50 to 400), temperatures of a building with a broken sensor, and taxis of a city, 2 % of which are given a
place elsewhere. The rule (share 0.2, radius 1, 32 cells a side) comes from a trial on other draws of the
paper's points; nothing was tuned on the building or the taxis. Beside it, at the same ε for a whole reading:
plain local noise, where the farthest are taken, as many as there are faults; and `correction` in windows over
the same sensors, which shows readings to be looked at, with settings that `suggest` takes from another draw
whose faults it knows. `counting` shows no reading.

Only counts are simulated here, by the rule and the noise of the protocol; ``tests/stream/counting`` shows
that the protocol's verdicts are those of its counts. Speed is that of the protocol's own functions, on one
thread.

    python benchmarks/stream_counting.py --data DIR
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from rich.console import Console
from rich.table import Table

from anonymaly import Interval
from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.noise import Noise
from anonymaly.stream import (
    CountedColumn,
    CountingDeclaration,
    PooledWindows,
    suggest,
)
from anonymaly.stream.counting.check import first_round
from anonymaly.stream.counting.contribution import contribute
from anonymaly.stream.counting.messages import Contribution
from anonymaly.stream.counting.point_function import Expansion
from anonymaly.stream.counting.prime_field import add_to
from anonymaly.stream.counting.usual import fault_cells
from anonymaly.stream.programs.seal import Seal
from anonymaly.stream.protocol.perturb import perturb
from anonymaly.stream.protocol.suggest import correct

SEPARATIONS = (50, 120, 220, 400)
CORRECTED = 5000  # sensors in a window, at most, for which `correction` is tried: its settings take minutes
SENSORS = (45, 300, 600, 1000, 2000, 5000, 100_000)
EPSILONS = ("0.1", "0.5", "1")
Draw = Callable[[int, np.random.Generator], tuple[Floats, Booleans]]


class Source:
    """Readings with known faults, and the grid and rule that they are counted by."""

    def __init__(
        self, name: str, outer: list[tuple[float, float]], cells: int, share: float, draw: Draw
    ) -> None:
        self.name, self.outer, self.cells, self.share, self.draw = name, outer, cells, share, draw

    def declared(self, epsilon: str) -> CountingDeclaration:
        """Return the public facts of a pool of such sensors."""
        return CountingDeclaration(
            columns=[
                CountedColumn(f"x{place}", outer=Interval(low, high), cells=self.cells)
                for place, (low, high) in enumerate(self.outer)
            ],
            windows=PooledWindows(
                start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=2
            ),
            epsilon=epsilon,
            period=1,
            share=self.share,
            radius=1,
        )


def points(separation: int, share: float) -> Source:
    """Return the paper's points."""

    def draw(number: int, generator: np.random.Generator) -> tuple[Floats, Booleans]:
        values = 3 * generator.standard_normal((number, 2))
        distances = np.hypot(*values.T)
        faults = np.zeros(number, np.bool_)
        faults[np.argsort(distances)[number - round(share * number) :]] = True
        values[faults] *= ((distances[faults] + separation) / distances[faults])[:, np.newaxis]
        return values, faults

    half = separation + 20
    name = f"points, {separation} away, {share:.0%}"
    return Source(name, [(-half, half)] * 2, 32, 0.2, draw)


def building(folder: Path) -> Source:
    """Return temperatures of the second half of the time, with those of the broken sensor for faults."""
    import pandas as pd  # noqa: PLC0415

    table = pd.read_parquet(folder / "keti_building.parquet").dropna(subset=["temperature"])
    later = table[table["timestamp"] >= table["timestamp"].quantile(0.5)]["temperature"].to_numpy()
    broken, usual = later[later > 50], later[later <= 50]

    def draw(number: int, generator: np.random.Generator) -> tuple[Floats, Booleans]:
        faults = np.arange(number) < max(1, round(0.02 * number))
        values = np.where(faults, generator.choice(broken, number), generator.choice(usual, number))
        return values[:, np.newaxis], faults

    return Source("building, 2%", [(0.0, 400.0)], 64, 0.2, draw)


def taxis(folder: Path) -> Source:
    """Return places of taxis in ten minutes of a day, 2 % of which report a place far from the city."""
    import pandas as pd  # noqa: PLC0415

    table = pd.read_parquet(folder / "tdrive_600_10min.parquet")
    places = table[["lon", "lat"]].to_numpy()

    def draw(number: int, generator: np.random.Generator) -> tuple[Floats, Booleans]:
        faults = np.arange(number) < max(1, round(0.02 * number))
        wrong = np.column_stack([generator.uniform(100, 110, number), generator.uniform(20, 30, number)])
        values = np.where(faults[:, np.newaxis], wrong, places[generator.integers(0, len(places), number)])
        return values, faults

    return Source("taxis, 2%", [(100.0, 130.0), (20.0, 50.0)], 32, 0.2, draw)


def counted(source: Source, values: Floats, epsilon: str, noise: Noise) -> Booleans | None:
    """Return which readings the protocol calls faults; None if it gives no verdict."""
    declared = source.declared(epsilon)
    cells = declared.cells_of(values)
    counts = np.bincount(cells, minlength=declared.cells)
    for _ in range(2):
        counts = counts + noise.two_sided_geometric(declared.rate, declared.cells)
    faults = fault_cells(declared, counts, len(values))
    return None if faults is None else np.isin(cells, faults)


def local(source: Source, values: Floats, share: float, epsilon: str, noise: Noise) -> Booleans:
    """Return the farthest readings after plain local noise, as many as there are faults."""
    steps = 1000
    moved = np.zeros(len(values))
    for place, (low, high) in enumerate(source.outer):
        grid = np.rint((values[:, place] - low) / (high - low) * steps).astype(np.int64)
        # Any reading may be replaced by any other, as in counting: the whole outer domain is protected.
        noisy = noise.add_two_sided_geometric(grid, Fraction(epsilon) / (len(source.outer) * steps))
        moved += ((noisy - np.median(noisy)) / steps) ** 2
    return moved >= np.quantile(moved, 1 - share)


def corrected(
    source: Source, values: Floats, epsilon: str, noise: Noise, history: tuple[Floats, Booleans]
) -> Booleans:
    """Return what the owner is shown by ``correction``, with settings from a history by `suggest`."""
    names = [f"x{place}" for place in range(values.shape[1])]
    declared = suggest(
        history[0], history[1], names=names, outer=[Interval(*ends) for ends in source.outer],
        epsilon=str(float(epsilon) / len(names)), window=len(values), share=float(history[1].mean()),
        noise=Noise.seeded(2),
    )  # fmt: skip
    return correct(declared, perturb(declared, values, noise)).found


def judged(found: Booleans | None, faults: Booleans) -> tuple[float, float, float]:
    """Return recall, precision and the share of readings that are shown; 0 without a verdict."""
    if found is None:
        return 0.0, 0.0, 0.0
    right = int((found & faults).sum())
    return right / int(faults.sum()), right / max(1, int(found.sum())), float(found.mean())


def quality(folder: Path | None, runs: int) -> Iterator[dict[str, Any]]:
    """Measure recall and precision."""
    sources = [points(separation, share) for share in (0.1, 0.02) for separation in SEPARATIONS]
    if folder is not None:
        sources += [building(folder), taxis(folder)]
    noise, generator = Noise.seeded(1), np.random.default_rng(1)
    for source in sources:
        for epsilon in EPSILONS:
            for number in SENSORS:
                rows = []
                for _ in range(runs):
                    values, faults = source.draw(number, generator)
                    found = counted(source, values, epsilon, noise)
                    plain = local(source, values, float(faults.mean()), epsilon, noise)
                    shown = (
                        corrected(source, values, epsilon, noise, source.draw(number, generator))
                        if number <= CORRECTED
                        else None
                    )
                    figures = (judged(found, faults), judged(plain, faults), judged(shown, faults))
                    rows.append(np.concatenate([*figures, [found is None]]))
                mean = np.mean(rows, axis=0)
                line: dict[str, Any] = {
                    "source": source.name, "epsilon": epsilon, "sensors": number,
                    "recall": round(mean[0], 4), "precision": round(mean[1], 4),
                    "no verdict": round(mean[9], 2), "local recall": round(mean[3], 4),
                    "local precision": round(mean[4], 4),
                }  # fmt: skip
                if number <= CORRECTED:
                    names = ("correction recall", "correction precision", "correction shown")
                    line |= {name: round(mean[place], 4) for place, name in enumerate(names, 6)}
                yield line


def speed() -> Iterator[dict[str, Any]]:
    """Measure bytes a reading, and readings a second of sensor and counter, beside sealing alone."""
    sender, first, second = (X25519PrivateKey.generate() for _ in range(3))
    seal = Seal("sensor/room-1", sender, {"counter-1": first.public_key(), "counter-2": second.public_key()})
    for bits in (8, 12, 16):
        noise, times = Noise.system(), max(20, 2 ** (20 - bits) // 8)
        made = [contribute("room-1", window, 3, bits, noise) for window in range(times)]
        rates = {
            "counter": _rate(times, partial(_count, made, Expansion(bits), np.zeros(2**bits, np.int64))),
            "sensor": _rate(times, partial(_contribute, times, bits, noise)),
            "sealing": _rate(times, partial(_seal, made, seal)),
        }
        yield {
            "cells": 2**bits,
            "bytes a reading": sum(len(seal.seal(part)) for part in made[0]),
            "before sealing": sum(len(part.to_bytes()) for part in made[0]),
            **{f"{name}, readings a second": rate for name, rate in rates.items()},
        }


def _rate(times: int, work: Callable[[], object]) -> int:
    work()  # compiles
    began = time.perf_counter()
    work()
    return round(times / (time.perf_counter() - began))


def _count(made: list[tuple[Contribution, Contribution]], expansion: Expansion, total: Integers) -> None:
    """Do what a counter does with contributions in a counted window."""
    for pair in made:
        expansion.expand(pair[0].key)
        first_round(expansion, pair[0].masks, bytes(32), pair[0].nonce)
        add_to(total, expansion.data)
        expansion.expand(pair[0].key)  # once more, for the verdicts


def _seal(made: list[tuple[Contribution, Contribution]], seal: Seal) -> None:
    for pair in made:
        for part in pair:
            seal.seal(part)


def _contribute(times: int, bits: int, noise: Noise) -> None:
    for window in range(times):
        contribute("room-1", window, 3, bits, noise)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--data", type=Path, default=None, help="keti_building.parquet, tdrive_600_10min.parquet"
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {"speed": list(speed()), "quality": list(quality(options.data, options.runs))}
    if options.json:
        print(json.dumps(found))
        return 0
    for title, rows in found.items():
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = Table(*names, title=title)
        for row in rows:
            table.add_row(*(str(row.get(name, "")) for name in names))
        Console(width=200).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())

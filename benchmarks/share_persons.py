# SPDX-License-Identifier: Apache-2.0
"""How many rows a sample by person keeps, beside a coin for each row at the same promise to persons.

    python benchmarks/share_persons.py --data DIR [--json] [--draws 20]

DIR holds tdrive_600_10min.parquet: 600 taxis of Beijing, in steps of ten minutes. *By the row* is what the
first version of ``share-sample`` did where persons are declared: of each person at most m rows are read, and
each is kept by a coin of its own at ε/m. *By person* one coin at ε keeps or leaves out all of their rows.
*Times, law* is what the laws say of persons with m rows each; the others are counted in drawn samples.
*Steps* are pairs of neighbouring rows of a taxi that are both in the sample: what is left of its way.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import pandas
from rich.console import Console
from rich.table import Table as Grid

import anonymaly as am
from anonymaly.ask.table import Table
from anonymaly.noise import Noise
from anonymaly.questions.share_sample.binding import ShareSampleBinding

EPSILONS = ("0.1", "1", "3")
MOST_ROWS = (10, 50, 1000)  # m; the taxis have up to about a thousand
COLUMNS = ("taxi", "slot_10min", "lon", "lat")


def declare(source: Path, rows: int) -> am.Dataset:
    """Return the taxis; two thirds of them agreed, which is invented, and who leaves the map is sensitive."""
    return am.Dataset(
        source,
        name="taxis",
        person="taxi",
        max_rows=rows,
        columns={
            "taxi": am.Interval(0, 100_000),
            "slot_10min": am.Timestamps("2008-02-01", "2008-02-10"),
            "lon": am.Interval(115.0, 118.0),
            "lat": am.Interval(39.0, 41.5),
        },
        rules={"some": am.Policy("taxi < 400")},
    )


def kept(dataset: am.Dataset, bound: ShareSampleBinding, draws: int) -> tuple[float, float]:
    """Return how many rows, and how many steps of a way, a sample keeps on average."""
    (stage,) = bound.stages
    view, rows, steps = dataset.view(bound.policy), 0, 0
    for seed in range(draws):
        sample: Table = stage.release(stage.summarise(view, {}), {}, Noise.seeded(seed))
        rows += len(sample)
        steps += _steps(sample.to_pandas())
    return rows / draws, steps / draws


def _steps(sample: pandas.DataFrame) -> int:
    """Return how many rows are followed by the taxi's row of the next ten minutes."""
    places = sample[["taxi", "slot_10min"]].drop_duplicates()
    later = places.assign(slot_10min=places["slot_10min"] + pandas.Timedelta(minutes=10))
    return len(places.merge(later))


def measure(source: Path, rows: int, epsilon: str, draws: int) -> dict[str, Any]:
    """Return what both ways keep."""
    dataset = declare(source, rows)
    bound: Any = am.ShareSample(policy="some", columns=COLUMNS, epsilon=epsilon).bind(dataset.declaration)
    before = bound.earlier
    by_person, by_row = (kept(dataset, item, draws) for item in (bound, before))
    return {
        "m": rows,
        "epsilon": epsilon,
        "rows by the row": round(by_row[0]),
        "rows by person": round(by_person[0]),
        "times": _times(by_person[0], by_row[0]),
        "times, law": _times(math.expm1(-float(epsilon)), math.expm1(-float(epsilon) / rows)),
        "steps by the row": round(by_row[1], 1),
        "steps by person": round(by_person[1]),
    }


def _times(more: float, less: float) -> float | None:
    return round(more / less, 1) if less else None


def main() -> None:
    """Measure each m at each ε, and print it."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--data", type=Path, required=True)
    reader.add_argument("--draws", type=int, default=20)
    reader.add_argument("--json", action="store_true")
    given = reader.parse_args()
    source = given.data / "tdrive_600_10min.parquet"
    results = [measure(source, rows, epsilon, given.draws) for rows in MOST_ROWS for epsilon in EPSILONS]
    if given.json:
        print(json.dumps(results))
        return
    grid = Grid(*results[0])
    for result in results:
        grid.add_row(
            *(f"{value:,}" if isinstance(value, int | float) else str(value) for value in result.values())
        )
    Console(width=120).print(grid)


if __name__ == "__main__":
    main()

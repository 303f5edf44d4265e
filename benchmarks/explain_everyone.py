# SPDX-License-Identifier: Apache-2.0
"""How good and how fast explain for everyone is, on the salary rows that PCOR was measured on.

    python benchmarks/explain_everyone.py [--data DIR] [--json] [--outliers 200] [--ordinary 200] [--seed 1]

DIR holds ``ontario_salaries_1996_2006.parquet``, of which 51,000 rows are taken as in ``studies/pcor``.
Without it the extract that ships is used, which has 2,048 subsets.

As in the paper's protocol, records are taken in random order; one that stands out in any subset is an
outlier, any other an ordinary one. Each is asked about once at each ε, without a share for reasons:

- *named*: the share of answers that name a group; *right*: that name one in which the record stands out;
- *margin*: the chosen margin over the best of the list; *population*: the chosen group's records over
  those of the largest group in which the record stands out; "none" counts as 0 (PCOR has 0.90 at ε = 0.2);
- records whose best margin is below the one that "none" has at that ε are hard, and left out of "clear".

``subsets`` are all of them, ``simple`` the groups of own values, ``years`` those with intervals of years.
The times are of all margins, after a first call that compiles; the load is that of the machine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from anonymaly.core.arrays import Integers
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Bins, Interval
from anonymaly.noise import Noise
from anonymaly.questions.explain.everyone.binding import EveryoneBinding, bind_for_everyone
from anonymaly.questions.explain.everyone.kernels.all_groups import all_margins
from anonymaly.questions.explain.everyone.mechanism import listed_margins
from anonymaly.questions.explain.everyone.summary import count_steps_by_cell
from anonymaly.questions.explain.query import Explain

sys.path.insert(0, str(Path(__file__).parents[1]))
from studies.pcor.data import Records, reduced_salary, salary
from studies.seeds import in_random_order

EPSILONS = ("0.05", "0.1", "0.2", "0.5")
LISTS = ("simple", "years", "subsets")


@dataclass(frozen=True)
class Listed:
    """All groups of one list for one record: their margins, in quarters, and their records."""

    margins: Integers
    populations: Integers


class Salaries:
    """The table, with years as values and as numbers."""

    def __init__(self, records: Records, steps: int) -> None:
        self.records, self.steps = records, steps
        years = records.rows.column("year").cast(pa.float64())
        place = records.rows.column_names.index("year")
        numbers = records.rows.set_column(place, "year", years)
        first, last = min(years.to_pylist()), max(years.to_pylist())
        self._edges = [first + number for number in range(int(last - first) + 2)]
        columns = {**records.columns, "year": Interval(first, last + 1)}
        self._datasets = {
            "values": records.dataset(),
            "numbers": Dataset(numbers, name="salary", columns=columns, public=True),
        }

    def bind(self, row: int, listed: str, epsilon: str) -> EveryoneBinding:
        """Return the question about a row, bound."""
        attributes: list[Any] = list(self.records.attributes)
        if listed == "years":
            attributes[attributes.index("year")] = Bins("year", self._edges)
        query = Explain(
            record=self.records.record(row),
            metric=self.records.metric,
            attributes=attributes,
            among="subsets" if listed == "subsets" else "simple",
            steps=self.steps,
            why=0,
            epsilon=epsilon,
        )
        return bind_for_everyone(query, self._of(listed).declaration)

    def _of(self, listed: str) -> Dataset:
        return self._datasets["numbers" if listed == "years" else "values"]

    def judge(self, row: int, listed: str) -> tuple[Listed, float, float]:
        """Return a record's margins and populations in all groups, and the seconds, wall and processor."""
        bound = self.bind(row, listed, "1")
        summary = count_steps_by_cell(self._of(listed).table, bound)
        wall, processor = time.perf_counter(), time.process_time()
        _, margins = listed_margins(summary, bound, Noise.seeded(1))
        seconds = time.perf_counter() - wall, time.process_time() - processor
        cells = int(np.prod([axis.codes for axis in bound.axes]))
        # A group's records are the margin of a rule under which nobody is in the window.
        counts = np.bincount(summary.cells, summary.counts, cells).astype(np.int64)
        rule = bound.margin.rule(bound.grid, bound.record_value)._replace(
            fences=False, numerator=1, denominator=1, width=2
        )
        populations = all_margins(bound.axes, np.stack([np.zeros_like(counts), counts], 1), rule)
        return Listed(margins, populations), *seconds


def answer(found: Listed, bound: EveryoneBinding, noise: Noise) -> dict[str, Any]:
    """Draw a group, and compare it with the best and the largest one."""
    chosen = noise.choose(np.append(found.margins, bound.none_at), bound.rate)
    best = int(found.margins.max())
    right = found.margins > 0
    largest = int(found.populations[right].max()) if right.any() else 0
    named = chosen < len(found.margins)
    margin = int(found.margins[chosen]) if named else 0
    return {
        "named": named,
        "right": margin > 0,
        "margin": margin / best if best else 0.0,
        "population": int(found.populations[chosen]) / largest if margin else 0.0,
        "best": best / bound.margin.unit,
        "hard": best < bound.none_at,
    }


def measure(table: Salaries, outliers: int, ordinary: int, most: int, seed: int) -> dict[str, Any]:
    """Ask about random records until there are enough of both kinds, or as many were looked at as may be."""
    noise = Noise.seeded(seed)
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    times: list[tuple[float, float]] = []
    wanted = {"outlier": outliers, "ordinary": ordinary}
    table.judge(0, "subsets")  # compiles
    looked: dict[str, int] = {"outlier": 0, "ordinary": 0}
    for row in itertools.islice(in_random_order(table.records.rows.num_rows, seed), most):
        judged = {}
        judged["subsets"], wall, processor = table.judge(row, "subsets")
        kind = "outlier" if judged["subsets"].margins.any() else "ordinary"
        looked[kind] += 1
        if not wanted[kind]:
            if not any(wanted.values()):
                break
            continue
        wanted[kind] -= 1
        times.append((wall, processor))
        for listed in LISTS[:2]:
            judged[listed] = table.judge(row, listed)[0]
        for listed in LISTS:
            for epsilon in EPSILONS:
                line = answer(judged[listed], table.bind(row, listed, epsilon), noise)
                found.setdefault((listed, epsilon, kind), []).append(line)
    return {
        "looked at": looked,
        "figures": [
            {"list": listed, "epsilon": epsilon, "records": kind, **summed(lines)}
            for (listed, epsilon, kind), lines in found.items()
        ],
        "seconds": {
            "groups": table.bind(0, "subsets", "1").listed,
            "wall": [
                float(np.min([wall for wall, _ in times])),
                float(np.median([wall for wall, _ in times])),
            ],
            "processor": [
                float(quantile)
                for quantile in np.quantile([processor for _, processor in times], [0, 0.5, 1])
            ],
        },
    }


def summed(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return means over all records, and over those that are not hard."""
    clear = [line for line in lines if not line["hard"]]

    def mean(some: list[dict[str, Any]], name: str) -> float | None:
        return float(np.mean([line[name] for line in some])) if some else None

    figures = {name: mean(lines, name) for name in ("named", "right", "margin", "population")}
    apart = {f"clear {name}": mean(clear, name) for name in ("named", "right", "margin", "population")}
    return {"number": len(lines), "hard": len(lines) - len(clear), **figures, **apart}


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, help="the folder of the salary file")
    parser.add_argument("--outliers", type=int, default=200)
    parser.add_argument("--ordinary", type=int, default=200)
    parser.add_argument("--most", type=int, default=2000, help="records to look at")
    parser.add_argument("--steps", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    table = Salaries(reduced_salary() if given.data is None else salary(given.data), given.steps)
    report = measure(table, given.outliers, given.ordinary, given.most, given.seed)
    report["load"] = os.getloadavg()
    if given.json:
        print(json.dumps(report, indent=1))
        return
    shown = Table(*("list", "ε", "records", "number", "hard", "named", "right", "margin", "population"))
    for line in report["figures"]:
        means = [line[name] for name in ("named", "right", "margin", "population")]
        apart = [line[f"clear {name}"] for name in ("named", "right", "margin", "population")]
        for label, number, row in (
            ("", line["number"], means),
            (", clear", line["number"] - line["hard"], apart),
        ):
            cells = ["-" if value is None else f"{value:.3f}" for value in row]
            shown.add_row(
                line["list"], line["epsilon"], line["records"] + label, str(number), str(line["hard"]), *cells
            )
    Console().print(shown)
    print("all subsets:", report["seconds"], "load", report["load"])


if __name__ == "__main__":
    main()

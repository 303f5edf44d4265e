# SPDX-License-Identifier: Apache-2.0
"""How fast a record is judged in all 4,194,304 contexts, beside one context after the other in the same run.

    python benchmarks/explain_kernels.py [--json] [--records 51000 510000] [--sample 20]

The table is synthetic: three attributes of 9, 8 and 8 values and a salary in cents. Two records are judged,
one far in the tail and the median. The naive cost is measured on random contexts: choose the rows, then call
the plain detector, or scikit-learn's LocalOutlierFactor, on their values. Every kernel is called once before
it is timed, so compilation (some seconds, once per installation) is not in the figures; nor is the summary,
the engine's work. Each figure is the best of the repeats; processor seconds divided by the cores say what a
quiet machine would need.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.neighbors import LocalOutlierFactor as SklearnLocalOutlierFactor

from anonymaly.core.arrays import Integers
from anonymaly.detectors import Detector, Grubbs, Histogram, LocalOutlierFactor
from anonymaly.noise import Noise
from anonymaly.questions.explain.kernels import kernel_type
from anonymaly.questions.explain.kernels.kernel import Kernel
from anonymaly.questions.explain.kernels.populations import populations, totals
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings
from anonymaly.questions.explain.space import ContextSpace

SIZES = (9, 8, 8)
DETECTORS = [LocalOutlierFactor(), Grubbs(), Histogram()]


def best_time(action: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Return the least wall-clock and the least processor seconds."""
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        action()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def make_table(records: int) -> tuple[Integers, Integers]:
    """Return cells and salaries, in the order of the salaries."""
    generator = np.random.default_rng(0)
    attributes = np.stack([generator.integers(0, size, records) for size in SIZES])
    salaries = np.exp(generator.normal(11.7, 0.25, records)) * (
        1 + 0.05 * attributes[0] + 0.03 * attributes[1]
    )
    salaries[attributes[1] == 3] *= 0.8
    order = np.argsort(salaries)
    cells = np.ravel_multi_index(tuple(attributes), SIZES)
    return cells[order].astype(np.int64), np.round(salaries[order] * 100).astype(np.int64)


def make_kernel(
    detector: Detector, space: ContextSpace, cells: Integers, values: Integers, at: int
) -> Kernel[Any, Any]:
    """Summarise the other records of each cell, and hand the summary over."""
    kind, value = kernel_type(detector), int(values[at])
    cells, values = np.delete(cells, at), np.delete(values, at)
    order = np.lexsort((values, cells))
    summary = kind.needs(detector).of(cells[order], values[order], value, space.cells)
    return kind(space, summary, detector)


def naive_cost(
    judge: Callable[[Integers, int], object], space: ContextSpace, cells: Integers, values: Integers, at: int,
    contexts: Integers,
) -> float:  # fmt: skip
    """Return the mean seconds for one context."""
    attributes = np.stack(np.unravel_index(cells, SIZES))
    start = time.perf_counter()
    for context in contexts:
        inside = np.ones(len(cells), dtype=np.bool_)
        for mask, size, column in zip(space.masks(int(context)), SIZES, attributes, strict=True):
            inside &= np.array([mask >> value & 1 == 1 for value in range(size)])[column]
        judge(values[inside], int(np.count_nonzero(inside[:at])))
    return (time.perf_counter() - start) / len(contexts)


def scikit_learn(values: Integers, position: int) -> bool:
    model = SklearnLocalOutlierFactor(n_neighbors=min(20, len(values) - 1)).fit(
        values[:, None].astype(np.float64)
    )
    return bool(-model.negative_outlier_factor_[position] > 1.5)


class Searched:
    """A breadth-first search with its blind starts and 50 visits, after the summary."""

    def __init__(self, space: ContextSpace, kernel: Kernel[Any, Any], counts: Integers, start: int) -> None:
        self.free_bits, self.valid = space.free_bits, kernel.valid_at
        self._settings = SearchSettings(start=start)
        self._space, self._counts = space, counts

    def utility(self, contexts: Integers) -> Integers:
        return totals(self._space, contexts, self._counts)

    def run(self) -> None:
        search = SEARCHES["breadth_first"]
        rate = search.rate(200_000_000, self._settings, adjacency="add_remove")
        search.run(self, self._settings, rate=rate, noise=Noise.system())


def measure(records: int, sample: int, repeats: int) -> list[dict[str, Any]]:
    cells, values = make_table(records)
    rows = []
    generator = np.random.default_rng(1)
    for record, at in (("tail", records - records // 1275), ("median", records // 2)):
        space = ContextSpace(SIZES, tuple(int(digit) for digit in np.unravel_index(int(cells[at]), SIZES)))
        contexts = generator.integers(0, space.size, sample)
        counts = np.bincount(cells, minlength=space.cells)
        wall, processor = best_time(lambda space=space, counts=counts: populations(space, counts), repeats)  # type: ignore[misc]
        rows.append({"what": "populations", "records": records, "record": record, "seconds": wall,
                     "processor seconds": processor})  # fmt: skip
        for detector in DETECTORS:
            kernel = make_kernel(detector, space, cells, values, at)
            verdicts = kernel.valid()
            wall, processor = best_time(kernel.valid, repeats)
            plain = naive_cost(detector.is_outlier, space, cells, values, at, contexts)
            # From a valid context if there is one, as in the paper; without any the answer is nothing.
            search = Searched(space, kernel, counts, int(np.argmax(verdicts)))
            search.run()
            few, _ = best_time(search.run, 3)
            row = {
                "what": detector.name, "records": records, "record": record, "seconds": wall,
                "processor seconds": processor, "valid": int(verdicts.sum()), "contexts": space.size,
                "naive seconds per context": plain, "times naive": plain * space.size / wall,
                "breadth first seconds": few,
            }  # fmt: skip
            agrees = [detector.is_outlier(*of_context(space, cells, values, at, int(i))) for i in contexts]
            assert agrees == verdicts[contexts].tolist()
            if isinstance(detector, LocalOutlierFactor):
                peer = naive_cost(scikit_learn, space, cells, values, at, contexts[: max(3, sample // 4)])
                row |= {
                    "scikit-learn seconds per context": peer,
                    "times scikit-learn": peer * space.size / wall,
                }
            rows.append(row)
    return rows


def of_context(
    space: ContextSpace, cells: Integers, values: Integers, at: int, index: int
) -> tuple[Integers, int]:
    inside = space.members(index)[0][cells]
    return values[inside], int(np.count_nonzero(inside[:at]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, nargs="+", default=[51_000, 510_000])
    parser.add_argument("--sample", type=int, default=20, help="contexts on which the naive cost is measured")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    rows = [row for records in options.records for row in measure(records, options.sample, options.repeats)]
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "load before": load, "rows": rows}))
        return
    table = Table(
        title=f"all contexts of 9·8·8 values, {os.cpu_count()} cores, load before {load:.1f}; compiled before"
    )
    for column in ("what", "records", "V", "seconds", "processor s", "valid", "naive ms/context", "× naive",
                   "scikit-learn ms", "× scikit-learn", "breadth first ms"):  # fmt: skip
        table.add_column(column, justify="left" if column in {"what", "V"} else "right")
    for row in rows:
        table.add_row(
            row["what"], f"{row['records']:,}", row["record"],
            f"{row['seconds']:.3f}", f"{row['processor seconds']:.3f}",
            *(shown(row, key, scale) for key, scale in (
                ("valid", 1), ("naive seconds per context", 1000), ("times naive", 1),
                ("scikit-learn seconds per context", 1000), ("times scikit-learn", 1),
                ("breadth first seconds", 1000),
            )),
        )  # fmt: skip
    Console(width=150).print(table)


def shown(row: dict[str, Any], key: str, scale: float) -> str:
    if key not in row:
        return ""
    number = row[key] * scale
    return f"{number:,.2f}" if isinstance(number, float) and number < 100 else f"{number:,.0f}"


if __name__ == "__main__":
    main()

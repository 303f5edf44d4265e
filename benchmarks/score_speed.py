# SPDX-License-Identifier: Apache-2.0
"""How fast scores are: fit and score beside PyOD's KNN, thirty columns, and a hundred million reference rows.

    python benchmarks/score_speed.py [--json] [--rows 100000000] [--whole]

Models are made by `simulate`, which runs the stages of the question on DuckDB; every kernel is called once
before it is timed, so compilation (some seconds, once per installation) is not in the figures. PyOD's KNN
also scores all reference rows when it is fitted, which takes many minutes: unless --whole is given its time
is that of building its tree plus that of as many queries, measured on a sample of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pyarrow as pa
from pyod.models.knn import KNN
from rich.console import Console
from rich.table import Table
from sklearn.neighbors import NearestNeighbors

import anonymaly as am

NEIGHBOURS = 5
REFERENCE, COLUMNS, QUERIES = 1_000_000, 8, 100_000
SAMPLE = 2_000  # queries that PyOD's speed is measured on
WIDE = 30
GROWTH_COLUMNS = 4
PEERS = ("anonymaly", "pyod", "scikit-learn", "duckdb", "ibis-framework", "numpy", "numba")


def clusters(rows: int, columns: int, seed: int) -> np.ndarray:
    """Ten clusters in the unit cube, where neighbours are easier to find than in noise."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).uniform(0.2, 0.8, (10, columns))
    points = centres[random.integers(0, 10, rows)] + 0.05 * random.standard_normal((rows, columns))
    return np.clip(points, 0, 1)


def declared(table: Any, columns: int, high: float = 1.0) -> am.Dataset:
    bounds = {f"c{number}": am.Interval(0, high) for number in range(columns)}
    return am.Dataset(table, name="reference", columns=bounds, public=True)


def frame(points: np.ndarray) -> pa.Table:
    return pa.table({f"c{number}": points[:, number] for number in range(points.shape[1])})


def asked(columns: int, rows: int, **options: Any) -> Any:
    return am.Score(columns=[f"c{number}" for number in range(columns)], rows=rows, epsilon=1, **options)


def timed(action: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    value = action()
    return time.perf_counter() - start, value


def beside_pyod(whole: bool) -> dict[str, Any]:
    reference, queries = clusters(REFERENCE, COLUMNS, 1), clusters(QUERIES, COLUMNS, 2)
    data = declared(frame(reference), COLUMNS)
    found: dict[str, Any] = {"reference": REFERENCE, "columns": COLUMNS, "queries": QUERIES}
    for method in ("marginals", "grid"):
        query = asked(COLUMNS, REFERENCE, method=method)
        am.simulate(query, data, seed=0).value.score(queries[:10])  # compiles
        fit, answer = timed(lambda query=query: am.simulate(query, data, seed=1))
        score, _ = timed(lambda answer=answer: answer.value.score(queries))
        found[method] = {"fit": fit, "score": score, "total": fit + score}
    found["pyod"] = pyod_whole(reference, queries) if whole else pyod_sampled(reference, queries)
    for method in ("marginals", "grid"):
        found[method]["times_faster"] = found["pyod"]["total"] / found[method]["total"]
        queries_only = (
            found["pyod"]["build"] + found["pyod"]["score"] if not whole else found["pyod"]["total"]
        )
        found[method]["times_faster_without_pyods_scores_of_reference_rows"] = (
            queries_only / found[method]["total"]
        )
    return found


def pyod_whole(reference: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    fit, model = timed(lambda: KNN(n_neighbors=NEIGHBOURS, n_jobs=-1).fit(reference))
    score, _ = timed(lambda: model.decision_function(queries))
    return {"fit": fit, "score": score, "total": fit + score, "extrapolated": False}


def pyod_sampled(reference: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    """Time what PyOD does inside: scikit-learn's neighbours, with PyOD's parameters."""
    model = KNN(n_neighbors=NEIGHBOURS, n_jobs=-1)
    inside: NearestNeighbors = model.neigh_
    build, _ = timed(lambda: inside.fit(reference))
    seconds, _ = timed(lambda: inside.kneighbors(queries[:SAMPLE], n_neighbors=NEIGHBOURS))
    fit, score = build + seconds / SAMPLE * len(reference), seconds / SAMPLE * len(queries)
    return {
        "fit": fit, "score": score, "total": fit + score, "build": build,
        "extrapolated": True, "sample": SAMPLE,
    }  # fmt: skip


def thirty_columns() -> list[dict[str, Any]]:
    reference, queries = clusters(100_000, WIDE, 3), clusters(200_000, WIDE, 4)
    data = declared(frame(reference), WIDE)
    rows = []
    for name, options in {
        "marginals": {"method": "marginals"},
        "marginals, with pairs": {"method": "marginals", "pair_bins": 8},
        "grid, two cells an axis": {"method": "grid", "cells": 2},
    }.items():
        model = am.simulate(asked(WIDE, len(reference), **options), data, seed=0).value
        model.score(queries[:10])
        number = len(queries) if "grid" not in name else len(queries) // 10
        seconds, _ = timed(lambda model=model, number=number: model.score(queries[:number]))
        rows.append({"model": name, "columns": WIDE, "queries": number, "per_second": number / seconds})
    return rows


def growth(most: int) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in (most // 100, most // 10, most):
            path = Path(folder) / "reference.parquet"
            made, _ = timed(lambda number=number, path=path: generate(number, path))
            disk = path.stat().st_size
            data = declared(ibis.duckdb.connect().read_parquet(path), GROWTH_COLUMNS, 65_535)
            for method in ("marginals", "grid"):
                seconds, _ = timed(
                    lambda data=data, number=number, method=method: am.simulate(
                        asked(GROWTH_COLUMNS, number, method=method), data, seed=0
                    )
                )
                rows.append(
                    {
                        "rows": number,
                        "columns": GROWTH_COLUMNS,
                        "method": method,
                        "fit": seconds,
                        "rows_per_second": number / seconds,
                        "generated_in": made,
                        "bytes": disk,
                    }
                )
            path.unlink()
    return rows


def generate(rows: int, path: Path) -> None:
    """Write rows that follow from their number: sums of two hashes, so that the middle is denser."""
    columns = ", ".join(
        f"((hash(i * 2 + {number * 1000003}) % 32768) + (hash(i * 3 + {number * 7919}) % 32768))::USMALLINT "
        f"AS c{number}"
        for number in range(GROWTH_COLUMNS)
    )
    statement = f"COPY (SELECT {columns} FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)"  # noqa: S608
    with duckdb.connect() as connection:
        connection.execute(statement)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000_000, help="of the largest reference table")
    parser.add_argument("--whole", action="store_true", help="let PyOD run to its end")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "versions": {name: version(name) for name in PEERS},
        "beside_pyod": beside_pyod(given.whole),
        "thirty_columns": thirty_columns(),
        "growth": growth(given.rows),
    }
    if given.json:
        print(json.dumps(found, indent=2))
        return
    show(found)


def show(found: dict[str, Any]) -> None:
    console = Console()
    console.print(found["versions"], found["machine"])
    peer = found["beside_pyod"]
    table = Table(
        title=f"{peer['reference']:,} × {peer['columns']} reference rows, {peer['queries']:,} queries"
    )
    for head in ("", "fit", "score", "total", "times faster", "without PyOD's scores of reference rows"):
        table.add_column(head)
    for name in ("marginals", "grid", "pyod"):
        row = peer[name]
        faster = [row.get("times_faster"), row.get("times_faster_without_pyods_scores_of_reference_rows")]
        said = f"{name} (extrapolated)" if row.get("extrapolated") else name
        table.add_row(
            said,
            *(f"{row[part]:.2f} s" for part in ("fit", "score", "total")),
            *("" if times is None else f"{times:.1f}" for times in faster),
        )
    console.print(table)
    for row in found["thirty_columns"]:
        console.print(f"{row['model']}, {row['columns']} columns: {row['per_second']:,.0f} rows a second")
    for row in found["growth"]:
        console.print(
            f"{row['method']}: {row['rows']:,} × {row['columns']} rows in {row['fit']:.1f} s, "
            f"{row['rows_per_second']:,.0f} rows a second"
        )


if __name__ == "__main__":
    main()

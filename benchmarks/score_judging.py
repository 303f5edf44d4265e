# SPDX-License-Identifier: Apache-2.0
"""How well scores rank odd records: the private methods beside 5-NN, IForest, ECOD and HBOS of PyOD.

    python benchmarks/score_judging.py --data DIR [--half tuning|judging|both] [--seeds 3] [--json]

Sixty per cent of the records are the reference, the others are scored; *contaminated* references hold their
part of the outliers, *clean* ones none. AUROC and average precision are means over seeds. Each column's
extremes count as public bounds and its values as declared categories, as in the literature; the number of
records does, too (`rows=`). PyOD's detectors get categories as codes and missing values as the column's mean:
they take neither. `score_sets.py` says which tables are for tuning and which for judging; the half that is
judged is reported apart.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from score_sets import CATEGORICAL, JUDGING, TUNING
from sklearn.metrics import average_precision_score, roc_auc_score

import anonymaly as am

EPSILONS = ("0.1", "0.3", "1", "3")
REFERENCE = 0.6
MOST_ROWS = 10_000  # of a table; more would only take longer
MOST_OUTLIERS = 0.1  # of a table, where its outliers are a whole class
PEERS = ("5-NN", "IForest", "ECOD", "HBOS")
PRIVATE: dict[str, dict[str, Any]] = {
    "mixed": {},
    "mixed, equal bins": {"adaptive": False},
    "marginals": {"method": "marginals"},
}
ADULT_LABELS = ("income", "split", "fnlwgt")


@dataclass(frozen=True)
class Labelled:
    """A public table with what is declared of it, and which records are outliers."""

    name: str
    frame: pd.DataFrame
    columns: dict[str, Any]
    outliers: np.ndarray

    def numbers(self) -> np.ndarray:
        """Return the columns as PyOD takes them: codes for categories, means for what is missing."""
        coded = self.frame.apply(
            lambda column: (
                column if pd.api.types.is_numeric_dtype(column) else pd.Series(pd.factorize(column)[0])
            ).to_numpy(np.float64, na_value=np.nan)
        )
        filled = coded.fillna(coded.mean()).fillna(0.0)
        low, high = filled.min(), filled.max()
        return ((filled - low) / (high - low).where(high > low, 1.0)).to_numpy()


def declared(name: str, frame: pd.DataFrame, outliers: np.ndarray) -> Labelled:
    """Declare what a frame holds, and make outliers rare where they are a whole class."""
    random = np.random.default_rng(0)
    odd, usual = np.flatnonzero(outliers), np.flatnonzero(~outliers)
    usual = random.permutation(usual)[: int(MOST_ROWS * (1 - MOST_OUTLIERS))]
    odd = random.permutation(odd)[: max(int(len(usual) * MOST_OUTLIERS / (1 - MOST_OUTLIERS)), 1)]
    kept = np.sort(np.concatenate([usual, odd]))
    frame, columns = frame.iloc[kept].reset_index(drop=True), {}
    for column in frame:
        values = frame[column]
        if pd.api.types.is_numeric_dtype(values):
            low, high = float(values.min()), float(values.max())
            if low < high:
                columns[column] = am.Interval(low, high)
        else:
            frame[column] = values.astype(object).where(values.notna(), None)
            columns[column] = am.Categories(sorted(values.dropna().astype(str).unique()))
    return Labelled(name, frame[list(columns)], columns, outliers[kept])


def load(name: str, folder: Path) -> Labelled:
    """Read one of the tables of `score_sets.py`."""
    if name in ("adult", "census"):
        frame = pd.read_parquet(folder / "adult.parquet")
        frame = frame.apply(
            lambda column: column.astype(str).str.strip() if column.dtype == "category" else column
        )
        frame = frame.replace("?", None)
        odd = (frame["income"] == ">50K").to_numpy()
        if name == "census":
            kept = ["age", "sex", "education", "occupation", "hours_per_week", "capital_gain"]
            return declared(name, frame[kept], odd)
        return declared(name, frame.drop(columns=list(ADULT_LABELS)), odd)
    if name == "lymphography":
        frame = pd.read_parquet(folder / "lymphography.parquet")
        odd = frame["outlier"].to_numpy() == 1
        return declared(name, frame.drop(columns=["class", "outlier"]).astype(str), odd)
    tables = {
        "heart_statlog": ("heart_statlog.parquet", "disease", 1, ()),
        "heart_spectf": ("heart_spectf.parquet", "overall_diagnosis", 0, ()),
        "creditcard": ("creditcard_sample.parquet", "Class", 1, ("uniform_sample", "copies", "Time")),
        "aps_scania": ("aps_scania_sample.parquet", "failure", 1, ("natural_sample",)),
    }
    if name in tables:
        file, label, value, left_out = tables[name]
        frame = pd.read_parquet(folder / file)
        if name == "creditcard":
            frame = frame[frame["uniform_sample"] | (frame["Class"] == 1)]
        odd = (frame[label] == value).to_numpy()
        return declared(name, frame.drop(columns=[label, *left_out]).reset_index(drop=True), odd)
    with np.load(folder / "adbench" / f"{name}.npz", allow_pickle=False) as archive:
        frame = pd.DataFrame(archive["X"].astype(np.float64)).add_prefix("c")
        return declared(name, frame, archive["y"] == 1)


def split(table: Labelled, seed: int, clean: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return which records are the reference, and which are scored."""
    order = np.random.default_rng(seed).permutation(len(table.outliers))
    cut = int(REFERENCE * len(order))
    reference, scored = order[:cut], order[cut:]
    return (reference[~table.outliers[reference]] if clean else reference), scored


def peers(table: Labelled, reference: np.ndarray, scored: np.ndarray, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the scores of PyOD's detectors."""
    from pyod.models.ecod import ECOD  # noqa: PLC0415  (a reason is given where it is missing)
    from pyod.models.hbos import HBOS  # noqa: PLC0415
    from pyod.models.iforest import IForest  # noqa: PLC0415
    from pyod.models.knn import KNN  # noqa: PLC0415

    points = table.numbers()
    made = (KNN(n_neighbors=5), IForest(random_state=seed), ECOD(), HBOS())
    for name, detector in zip(PEERS, made, strict=True):
        yield name, detector.fit(points[reference]).decision_function(points[scored])


def private(
    table: Labelled, reference: np.ndarray, scored: np.ndarray, seed: int
) -> Iterator[tuple[str, Any]]:
    """Yield the scores of the private methods at each ε."""
    data = am.Dataset(table.frame.iloc[reference], name="t", columns=table.columns, public=True)
    new = table.frame.iloc[scored]
    numbers = [name for name, domain in table.columns.items() if isinstance(domain, am.Interval)]
    for name, options in PRIVATE.items():
        of_numbers = options.get("method") == "marginals"
        columns = numbers if of_numbers else list(table.columns)
        if not columns or (of_numbers and new[columns].isna().any(axis=None)):
            continue  # the marginals take neither labels nor missing values
        for epsilon in EPSILONS:
            query = am.Score(columns=columns, rows=len(reference), epsilon=epsilon, **options)
            yield f"{name}, ε {epsilon}", am.simulate(query, data, seed=seed).value.score(new[columns])


def measure(table: Labelled, seeds: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of every score on one table."""
    found: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for clean in (False, True):
        for seed in range(seeds):
            reference, scored = split(table, seed, clean)
            truth = table.outliers[scored]
            scores = [*peers(table, reference, scored, seed), *private(table, reference, scored, seed)]
            for name, score in scores:
                figures = (float(roc_auc_score(truth, score)), float(average_precision_score(truth, score)))
                found.setdefault((name, clean), []).append(figures)
    for (name, clean), figures in found.items():
        auroc, precision = (fmean(part) for part in zip(*figures, strict=True))
        yield {"table": table.name, "score": name, "clean": clean, "auroc": auroc, "ap": precision}


def summary(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the means over the tables of a half, for the scores that were measured on all of them."""
    means = []
    for clean in (False, True):
        of_half = [row for row in rows if row["table"] in names and row["clean"] == clean]
        tables = {row["table"] for row in of_half}
        for score in dict.fromkeys(row["score"] for row in of_half):
            own = [row for row in of_half if row["score"] == score]
            figures = {what: round(fmean(row[what] for row in own), 4) for what in ("auroc", "ap")}
            means.append({"score": score, "clean": clean, "tables": len(own), "of": len(tables), **figures})
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--half", choices=("tuning", "judging", "both"), default="both")
    parser.add_argument("--tables", nargs="*", help="Only these.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    why = None
    if given.data is None or not given.data.is_dir():
        why = "no folder of tables was given: --data DIR, with adbench/*.npz and the raw tables beside it"
    elif importlib.util.find_spec("pyod") is None:
        why = "PyOD is not installed, and the figures are beside its detectors: pip install pyod"
    if why is not None:
        print(json.dumps({"skipped": why}) if given.json else f"skipped: {why}")
        return
    warnings.simplefilter("ignore")
    halves = {"tuning": TUNING, "judging": JUDGING}
    chosen = halves if given.half == "both" else {given.half: halves[given.half]}
    rows: list[dict[str, Any]] = []
    started, load_before = time.monotonic(), os.getloadavg()
    for names in chosen.values():
        for name in names:
            if given.tables and name not in given.tables:
                continue
            found = list(measure(load(name, given.data), given.seeds))
            rows += found
            # Each table's figures as soon as they are there: all of them take an hour.
            print(
                json.dumps({"seconds": round(time.monotonic() - started), "tables": found}), file=sys.stderr
            )
    means = {half: summary(rows, names) for half, names in chosen.items()}
    means |= {
        f"{half}, categorical": summary(rows, tuple(set(names) & set(CATEGORICAL)))
        for half, names in chosen.items()
    }
    machine = {"seeds": given.seeds, "cores": os.cpu_count(), "load": [load_before, os.getloadavg()]}
    if given.json:
        print(json.dumps({"machine": machine, "means": means, "tables": rows}, indent=1))
        return
    for half, lines in means.items():
        print(f"\n{half}")
        for line in lines:
            kind = "clean" if line["clean"] else "contaminated"
            shown = f"AUROC {line['auroc']:.3f}  AP {line['ap']:.3f}"
            print(f"  {kind:13} {line['score']:26} {shown}  ({line['tables']} of {line['of']} tables)")
    print(machine)


if __name__ == "__main__":
    main()

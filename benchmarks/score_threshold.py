# SPDX-License-Identifier: Apache-2.0
"""How many records a free threshold flags, where one in twenty is wanted, by n·ε for each column.

    python benchmarks/score_threshold.py --data DIR [--seeds 9] [--json]

The threshold is the quantile of points drawn from the released model. The records that are flagged are the
reference's own, on the tables for tuning of `score_sets.py`: least, median and most over seeds.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from score_judging import load
from score_sets import TUNING

import anonymaly as am

EPSILONS = ("0.3", "1", "3", "10")
WANTED = "0.05"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.data is None or not given.data.is_dir():
        why = "no folder of tables was given: --data DIR, with adbench/*.npz and the raw tables beside it"
        print(json.dumps({"skipped": why}) if given.json else f"skipped: {why}")
        return
    warnings.simplefilter("ignore")
    for name in TUNING:
        table = load(name, given.data)
        columns, rows = list(table.columns), len(table.frame)
        data = am.Dataset(table.frame, name="t", columns=table.columns, public=True)
        for epsilon in EPSILONS:
            query = am.Score(columns=columns, contamination=WANTED, rows=rows, epsilon=epsilon)
            models = [am.simulate(query, data, seed=seed).value for seed in range(given.seeds)]
            shares = [float(model.is_unusual(table.frame).mean()) for model in models]
            each = rows * float(epsilon) / len(columns)
            found = [round(part, 3) for part in (min(shares), float(np.median(shares)), max(shares))]
            if given.json:
                print(json.dumps({"table": name, "epsilon": epsilon, "each": each, "flagged": found}))
            else:
                print(
                    f"{name:14} ε {epsilon:4} n·ε for each column {each:8,.0f}  flagged {found}", flush=True
                )


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Train a classifier on a one-sided sample: does it know what one trained on all records knows?

    python examples/learn_on_a_sample.py

Records of the census that comes with the package; whoever is under 25 counts as sensitive.
The owner publishes a sample of the others once, for ε = 1. Whatever is trained on it afterwards is free.
It needs scikit-learn: pip install "anonymaly[estimators]".
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import anonymaly as am

NUMBERS, WORDS = ["age", "hours_per_week", "capital_gain"], ["sex", "education", "occupation"]


def train(rows: pd.DataFrame) -> Pipeline:
    """Learn who earns more than 50,000 dollars."""
    prepare = make_column_transformer(
        (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), WORDS)
    )
    model = make_pipeline(prepare, LogisticRegression(max_iter=500))
    return model.fit(rows[NUMBERS + WORDS], rows["income"] == ">50K")


def judge(model: Pipeline, rows: pd.DataFrame) -> float:
    """Return how often the model puts a richer and a poorer person in the right order."""
    chances = model.predict_proba(rows[NUMBERS + WORDS])[:, 1]
    return float(roc_auc_score(rows["income"] == ">50K", chances))


def main() -> None:
    records = am.datasets.census(public=True).table.to_pandas()
    apart = records.index % 4 == 0  # public, so that everybody can judge: every fourth record
    judged = records[apart]
    census = am.Dataset(
        records[~apart],
        name="census",
        columns=am.datasets.CENSUS_COLUMNS,
        rules={"older": am.Policy("age >= 25")},
    )
    query = am.ShareSample(policy="older", columns=[*NUMBERS, *WORDS, "income"], epsilon=1)
    with tempfile.TemporaryDirectory() as folder:
        curator = am.Curator(census, budget=1, ledger=Path(folder) / "census.ledger")
        sample = curator.ask(query).value.to_pandas()
    print(f"{len(sample):,} of {len(records[~apart]):,} records are in the sample; charged: ε = 1")
    harmless = records[~apart & (records["age"] >= 25)]
    for name, rows in (("the sample", sample), ("all from 25 on", harmless), ("all", records[~apart])):
        print(f"trained on {name:15} AUC {judge(train(rows.dropna()), judged.dropna()):.3f}")
    young = judged[judged["age"] < 25].dropna()
    print(f"of the young alone, who are in no sample: AUC {judge(train(sample.dropna()), young):.3f}")


if __name__ == "__main__":
    main()

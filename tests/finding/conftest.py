# SPDX-License-Identifier: Apache-2.0
"""A table in which one kind of record is odd, and an account for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anonymaly as am

COLUMNS = {
    "pay": am.Interval(0, 1000),
    "job": am.Categories(["Nurse", "Doctor", "Clerk"]),
    "night": am.Flag(),
    "hired": am.Timestamps("2020-01-01", "2024-12-31"),
    "id": am.Opaque(),
}
ODD = {"pay": 900.0, "job": "Nurse", "night": True, "hired": "2022-05-01", "id": "x"}
USUAL = {"pay": 105.0, "job": "Nurse", "night": False, "hired": "2021-05-01", "id": "y"}

Open = Callable[..., am.Curator]


def table() -> pd.DataFrame:
    random = np.random.default_rng(3)
    days = random.integers(0, 1800, 3000)
    return pd.DataFrame(
        {
            "pay": random.normal(100, 10, 3000).round(1),
            "job": random.choice(["Nurse", "Doctor", "Clerk"], 3000),
            "night": random.random(3000) < 0.4,
            "hired": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D"),
            "id": [f"p{number}" for number in range(3000)],
        }
    )


@pytest.fixture
def open_account(tmp_path: Path) -> Open:
    def open_account(budget: float = 10, **options: object) -> am.Curator:
        dataset = am.Dataset(table(), name="staff", columns=COLUMNS, key="id", **options)
        return am.Curator(dataset, budget=budget, ledger=tmp_path / "staff.ledger")

    return open_account


@pytest.fixture
def odd_records() -> pd.DataFrame:
    return pd.DataFrame([{**ODD, "pay": pay} for pay in (900.0, 700.0, 500.0)])


@pytest.fixture
def records() -> pd.DataFrame:
    return pd.DataFrame([USUAL, ODD, {**USUAL, "pay": 96.0}])

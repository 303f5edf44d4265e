# SPDX-License-Identifier: Apache-2.0
"""A small table and an account for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from tests.ask.persons import patients


@pytest.fixture
def frame() -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "age": [30, 17, 45, 80, 62, 9],
            "ward": ["A", "B", "A", "C", "C", "A"],
            "consent": [True, True, False, True, False, True],
            "patient": ["p1", "p2", "p1", "p3", "p1", "p4"],
        }
    )


@pytest.fixture
def declare(frame: pandas.DataFrame) -> Callable[..., am.Dataset]:
    def declare(**options: Any) -> am.Dataset:
        declared: dict[str, Any] = {
            "name": "patients",
            "columns": {
                "age": am.Interval(0, 120),
                "ward": am.Categories(["A", "B", "C"]),
                "consent": am.Flag(),
            },
            "rules": {"adults": am.Policy("age >= 18 and consent")},
            **options,
        }
        return am.Dataset(declared.pop("source", frame), **declared)

    return declare


@pytest.fixture
def open_curator(tmp_path: Path, declare: Callable[..., am.Dataset]) -> Callable[..., am.Curator]:
    def open_curator(dataset: am.Dataset | None = None, **options: Any) -> am.Curator:
        return am.Curator(
            dataset or declare(), **{"budget": 2, "ledger": tmp_path / "patients.ledger", **options}
        )

    return open_curator


@pytest.fixture
def open_account(open_curator: Callable[..., am.Curator]) -> Callable[..., None]:
    """Ask the smallest question, which opens the account."""

    def open_account(dataset: am.Dataset | None = None, **options: Any) -> None:
        curator = open_curator(dataset, **options)
        curator.ask(am.Count(epsilon="0.000000001"))
        curator.close()

    return open_account


@pytest.fixture
def open_patients(tmp_path: Path) -> Callable[..., am.Curator]:
    """Open an account of the persons whom questions can be about."""

    def open_patients(**options: Any) -> am.Curator:
        return am.Curator(patients(), **{"budget": 10, "ledger": tmp_path / "patients.ledger", **options})

    return open_patients

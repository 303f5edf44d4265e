# SPDX-License-Identifier: Apache-2.0
"""Every test here runs once for each question in the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymaly import Curator
from anonymaly.query import Example, Query, load_question
from anonymaly.questions import QUESTIONS


@pytest.fixture(params=list(QUESTIONS))
def kind(request: pytest.FixtureRequest) -> type[Query]:
    return load_question(request.param, QUESTIONS)


@pytest.fixture
def example(kind: type[Query]) -> Example:
    return kind.example()


@pytest.fixture(params=["add_remove", "replace"])
def adjacency(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def open_curator(tmp_path: Path, example: Example) -> Callable[..., Curator]:
    def open_curator(folder: str = "ledger", records: Any = None, **options: Any) -> Curator:
        (tmp_path / folder).mkdir(exist_ok=True)
        account = {"budget": 10, "ledger": tmp_path / folder / "example.ledger", **options}
        return Curator(example.dataset(records), **account)

    return open_curator

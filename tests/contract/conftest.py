# SPDX-License-Identifier: Apache-2.0
"""Every test here runs once for each question in the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymaly import Curator
from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.ask.query import Example, Query

# Each question in each of its forms; the first has the question's own name. `make quick` asks count alone.
FORMS = [
    pytest.param(
        (question, place),
        id=question if place == 0 else f"{question}-{place}",
        marks=() if question == "count" else pytest.mark.slow,
    )
    for question in QUESTIONS
    for place in range(len(load(question).examples()))
]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> tuple[str, int]:
    found: tuple[str, int] = request.param
    return found


@pytest.fixture
def kind(form: tuple[str, int]) -> type[Query]:
    return load(form[0])


@pytest.fixture
def example(kind: type[Query], form: tuple[str, int]) -> Example:
    return kind.examples()[form[1]]


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

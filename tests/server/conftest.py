# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.places import Place


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A served folder, with the ledger and the shared tables in SQLite or in PostgreSQL."""
    address = request.getfixturevalue("postgres") if request.param == "postgres" else None
    made = Place.make(tmp_path / "served", address)
    yield made
    made.state.close()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    """The same in SQLite alone, where the database makes no difference."""
    made = Place.make(tmp_path / "served", None)
    yield made
    made.state.close()

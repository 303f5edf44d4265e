# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly.ledger import Account, Ledger
from tests.ledger.intruder import raw_engine

NANO = 10**9


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    return str(tmp_path / "data.ledger")


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def ledger(location: str) -> Iterator[Ledger]:
    with Ledger.open(location) as opened:
        yield opened


@pytest.fixture
def account(ledger: Ledger) -> Account:
    return ledger.open_account("patients", {"columns": {"age": [0, 120]}}, limit=NANO, rules={})


@pytest.fixture
def execute(location: str) -> Callable[[str], Any]:
    engine = raw_engine(location)

    def run(statement: str) -> Any:
        with engine.begin() as connection:
            result = connection.execute(sa.text(statement))
            return result.all() if result.returns_rows else result.rowcount

    return run

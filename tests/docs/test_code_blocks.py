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
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from anonymaly.ask.query import Query
from anonymaly.declare.manifest import Manifest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "src/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if "```" in path.read_text("utf-8")
)
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
    return re.sub(r"[─\s]+", " ", line).strip()


def _agree(expected: list[str], printed: list[str]) -> bool:
    """Compare masked lines, where ``...`` stands for any number of them."""
    pattern = "".join(
        ".*" if line == "..." else re.escape(line) + "\n" for line in map(_mask, expected) if line
    )
    text = "".join(f"{line}\n" for line in map(_mask, printed) if line)
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _run_console(text: str, folder: Path) -> None:
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
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _prepare(tmp_path, page)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    printed = io.StringIO()
    for language, text in _blocks(page):
        match language:
            case "python":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(text, str(page.relative_to(ROOT)), "exec"), names)  # noqa: S102
            case "text":  # what the block of Python before it prints
                assert _agree(text.splitlines(), printed.getvalue().splitlines()), printed.getvalue()
            case "console":
                _run_console(text, tmp_path)
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
@pytest.mark.parametrize("script", ["command_line.py", "question_fields.py", "choosing.py"])
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

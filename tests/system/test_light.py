# SPDX-License-Identifier: Apache-2.0
"""Whoever needs no rows does not wait for an engine.

Declarations, previews, statements and the ledger's command import neither Ibis, DuckDB nor numba.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymaly import Curator
from anonymaly.ask.catalogue import QUESTIONS, load

DECLARE = Path(__file__).parents[2] / "src" / "anonymaly" / "declare"
HEAVY = {"ibis", "duckdb", "sqlglot", "numba", "pandas", "pyarrow", "polars"}
ENGINE = {"ibis", "duckdb", "sqlglot", "numba"}  # what takes seconds to import
MANIFEST = """\
name: patients
source: t.csv
columns:
  age: {type: interval, low: 0, high: 120}
  consent: {type: flag}
rules:
  adults: {type: policy, text: age >= 18 and consent}
budget: 1
adjacency: replace
"""
DECLARING = """
from pathlib import Path
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval
from anonymaly.declare.manifest import Manifest
columns = {"age": Interval(0, 120)}
Dataset("t.csv", name="patients", columns=columns)
Dataset("postgresql://nobody@nowhere/db", table="t", name="patients", columns=columns)
Dataset("duckdb://nowhere.db", table="t", name="patients", columns=columns)
manifest = Manifest.load("t.yaml")
dataset = manifest.dataset(Path())
assert manifest.declaration() == dataset.with_adjacency("replace")
assert dataset.declaration.rules["adults"].sensitive({"age": 8}, dataset.declaration.columns)
"""


def heavy_after(code: str, folder: Path) -> set[str]:
    """Which heavy modules a new process has imported after running the code."""
    report = "import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()) & HEAVY


def test_declaring_a_table_imports_no_engine(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,consent\n30,true\n")
    (tmp_path / "t.yaml").write_text(MANIFEST)
    assert heavy_after(DECLARING, tmp_path) == set()
    # The same look notices what a question's first view imports.
    assert heavy_after(f"{DECLARING}\ndataset.table", tmp_path) >= {"ibis", "duckdb"}


def test_no_module_of_declarations_but_readings_imports_an_engine(tmp_path: Path) -> None:
    modules = sorted(path.stem for path in DECLARE.glob("*.py") if path.stem not in ("__init__", "readings"))
    assert len(modules) > 8
    lines = [f"import anonymaly.declare.{module}" for module in modules]
    assert heavy_after("\n".join([*lines, "import anonymaly.promise"]), tmp_path) == set()


PLAN = """
import json
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
curator = Curator.open("example.yaml")
for text in json.load(open("queries.json")):
    plan = curator.plan(Query.from_json(text), for_error=0.9)
    assert str(plan) and plan.svg() and plan.to_dict()["wanted"] == 0.9
assert str(curator.accountant.in_words())
"""
PREVIEW = """
import json
from anonymaly.ask.curator import Curator
from anonymaly.ask.query import Query
curator = Curator.open("example.yaml")
for text in json.load(open("queries.json")):
    preview = curator.preview(Query.from_json(text))
    assert str(preview) and preview.to_dict()["cost"] == text["epsilon"]
assert str(curator.statement())
"""
PROGRAM = """
import sys
from anonymaly.cli.main import run
sys.argv = ["anonymaly", *{arguments}]
try:
    run()
except SystemExit as end:
    assert not end.code, end.code
"""


PRINTS_MODULES = "\nimport sys; print(*sys.modules)"


def write_example(question: str, folder: Path, budget: str = "100") -> list[dict[str, Any]]:
    """Write a manifest under which all forms of a question can be previewed; its table is an empty file."""
    examples = load(question).examples()
    first = examples[0]
    manifest = {
        "name": "example",
        "source": "example.csv",
        "columns": {name: domain.to_dict() for name, domain in first.columns.items()},
        "rules": {name: rule.to_dict() for name, rule in first.rules.items()},
        "budget": budget,
        **({} if first.person is None else {"person": first.person, "max_rows": first.max_rows}),
    }
    (folder / "example.csv").touch()
    (folder / "example.yaml").write_text(yaml.safe_dump(manifest), "utf-8")
    queries = [item.query.to_dict() for item in examples if item.columns == first.columns and item.query.kept]
    (folder / "queries.json").write_text(json.dumps(queries), "utf-8")
    return queries


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_preview_and_a_statement_import_no_engine(question: str, tmp_path: Path) -> None:
    assert write_example(question, tmp_path)
    assert heavy_after(PREVIEW, tmp_path) & ENGINE == set()


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "explain"])
def test_a_plan_imports_no_engine(question: str, tmp_path: Path) -> None:
    assert write_example(question, tmp_path)
    assert heavy_after(PLAN, tmp_path) & ENGINE == set()


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_the_list_of_commands_and_the_version_import_nothing_but_what_prints_them(
    argument: str, tmp_path: Path
) -> None:
    code = PROGRAM.format(arguments=[argument]) + PRINTS_MODULES
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.splitlines()[-1].split()
    assert not {"numpy", "pydantic", "sqlalchemy", "yaml", "altair", *HEAVY} & set(loaded)
    own = [name for name in loaded if name.startswith("anonymaly.")]
    assert not [
        name
        for name in own
        if not name.startswith(("anonymaly.cli", "anonymaly.core", "anonymaly.ask"))
        and name
        not in ("anonymaly.errors", "anonymaly.version", "anonymaly.engine", "anonymaly.engine.watching")
    ], own


@pytest.mark.slow
def test_the_commands_that_read_no_rows_import_no_engine(tmp_path: Path) -> None:
    write_example("count", tmp_path)
    (tmp_path / "example.csv").write_text("age,ward\n30,A\n")
    query = load("count").example().query
    Curator.open(tmp_path / "example.yaml").ask(query)
    for arguments in (
        ["count", "example.yaml", "--epsilon", "0.1", "--preview", "--json"],
        ["plan", "example.yaml", "count", "--for-error", "20"],
        ["plan", "example.yaml"],
        ["choose", "--asks", "owner", "--protect", "everyone", "--leaves", "model"],
        ["ledger", "example.yaml"],
        ["ledger", "example.yaml", "--verify", "--json"],
    ):
        heavy = heavy_after(PROGRAM.format(arguments=arguments), tmp_path)
        assert heavy & ENGINE == set(), arguments
        # Neither a count's cost nor the ledger needs Arrow or a frame.
        assert heavy == set() or arguments[0] not in ("count", "ledger"), heavy
    # A stored answer needs no table either.
    (tmp_path / "example.csv").write_text("")
    asked = json.dumps(query.to_dict())
    (tmp_path / "query.json").write_text(asked, "utf-8")
    again = PROGRAM.format(arguments=["ask", "example.yaml", "query.json", "--json"])
    assert heavy_after(again, tmp_path) & ENGINE == set()


WEB = """
import sys
import anonymaly.server.web
from anonymaly.server.web import make_document
make_document().openapi()
assert not [name for name in sys.modules if name.startswith("anonymaly.inspect") or name.endswith(".summary")]
"""
SEEN = """
import json
import sys
from anonymaly.ask.query import Query
from anonymaly.ask.seen import preview_for
from anonymaly.declare.manifest import Manifest
from anonymaly.ledger import Allowance
from anonymaly.server import web
declaration = Manifest.load("example.yaml").declaration()
own = Allowance("example", "ann", 10**9, 0)
for text in json.load(open("queries.json")):
    preview = preview_for(declaration, Query.from_json(text), own)
    assert preview.to_dict()["cost"] == text["epsilon"]
assert not [name for name in sys.modules if name.startswith("anonymaly.inspect") or name.endswith(".summary")]
"""


def test_a_web_process_imports_no_engine(tmp_path: Path) -> None:
    assert heavy_after(WEB, tmp_path) == set()


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_an_analyst_sees_before_a_job_imports_no_engine(question: str, tmp_path: Path) -> None:
    assert write_example(question, tmp_path)
    assert heavy_after(SEEN, tmp_path) & ENGINE == set()

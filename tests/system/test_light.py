# SPDX-License-Identifier: Apache-2.0
"""Who needs no rows does not wait for an engine: declarations import neither Ibis nor what lies below it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DECLARE = Path(__file__).parents[2] / "src" / "anonymaly" / "declare"
HEAVY = {"ibis", "duckdb", "sqlglot", "numba", "pandas", "pyarrow", "polars"}
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
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True, cwd=folder
    )
    return set(done.stdout.split()) & HEAVY


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

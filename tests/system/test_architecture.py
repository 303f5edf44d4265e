# SPDX-License-Identifier: Apache-2.0
"""Rules of the house that no type checker knows."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import anonymaly

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "anonymaly"
SOURCES = sorted(PACKAGE.rglob("*.py"))
STUDIES = sorted((ROOT / "studies").rglob("*.py"))
RANDOM = {"random", "secrets", "uuid", "numpy.random", "os.urandom"}
# The ledger draws names for itself and waits of random length, a server draws keys and names of jobs.
MAY_DRAW = {"noise", "audit", "ledger", "server"}
ROW_READERS = {"execute", "to_pyarrow", "to_pandas", "to_polars", "to_pyarrow_batches", "raw_sql"}
ROW_READERS |= {"collect", "collect_batches"}


def _names(path: Path) -> list[str]:
    """Return every dotted name and import in a file."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names.append(ast.unparse(node))
    return names


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).parts[0].removesuffix(".py")


def test_randomness_comes_from_noise_alone() -> None:
    for path in SOURCES + STUDIES:
        drawn = {
            name
            for name in _names(path)
            if any(name == source or name.startswith(f"{source}.") for source in RANDOM)
            or re.search(r"\.random(\.|$)", name)
        }
        assert _part(path) in MAY_DRAW or not drawn, f"{path} draws by {drawn}"


def test_only_summaries_run_statements() -> None:
    modules = [home.partition(":")[0].removeprefix("anonymaly.") for home in _questions().values()]
    folders = {PACKAGE.joinpath(*module.split(".")).parent for module in modules}
    assert all(any(folder.glob("*.py")) for folder in folders)
    for folder in folders:
        for path in folder.rglob("*.py"):
            readers = {name.rpartition(".")[2] for name in _names(path)} & ROW_READERS
            assert path.name in ("summary.py", "inspect.py") or not readers, f"{path} reads rows by {readers}"


def _questions() -> dict[str, str]:
    from anonymaly.ask.catalogue import QUESTIONS

    return QUESTIONS


def test_budget_is_reserved_by_the_curator_and_by_sensors_alone() -> None:
    callers = {
        _part(path)
        for path in SOURCES
        if re.search(r"\.reserve\(", path.read_text("utf-8")) and _part(path) not in ("ledger", "audit")
    }
    assert callers == {"ask", "stream"}


def test_nothing_is_evaluated_or_pickled_but_machine_code_in_a_folder_of_our_own() -> None:
    # numba has no other form for it. The folder is checked first: tests/core/test_code_folder.py.
    machine_code = PACKAGE / "core" / "kept_code.py"
    for path in SOURCES + STUDIES:
        if path == machine_code:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert not called & {"eval", "exec", "compile", "pickle.loads", "pickle.load", "pickle.dumps"}, path
        assert "pickle" not in _names(path), path


def test_every_file_has_its_licence_line() -> None:
    for path in [*SOURCES, *STUDIES, *PACKAGE.rglob("*.pyi"), *(ROOT / "tests").rglob("*.py")]:
        assert path.read_text("utf-8").startswith("# SPDX-License-Identifier: Apache-2.0\n"), path


def test_the_front_door_is_sorted_complete_and_pinned() -> None:
    assert anonymaly.__all__ == sorted(anonymaly.__all__)
    for name in anonymaly.__all__:
        assert getattr(anonymaly, name) is not None
    # The questions' names are those of the table of questions, and the rest of the public face is this.
    questions = {home.partition(":")[2] for home in _questions().values()}
    ours = "Count Explain Identify Lookahead Score ShareHistogram ShareSample"
    assert questions >= set(ours.split())
    assert questions <= set(anonymaly.__all__)
    assert " ".join(name for name in anonymaly.__all__ if name not in questions) == (
        "AnomalyModel AnonymalyError Answer Bins Categories Curator Dataset Dates Flag GridKNN Guarantee "
        "Interval Manifest MarginalHistograms Model OddRecords Opaque Plan Policy Preview PrivateKFold Query "
        "Reading SameContexts "
        "Table Timestamps Unbounded __version__ audit compose connect datasets find identify inspect "
        "read_alike search_cost simulate stream"
    )
    with pytest.raises(AttributeError, match="no attribute"):
        _ = anonymaly.Nonsense


def test_at_the_top_of_the_package_are_its_rooms_and_four_modules() -> None:
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__init__.pyi", "__main__.py", "errors.py", "version.py", "py.typed"}
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert all((PACKAGE / room / "__init__.py").is_file() for room in rooms)


def test_the_import_contracts_have_no_exception() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in settings["contracts"]}
    exceptions = {"ignore_imports", "exhaustive_ignores", "allow_indirect_imports"}
    assert {name for name, contract in contracts.items() if exceptions & set(contract)} == set()
    layers = contracts["imports point one way"]
    assert layers["exhaustive"]
    assert not re.search(r"[():]", " ".join(layers["layers"])), "no layer is optional or open"
    # By a wildcard, so that a new question is held to it without another line.
    assert contracts["question folders do not import each other"]["modules"] == ["anonymaly.questions.*"]


def test_a_class_name_means_one_thing() -> None:
    # A private name belongs to its file, and a nested one to its class.
    homes = defaultdict(list)
    for path in SOURCES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(PACKAGE)))
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}


def test_python_runs_the_program_by_the_packages_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "anonymaly", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"anonymaly {anonymaly.__version__}\n"


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = "{'ibis', 'numba', 'pydantic', 'pandas', 'numpy', 'sklearn', 'sqlalchemy'}"
    code = f"import anonymaly, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.strip() == "[]"

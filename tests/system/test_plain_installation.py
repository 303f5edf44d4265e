# SPDX-License-Identifier: Apache-2.0
"""What works, and what is said, where no extra is installed.

The installation is real but for the copying: beside the standard library Python sees one folder, with
links to the distributions that the package names as its dependencies and to those that they need.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

EVERYTHING = """
import json, sys
import pyarrow
import anonymaly as am
from anonymaly import *

said = {}
def attempt(name, action):
    try:
        said[name] = str(action())
    except am.AnonymalyError as error:
        said[name] = f"{type(error).__name__}: {error}"

def load(name):
    return lambda: __import__(name)

people = pyarrow.table({"age": [30, 31, 29, 30, 31] * 20 + [90], "ward": ["A", "B"] * 50 + ["A"]})
columns = {"age": Interval(0, 120, step=1), "ward": Categories(["A", "B"])}
data = Dataset(people, name="patients", columns=columns, rules={"groups": SameContexts()})
curator = Curator(data, budget=2.0, ledger="patients.ledger")
attempt("count", lambda: curator.ask(Count(where="age >= 60", epsilon=1)).charged)
record = {"age": 90, "ward": "A"}
under = {"detector": "grubbs", "rule": "groups", "epsilon": 1}
grubbs = Explain(record=record, metric="age", attributes=["ward"], **under)
attempt("grubbs", lambda: curator.ask(grubbs).charged)
attempt("GridKNN", lambda: am.GridKNN)
attempt("search_cost", lambda: am.search_cost)
attempt("estimators", load("anonymaly.estimators.grid_knn"))
attempt("pictures", load("anonymaly.pictures.vega.charts"))
attempt("audit", load("anonymaly.audit.fit"))
attempt("programs", load("anonymaly.stream.programs"))
attempt("source", lambda: Dataset("postgresql://u@host/d", table="t", name="patients", columns=columns))
attempt("ledger", lambda: Curator(data, budget=1, ledger="postgresql://u@host/d").ask(Count(epsilon=1)))
column = stream.Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
fields = {"columns": [column], "epsilon": 5, "window": 4, "layer": 2}
for model in ("radius", "neighbours", "isolation_forest"):
    attempt(model, lambda: bool(stream.Declaration(**fields, model=model)))
missing = sorted(set(dir(am)) - set(am.__all__))
heavy = sorted({"scipy", "sklearn", "altair", "cryptography", "aiomqtt"} & set(sys.modules))
print(json.dumps({"said": said, "missing": missing, "heavy": heavy}))
"""


def needed(requirement: Requirement, seen: set[str]) -> Iterator[importlib.metadata.Distribution]:
    """Return a distribution and all that it needs, with the extras that are asked for."""
    for extra in ("", *requirement.extras):
        if (key := f"{canonicalize_name(requirement.name)}[{extra}]") in seen:
            continue
        seen.add(key)
        found = importlib.metadata.distribution(requirement.name)
        yield found
        for text in found.requires or []:
            wanted = Requirement(text)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                yield from needed(wanted, seen)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distributions of a plain installation."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    seen: set[str] = set()
    for text in project["dependencies"]:
        for distribution in needed(Requirement(text), seen):
            for name in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
                if not (folder / name).exists():
                    (folder / name).symlink_to(Path(str(distribution.locate_file(name))))
    return folder


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """Run Python, or with a command's arguments the program, where nothing else is installed."""
    path = os.pathsep.join(map(str, (site, ROOT / "src")))
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "200"}

    def run(*arguments: str, code: str = "from anonymaly.cli.main import run; run()") -> object:
        return subprocess.run(
            # -S: without the packages of the interpreter that runs the tests.
            [sys.executable, "-S", "-c", code, *arguments],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=environment,
        )  # fmt: skip

    return run  # type: ignore[return-value]


@pytest.mark.slow
def test_questions_are_answered_and_each_missing_extra_is_named(run: Run) -> None:
    done = run(code=EVERYTHING)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    needs = {
        "GridKNN": ("GridKNN needs scikit-learn, which is", "estimators"),
        "search_cost": ("search_cost needs scikit-learn, which is", "estimators"),
        "estimators": ("anonymaly.estimators needs scikit-learn, which is", "estimators"),
        "pictures": ("A picture needs altair and vl-convert-python, which are", "report"),
        "audit": ("An audit needs scipy, which is", "audit"),
        "programs": ("A program of a stream needs aiomqtt, cryptography and scipy, which are", "stream"),
        "source": ("A table in PostgreSQL needs psycopg, which is", "postgres"),
        "ledger": ("A ledger in PostgreSQL needs psycopg, which is", "postgres"),
        "neighbours": ("The model neighbours needs scipy, which is", "stream"),
        "isolation_forest": ("The model isolation_forest needs scikit-learn, which is", "estimators"),
    }
    sentences = {
        name: f"ExtraMissing: {text} not installed. Run: pip install 'anonymaly[{extra}]'"
        for name, (text, extra) in needs.items()
    }
    assert found["said"] == {"count": "1.0", "grubbs": "1.0", "radius": "True", **sentences}
    assert found["missing"] == ["GridKNN", "MarginalHistograms", "PrivateKFold", "search_cost"]
    assert found["heavy"] == []


@pytest.mark.slow
def test_help_names_every_command(run: Run) -> None:
    done = run("--help")
    assert done.returncode == 0, done.stderr
    for command in ("demo", "count", "explain", "inspect", "ledger", "stream"):
        assert f" {command} " in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["stream", "init", "rooms"], "stream"),
        (["stream", "demo"], "broker"),
        (["inspect", "privacy-map", "people.yaml", "--model", "rare", "--pictures", "maps"], "report"),
    ],
)
def test_a_command_says_what_to_install(run: Run, arguments: list[str], extra: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("ExtraMissing: ")
    assert done.stderr.strip().endswith(f"Run: pip install 'anonymaly[{extra}]'")


@pytest.mark.slow
def test_the_demonstration_needs_no_extra(run: Run) -> None:
    done = run("demo", "--json")
    assert done.returncode == 0, done.stderr
    assert {"explain", "identify", "score", "share", "attack"} <= set(json.loads(done.stdout))

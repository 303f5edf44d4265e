# SPDX-License-Identifier: Apache-2.0
"""Where and how a process runs changes nothing: working folder, umask, locale, time zone, hashes, fork.

Every two values of two of these meet in one case. ANONYMALY_PLACES_SEED chooses other cases.
"""

from __future__ import annotations

import json
import locale
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from tests.system.pairs import Case, all_pairs, covering, pairs_of

SEED = int(os.environ.get("ANONYMALY_PLACES_SEED", "14"))
SCRIPT = Path(__file__).with_name("one_place.py")
WANTED_LOCALES = ("C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8")
MANIFEST = """
name: t
source: {source}
{table}budget: 1000
columns:
  age: {{type: interval, low: 0, high: 120}}
  ward: {{type: categories, values: [Ä, I, ı, i]}}
  seen: {{type: timestamps, start: 2026-01-01, end: 2027-01-01}}
rules:
  rare: {{type: anomaly_model, columns: [age], radius: 3, beta: 2}}
"""


def _is_there(name: str) -> bool:
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_ALL, before)
    return True


LOCALES = [name for name in WANTED_LOCALES if _is_there(name)]
DIMENSIONS = {
    "working folder": ["stays", "changes"],
    "paths": ["absolute", "relative"],
    "name of the folder": ["plain", "Bücher ε [1]"],
    "umask": ["000", "022", "077"],
    "LC_ALL": LOCALES,
    "PYTHONUTF8": ["0", "1"],
    "TZ": ["UTC", "Asia/Kathmandu", "America/St_Johns"],
    "PYTHONHASHSEED": ["0", "1", "4242"],
    "process": ["own", "fork", "spawn"],
    "source": ["table.csv", "table.parquet", "table.duckdb"],
}
VARIABLES = ("LC_ALL", "PYTHONUTF8", "TZ", "PYTHONHASHSEED")
CASES = covering(DIMENSIONS, SEED)


def _table() -> pandas.DataFrame:
    moments = [
        "2026-01-31 23:50",
        "2026-02-01 00:10",
        "2026-03-29 02:30",
        "2026-10-25 02:30",
        None,
        "2026-06-01",
    ]
    return pandas.DataFrame(
        {
            "age": [30.0, 0.1 + 0.2, 45, 80, None, 40],
            "ward": ["Ä", "I", "ı", "Ä", "i", "Ä"],
            "seen": pandas.to_datetime(moments, format="mixed"),
        }
    )


def _write(folder: Path, source: str) -> Path:
    frame = _table()
    match source:
        case "table.csv":
            frame.to_csv(folder / source, index=False)
        case "table.parquet":
            frame.to_parquet(folder / source)
        case "table.duckdb":
            with duckdb.connect(folder / source) as connection:
                connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    table = "table: t\n" if source == "table.duckdb" else ""
    (folder / "t.yaml").write_text(MANIFEST.format(source=source, table=table), "utf-8")
    return folder / "t.yaml"


def _run(case: Case, place: Path) -> dict[str, Any]:
    folder = place / case["name of the folder"]
    elsewhere = place / "elsewhere"
    for made in (folder, elsewhere):
        made.mkdir()
    (elsewhere / case["source"]).write_bytes(b"another table of the same name")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    given = json.dumps({**case, "elsewhere": str(elsewhere)})
    done = subprocess.run(
        [sys.executable, "-W", "ignore", SCRIPT, _write(folder, case["source"]), given],
        env={**kept, **{name: case[name] for name in VARIABLES}, "PYTHONCOERCECLOCALE": "0"},
        cwd=place,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"seed {SEED}, {case}: {done.stderr.decode('utf-8', 'replace')}"
    assert {path.name for path in elsewhere.iterdir()} == {case["source"]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is seen where nothing is special."""
    print(f"seed {SEED}: {len(CASES)} cases hold {len(all_pairs(DIMENSIONS))} pairs")
    for name in set(WANTED_LOCALES) - set(LOCALES):
        print(f"the locale {name} is not installed on this machine, so it is left out")
    case = {name: values[0] for name, values in DIMENSIONS.items()} | {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    return _run(case, tmp_path_factory.mktemp("usual"))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.values()).replace(" ", "_"))
def test_nothing_that_is_charged_or_written_depends_on_the_place(
    case: Case, usual: dict[str, Any], tmp_path: Path
) -> None:
    found = _run(case, tmp_path)
    assert found["same"] == usual["same"], f"seed {SEED}, {case}"
    assert found["same"]["verified"]
    assert set(found["modes"]) == {"600 False", "700 True"}
    assert found["spill"] == "700"


def test_the_cases_hold_every_pair_and_follow_from_the_seed() -> None:
    held = {pair for case in CASES for pair in pairs_of(case)}
    assert held == set(all_pairs(DIMENSIONS))
    assert covering(DIMENSIONS, SEED) == CASES
    assert covering(DIMENSIONS, SEED + 1) != CASES


@pytest.mark.slow
def test_the_usual_place_gives_the_true_counts(usual: dict[str, Any]) -> None:
    values = [item["answer"]["value"] for item in usual["same"]["asked"]]
    assert values[0] == 2  # the third moment of ward Ä is a minute too early
    assert usual["same"]["spent"] == 250

# SPDX-License-Identifier: Apache-2.0
"""A path means the table that it meant when it was written down, whatever the working folder is later."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymaly as am
from anonymaly.engine import lookup
from anonymaly.engine.statements import collect

ROWS, OTHERS = 10, 77
COLUMNS = {"age": am.Interval(0, 120)}


def _fill(folder: Path, rows: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "d.csv").write_text("age\n" + "30\n" * rows)
    with duckdb.connect(folder / "d.duckdb") as connection:
        connection.execute(f"CREATE TABLE t AS SELECT 30 AS age FROM range({rows})")
        connection.execute(f"COPY t TO '{folder / 'd.parquet'}'")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder whose name looks like a pattern, with another of the same files in it."""
    folder = tmp_path / "data [1]"
    _fill(folder, ROWS)
    _fill(folder / "elsewhere", OTHERS)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("source", ["d.csv", "./d.parquet", "*.csv", "d.duckdb", "duckdb://d.duckdb"])
def test_a_relative_path_names_the_same_table_after_a_change_of_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch, source: str, opened: bool
) -> None:
    table = "t" if "duckdb" in source else None
    dataset = am.Dataset(source, table=table, name="d", columns=COLUMNS)
    if opened:
        collect(dataset.table.count())
    monkeypatch.chdir("elsewhere")
    assert collect(dataset.table.count())[0][0].as_py() == ROWS


def test_a_stand_in_is_the_same_after_a_change_of_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = am.Dataset("d.csv", name="d", columns=COLUMNS, stand_in="d.parquet")
    curator = am.Curator(dataset, budget=1)
    monkeypatch.chdir("elsewhere")
    for kind in ("d.csv", "d.parquet"):
        (here / "elsewhere" / kind).unlink()
    assert abs(curator.rehearse(am.Count(epsilon=100)).value - ROWS) < 3  # but for a chance of 1e-86
    curator.close()


@pytest.mark.parametrize(
    "url",
    [
        *("duckdb://", "duckdb://:memory:", "duckdb:///absolute/t.db", "duckdb://md:shared", "duckdb://?a=b"),
        *("postgresql://user@host/data", "duckdb://ada:geheim@nowhere/x.db"),
    ],
)
def test_an_address_that_names_no_file_stays_as_it_is(url: str) -> None:
    assert lookup.wherever(url) == url

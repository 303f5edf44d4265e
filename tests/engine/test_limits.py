# SPDX-License-Identifier: Apache-2.0
"""How much memory and how many cores the embedded engine may take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonymaly as am
from anonymaly.errors import InputError

TABLE = pa.table({"age": [30, 41]})
COLUMNS = {"age": am.Interval(0, 120)}


def dataset(source: Any, **options: Any) -> am.Dataset:
    return am.Dataset(source, name="patients", columns=COLUMNS, **options)


def settings_of(declared: am.Dataset) -> tuple[str, int]:
    connection = declared.table.get_backend().con
    names = ("memory_limit", "threads")
    found = [connection.execute(f"SELECT current_setting('{name}')").fetchone()[0] for name in names]
    return found[0], int(found[1])


def sources(folder: Path) -> dict[str, dict[str, Any]]:
    pq.write_table(TABLE, folder / "t.parquet")
    (folder / "t.csv").write_text("age\n30\n41\n")
    with duckdb.connect(str(folder / "t.db")) as connection:
        connection.register("frame", TABLE)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return {
        "frame": {"source": TABLE},
        "parquet": {"source": folder / "t.parquet"},
        "csv": {"source": folder / "t.csv"},
        "database": {"source": folder / "t.db", "table": "people"},
        "address": {"source": f"duckdb://{folder}/t.db", "table": "people"},
    }


@pytest.mark.parametrize("kind", ["frame", "parquet", "csv", "database", "address"])
def test_the_engine_takes_no_more_than_the_owner_says(tmp_path: Path, kind: str) -> None:
    limited = dataset(**sources(tmp_path)[kind], memory="300 MiB", threads=1)
    assert settings_of(limited) == ("300.0 MiB", 1)
    assert am.Curator(limited, budget=10, ledger=tmp_path / "l").ask(am.Count(epsilon=1)).value is not None


def test_a_manifest_names_the_limits_and_an_account_does_not_depend_on_them(tmp_path: Path) -> None:
    sources(tmp_path)
    text = "name: patients\nsource: t.csv\ncolumns: {age: {type: interval, low: 0, high: 120}}\nbudget: 10\n"
    (tmp_path / "m.yaml").write_text(text + "memory: 300MiB\nthreads: 1\n")
    (tmp_path / "plain.yaml").write_text(text)
    limited = am.Curator.open(tmp_path / "m.yaml").ask(am.Count(epsilon=1))
    unlimited = am.Curator.open(tmp_path / "plain.yaml")
    assert unlimited.preview(am.Count(epsilon=1)).cost == 0
    assert unlimited.ask(am.Count(epsilon=1)).value == limited.value


@pytest.mark.parametrize("memory", ["4", "GB", "4 gigs", "100MB", "-4GB", 4, True, "4GB; --"])
def test_an_amount_that_is_none_is_refused(memory: Any) -> None:
    with pytest.raises(InputError, match="an amount of 128 MB or more") as refused:
        dataset(TABLE, memory=memory)
    assert refused.value.field == "memory"


@pytest.mark.parametrize("threads", [0, -1, 1025, 1.0, "2", True])
def test_a_number_of_threads_that_is_none_is_refused(threads: Any) -> None:
    with pytest.raises(InputError, match="whole number from 1") as refused:
        dataset(TABLE, threads=threads)
    assert refused.value.field == "threads"


@pytest.mark.parametrize("field", [{"memory": "4GB"}, {"threads": 2}])
def test_limits_of_an_engine_that_is_not_ours_to_set_are_refused(field: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="another engine reads") as refused:
        dataset("postgresql://localhost/db", table="people", **field)
    assert refused.value.field in field
    with pytest.raises(InputError, match="another engine reads"):
        dataset(ibis.memtable({"age": [1]}), **field)

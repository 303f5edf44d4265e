# SPDX-License-Identifier: Apache-2.0
"""One source has one name, or each name would spend a budget of its own on the same people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from anonymaly.errors import InputError
from anonymaly.server.held import find_manifests
from tests.server.places import MANIFEST, ROWS


def declare(folder: Path, name: str, **changes: Any) -> None:
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({**MANIFEST, "name": name, **changes}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "patients.csv").write_text(ROWS)
    (tmp_path / "more").mkdir()
    declare(tmp_path, "patients")
    return tmp_path


def test_two_files_under_two_names_are_two_tables(folder: Path) -> None:
    (folder / "others.csv").write_text(ROWS)
    declare(folder, "others", source="others.csv")
    assert sorted(item.name for item in find_manifests(folder).values()) == ["others", "patients"]


@pytest.mark.parametrize(
    "source", ["patients.csv", "./more/../patients.csv", "linked.csv", "hard.csv", "*.csv"]
)
def test_a_second_name_for_the_same_file_is_refused_however_it_is_written(folder: Path, source: str) -> None:
    (folder / "linked.csv").symlink_to(folder / "patients.csv")
    os.link(folder / "patients.csv", folder / "hard.csv")
    declare(folder, "second", source=source)
    with pytest.raises(InputError, match=r"patients\.yaml and second\.yaml declare the same source"):
        find_manifests(folder)


def test_a_second_name_for_the_same_table_of_a_database_file_is_refused(folder: Path) -> None:
    duckdb.connect(folder / "all.duckdb").execute("CREATE TABLE people AS SELECT 1 AS age, 'Bern' AS city")
    declare(folder, "one", source="all.duckdb", table="people")
    declare(folder, "two", source="all.duckdb", table="others")
    find_manifests(folder)
    for source, table in (
        ("all.duckdb", "PEOPLE"),
        ("all.duckdb", "main.people"),
        ("duckdb://all.duckdb", "people"),
    ):
        declare(folder, "two", source=source, table=table)
        with pytest.raises(InputError, match="same source"):
            find_manifests(folder)


@pytest.mark.parametrize(
    "address",
    [
        "postgres://other:word@localhost/clinic",
        "postgresql://127.0.0.1:5432/clinic",
        "postgresql:///clinic?host=localhost&port=5432",
        "postgresql:///clinic?host=/var/run/postgresql",
        "postgresql+psycopg://localhost/clinic",
        "POSTGRESQL://localhost/clinic",
        "postgresql://db.invalid,localhost/clinic",
        "host=localhost dbname=clinic",
        "dbname='clinic' port=5432",
        "postgresql://clinic@localhost",
        "postgresql://${CLINIC_HOST}/clinic",
        "postgresql://localhost/clinic/public",
    ],
)
def test_who_logs_in_and_how_makes_no_other_source(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINIC_HOST", "localhost")
    declare(folder, "one", source="postgresql://me:secret@localhost:5432/clinic", table="people")
    declare(folder, "two", source="postgresql://localhost/clinic", table="others")
    declare(folder, "three", source="postgresql://localhost:5433/clinic", table="people")
    find_manifests(folder)
    declare(folder, "two", source=address, table="public.people")
    with pytest.raises(InputError, match="same source") as caught:
        find_manifests(folder)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "table"),
    [
        ("postgresql://localhost/clinic?schema=ward", "people"),
        ("postgresql://localhost/clinic/ward", "people"),
        ("postgresql://localhost/clinic", '"ward"."people"'),
    ],
)
def test_a_schema_is_the_same_wherever_it_is_said(folder: Path, address: str, table: str) -> None:
    declare(folder, "one", source="postgresql://localhost/clinic", table="ward.people")
    declare(folder, "two", source="postgresql://localhost/clinic", table="people")
    find_manifests(folder)
    declare(folder, "two", source=address, table=table)
    with pytest.raises(InputError, match="same source"):
        find_manifests(folder)


def test_this_machine_is_the_same_by_each_of_its_addresses(folder: Path) -> None:
    declare(folder, "one", source="postgresql://localhost/clinic", table="people")
    declare(folder, "two", source="postgresql://127.1.2.3/clinic", table="people")
    with pytest.raises(InputError, match="same source"):
        find_manifests(folder)


def test_two_files_that_declare_one_name_are_refused(folder: Path) -> None:
    (folder / "others.csv").write_text(ROWS)
    (folder / "second.yaml").write_text(yaml.safe_dump({**MANIFEST, "source": "others.csv"}))
    with pytest.raises(InputError, match="both declare a table called patients"):
        find_manifests(folder)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("port: 1\n")
    with pytest.raises(InputError, match="declares no table"):
        find_manifests(tmp_path)

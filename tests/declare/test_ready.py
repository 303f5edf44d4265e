# SPDX-License-Identifier: Apache-2.0
"""What is asked of a table before anything is charged: is it there, may it be read, does it fit?"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pytest

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.engine.statements import EngineFailure, collect
from anonymaly.errors import SchemaError
from tests.declare.tables import PLACES, arrow, declare, fill_postgres, records

AGE: dict[str, Domain] = {"age": Interval(0, 120)}
_numbers = itertools.count()


@pytest.fixture
def role(postgres: str) -> Iterator[str]:
    """A user of the database who may do nothing yet."""
    name = f"asker_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        yield name
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.parametrize("place", PLACES)
def test_a_table_that_fits_is_ready_wherever_it_lives(place: str, tmp_path: Path) -> None:
    dataset = declare(PLACES[place](arrow(), tmp_path), person="id", max_rows=1)
    dataset.ready()
    assert len(records(dataset)) == 4


def test_a_table_that_does_not_fit_is_not_ready() -> None:
    dataset = Dataset(arrow(), name="x", columns={"age": Categories(["A"])})
    with pytest.raises(SchemaError, match=r"columns\.age: the table has int64, which does not fit"):
        dataset.ready()


def test_a_user_who_may_not_read_a_declared_column_is_told_so_before_a_charge(
    postgres: str, role: str
) -> None:
    fill_postgres(postgres, arrow())
    options: dict[str, Any] = {"source": postgres.replace("postgres:", f"{role}:"), "table": "records"}
    refused = Dataset(**options, name="x", columns=AGE)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"GRANT SELECT (age, id) ON records TO {role}")
        Dataset(**options, name="x", columns=AGE, person="id", max_rows=1).ready()
        connection.execute(f"REVOKE ALL ON records FROM {role}")
        with pytest.raises(SchemaError, match=r"InsufficientPrivilege.*SELECT the declared columns") as said:
            refused.ready()
        assert said.value.field == "source"
        assert said.value.__context__ is None
        assert "permission denied" not in "".join(traceback.format_exception(said.value))
        connection.execute(f"GRANT SELECT ON records TO {role}")
    refused.ready()


@pytest.mark.parametrize("by", ["address", "Ibis"])
def test_a_connection_that_the_server_ended_is_opened_again(by: str, postgres: str) -> None:
    fill_postgres(postgres, arrow())
    if by == "address":
        dataset = Dataset(postgres, table="records", name="x", columns=AGE)
    else:
        dataset = Dataset(ibis.connect(postgres).table("records"), name="x", columns=AGE)
    expected = records(dataset)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(EngineFailure):
        collect(dataset.table)
    dataset.ready()
    assert records(dataset) == expected


def test_a_database_file_that_was_closed_is_opened_again(tmp_path: Path) -> None:
    dataset = declare(PLACES["duckdb file"](arrow(), tmp_path))
    expected = records(dataset)
    dataset.table.get_backend().disconnect()
    dataset.ready()
    assert records(dataset) == expected


@pytest.mark.parametrize("place", ["csv", "parquet"])
def test_a_file_that_is_gone_is_not_ready(place: str, tmp_path: Path) -> None:
    options = PLACES[place](arrow(), tmp_path)
    dataset = declare(options)
    dataset.ready()
    Path(options["source"]).unlink()
    with pytest.raises(SchemaError) as said:
        dataset.ready()
    assert said.value.field == "source"


def test_whether_a_frame_of_spark_is_ready_does_not_depend_on_its_rows(spark: Any) -> None:
    failing = spark.range(3).selectExpr("CAST(raise_error('a row was read') AS INT) AS age", "id")
    dataset = Dataset(failing, name="x", columns=AGE, person="id", max_rows=1)
    dataset.ready()
    with pytest.raises(EngineFailure):
        collect(dataset.table.age.sum())


def test_whether_a_table_is_ready_does_not_depend_on_its_rows(postgres: str, tmp_path: Path) -> None:
    # A view whose every row fails shows whether a row is read.
    failing = "CREATE VIEW t AS SELECT CAST(1 AS DOUBLE PRECISION) / (age - age) AS age, id FROM ages"
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE ages (age integer, id integer)")
        connection.execute("INSERT INTO ages VALUES (30, 1)")
        connection.execute(failing)
    with duckdb.connect(tmp_path / "t.duckdb") as file:
        file.execute("CREATE TABLE ages AS SELECT 30 AS age, 1 AS id")
        file.execute("CREATE VIEW t AS SELECT CAST(error('a row was read') AS INTEGER) AS age, id FROM ages")
    for source in (postgres, tmp_path / "t.duckdb"):
        dataset = Dataset(source, table="t", name="x", columns=AGE, person="id", max_rows=1)
        dataset.ready()
        with pytest.raises(EngineFailure):
            collect(dataset.table.age.sum())

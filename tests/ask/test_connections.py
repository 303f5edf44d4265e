# SPDX-License-Identifier: Apache-2.0
"""A database that is lost, or that may not be read, is noticed before anything is charged."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

import anonymaly as am
from anonymaly.errors import SchemaError
from tests.declare.tables import arrow, fill_postgres


def test_a_connection_that_was_closed_is_opened_again_before_the_charge(
    postgres: str, tmp_path: Path
) -> None:
    fill_postgres(postgres, arrow())
    dataset = am.Dataset(postgres, table="records", name="t", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    curator.ask(am.Count(epsilon="0.25"))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert isinstance(curator.ask(am.Count(where="age > 18", epsilon="0.25")).value, int)
    assert curator.remaining == 0.5


def test_a_table_that_may_not_be_read_any_more_costs_nothing(postgres: str, tmp_path: Path) -> None:
    fill_postgres(postgres, arrow())
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "CREATE ROLE reader_of_records LOGIN; GRANT SELECT ON records TO reader_of_records"
        )
        try:
            address = postgres.replace("postgres:", "reader_of_records:")
            dataset = am.Dataset(address, table="records", name="t", columns={"age": am.Interval(0, 120)})
            curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
            connection.execute("REVOKE SELECT ON records FROM reader_of_records")
            with pytest.raises(SchemaError, match="SELECT the declared columns"):
                curator.ask(am.Count(epsilon="0.5"))
            assert curator.remaining == 1
        finally:
            connection.execute("DROP OWNED BY reader_of_records; DROP ROLE reader_of_records")

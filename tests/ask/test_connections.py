# SPDX-License-Identifier: Apache-2.0
"""A database that is lost, or that may not be read, is noticed before anything is charged."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import ibis
import psycopg
import pytest

import anonymaly as am
from anonymaly.errors import AnswerFailed, SchemaError
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


def test_a_connection_of_the_owner_that_cannot_be_opened_again_costs_nothing(
    postgres: str, tmp_path: Path
) -> None:
    fill_postgres(postgres, arrow())
    own = psycopg.connect(postgres)
    table = ibis.postgres.from_connection(own).table("records")
    dataset = am.Dataset(table, name="t", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    curator.ask(am.Count(epsilon="0.25"))
    own.close()
    with pytest.raises(SchemaError, match="lost and cannot be opened again") as refused:
        curator.ask(am.Count(where="age > 18", epsilon="0.25"))
    assert refused.value.field == "source"
    assert curator.remaining == 0.75


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
            with pytest.raises(SchemaError, match=r"may not read the table.*SELECT the declared columns"):
                curator.ask(am.Count(epsilon="0.5"))
            assert curator.remaining == 1
        finally:
            connection.execute("DROP OWNED BY reader_of_records; DROP ROLE reader_of_records")


# What happens as the rows are read, once the switch is on; a question that reads no row meets none of it.
MISHAPS = {
    "the connection is cut": "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60)",
    "the statement takes too long": "PERFORM pg_sleep(60)",
    "a lock is not given": "SET LOCAL lock_timeout = 1; LOCK TABLE held IN ACCESS EXCLUSIVE MODE",
    "the statement is cancelled": "PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(60)",
}


def troubled(url: str, mishap: str) -> None:
    """Make a view that reads well until the switch is on, and a table that somebody else holds."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE held (x integer); CREATE TABLE switch (is_on boolean)")
        connection.execute("INSERT INTO switch VALUES (false)")
        connection.execute(
            "CREATE FUNCTION read_row(age integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN "
            f"IF (SELECT is_on FROM switch) THEN {MISHAPS[mishap]}; END IF; RETURN age; END $$"
        )
        connection.execute("CREATE VIEW visits AS SELECT read_row(age) AS age FROM generate_series(1, 9) age")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "mishap"),
    [*(("count", mishap) for mishap in MISHAPS), ("sample", "the connection is cut")],
)
def test_what_goes_wrong_while_rows_are_read_is_charged_once_and_never_drawn_again(
    postgres: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, mishap: str, question: str
) -> None:
    troubled(postgres, mishap)
    dataset = am.Dataset(
        f"{postgres}&options=-cstatement_timeout%3D5000" if "too long" in mishap else postgres,
        table="visits",
        name="t",
        columns={"age": am.Interval(0, 120)},
        rules={"adults": am.Policy("age >= 5")},
    )
    curator = am.Curator(dataset, budget=8, ledger=tmp_path / "t.ledger", store=tmp_path / "answers")
    queries: dict[str, Any] = {
        "count": am.Count(where="age > 5", epsilon=1),
        "sample": am.ShareSample(policy="adults", columns=["age"], epsilon=1),
    }
    with (
        psycopg.connect(postgres) as other,
        psycopg.connect(postgres, autocommit=True) as own,
        caplog.at_level(logging.DEBUG),
    ):
        other.execute("LOCK TABLE held IN ACCESS SHARE MODE")
        own.execute("UPDATE switch SET is_on = true")
        said = []
        for _ in range(2):
            with pytest.raises(AnswerFailed) as failed:
                curator.ask(queries[question])
            said.append(str(failed.value))
            assert failed.value.__context__ is None
        # The same words whatever went wrong, the charge of one question, and no bytes of an answer.
        assert said == [said[0]] * 2
        assert "was charged ε=1 and no answer came of it" in said[0]
        assert curator.remaining == 7
        assert curator.answers() == []
        assert [path for path in (tmp_path / "answers").rglob("*") if path.is_file()] == []
        own.execute("UPDATE switch SET is_on = false")
        with pytest.raises(AnswerFailed):
            curator.ask(queries[question])  # it is over, and stays so
        curator.ask(queries[question], repeat=1)
        assert curator.remaining == 6
    assert "terminating" not in caplog.text
    assert "canceling" not in caplog.text


def test_a_lock_on_the_table_is_noticed_before_the_charge(postgres: str, tmp_path: Path) -> None:
    fill_postgres(postgres, arrow())
    address = f"{postgres}&options=-clock_timeout%3D1"
    dataset = am.Dataset(address, table="records", name="t", columns={"age": am.Interval(0, 120)})
    curator = am.Curator(dataset, budget=1, ledger=tmp_path / "t.ledger")
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(SchemaError, match="holds a lock on the table") as refused:
            curator.ask(am.Count(epsilon="0.5"))
        assert refused.value.field == "source"
        assert "lock_timeout" in str(refused.value.next_step)
    assert curator.remaining == 1
    curator.ask(am.Count(epsilon="0.5"))


def test_a_user_who_may_only_read_gets_every_answer(postgres: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        (database,) = connection.execute("SELECT current_database()").fetchone() or ("",)
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits (age integer, weight real)")
        connection.execute("INSERT INTO clinic.visits SELECT n % 90, n % 70 FROM generate_series(1, 2000) n")
        connection.execute(
            "CREATE ROLE looker LOGIN; ALTER ROLE looker SET default_transaction_read_only = on; "
            f"REVOKE ALL ON DATABASE {database} FROM public; GRANT CONNECT ON DATABASE {database} TO looker; "
            "GRANT USAGE ON SCHEMA clinic TO looker; GRANT SELECT ON clinic.visits TO looker"
        )
        try:
            columns = {"age": am.Interval(0, 120), "weight": am.Interval(0, 200)}
            dataset = am.Dataset(
                postgres.replace("postgres:", "looker:"),
                table="clinic.visits",
                name="t",
                columns=columns,
                rules="any",
            )
            curator = am.Curator(dataset, budget=9, ledger=tmp_path / "t.ledger")
            assert abs(curator.ask(am.Count(epsilon=2)).value - 2000) < 50
            records = [{"age": float(n % 90), "weight": float(n % 70)} for n in range(60)]
            model = {"columns": ["age", "weight"], "radius": 1, "beta": 3, "metric": "chebyshev"}
            found = curator.ask(am.Identify(records=records, **model, epsilon=4))
            assert len(found.value) == len(records)
        finally:
            connection.execute("DROP OWNED BY looker; DROP ROLE looker")

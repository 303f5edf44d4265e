# SPDX-License-Identifier: Apache-2.0
"""Tables that are not built as they were created, and rows that the triggers let pass, are noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly.errors import LedgerDamaged, LedgerError
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.definitions import tables
from anonymaly.ledger.postgres_catalog import CONSTRAINTS
from tests.ledger.intruder import raw_engine

NANO = 10**9
Execute = Callable[[str], Any]


@pytest.fixture
def used(ledger: Ledger, account: Account) -> Ledger:
    ledger.reserve(account, analyst="owner", key="q1", cost=NANO // 10, record={})
    return ledger


def noticed(used: Ledger, location: str, finding: str) -> None:
    assert any(finding in problem for problem in used.verify().problems), used.verify().problems
    used.close()
    with pytest.raises(LedgerDamaged, match="does not verify"):
        Ledger.open(location)


# What the triggers let pass, in both databases.
LET_PASS = {
    "an analyst gets a limit": (
        'UPDATE ledger_analysts SET "limit" = 500000000',
        "analyst 'owner' of account 'patients' has limit ε=0.5, spent ε=0.1; the entries say limit None",
    ),
    "an account appears": (
        "INSERT INTO ledger_accounts VALUES ('bank', 10, 0)",
        "account 'bank' is not in both the entries and the accounts",
    ),
    "an analyst appears": (
        "INSERT INTO ledger_analysts VALUES ('patients', 'eve', NULL, 0)",
        "analyst 'eve' of account 'patients' has limit None, spent ε=0; the entries say none",
    ),
    "a limit is raised": (
        'UPDATE ledger_accounts SET "limit" = 9000000000',
        "account 'patients': limit is ε=9, its entries say ε=1",
    ),
    "a reservation appears": (
        "INSERT INTO ledger_reservations VALUES (9, 'patients', 'q9', 'owner', 5, 'reserved', NULL)",
        "reservation 9 is not in the state",
    ),
    "a grant appears": (
        "INSERT INTO ledger_grants VALUES ('patients', 'eve', 1, NULL)",
        "grant 'eve' of account 'patients' has granted 1, revoked None; the entries say none",
    ),
    "a counter appears": (
        "INSERT INTO ledger_counters VALUES ('patients', 'rule', 5, 0)",
        "counter 'rule' of account 'patients' has limit 5, used 0; the entries say none",
    ),
    "a charge to an analyst appears": (
        "INSERT INTO ledger_again VALUES (1, 'patients', 'q1', 'eve')",
        "what was charged again is not what the entries say",
    ),
}


@pytest.mark.parametrize("name", LET_PASS)
def test_a_row_that_the_triggers_let_pass_is_noticed_when(
    used: Ledger, location: str, execute: Execute, name: str
) -> None:
    statement, finding = LET_PASS[name]
    execute(statement)
    noticed(used, location, finding)


SQLITE = {
    "a table": ("CREATE TABLE ledger_more (id INTEGER)", "ledger_more does not belong to the ledger"),
    "a view": ("CREATE VIEW more AS SELECT 1", "more does not belong to the ledger"),
    "an index": ("CREATE INDEX more ON ledger_accounts (spent)", "more does not belong to the ledger"),
    "no index": ("DROP INDEX ledger_entries_of_account", "ledger_entries_of_account is missing"),
    "a column more": ("ALTER TABLE ledger_accounts ADD COLUMN more TEXT", "ledger_accounts is not as it was"),
    "a table less": ("DROP TABLE ledger_jobs", "ledger_jobs is missing"),
}


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", SQLITE)
def test_a_file_that_is_not_built_as_it_was_is_noticed_with(
    used: Ledger, location: str, execute: Execute, name: str
) -> None:
    statement, finding = SQLITE[name]
    execute(statement)
    noticed(used, location, finding)


POSTGRES = {
    "a check that checks nothing": (
        [
            "ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_spent",
            "ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_accounts_spent CHECK (true)",
        ],
        "constraint ledger_accounts_spent is not as it was created",
    ),
    "a check in the place of what must be unique": (
        [
            "ALTER TABLE ledger_reservations DROP CONSTRAINT ledger_reservations_once",
            "ALTER TABLE ledger_reservations ADD CONSTRAINT ledger_reservations_once CHECK (true)",
        ],
        "constraint ledger_reservations_once is not as it was created",
    ),
    "a check that was never validated": (
        [
            "ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_limit",
            'ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_accounts_limit CHECK ("limit" > 0) NOT VALID',
        ],
        "constraint ledger_accounts_limit is not as it was created",
    ),
    "another check": (
        ["ALTER TABLE ledger_accounts ADD CONSTRAINT more CHECK (spent < 5000000000)"],
        "constraint more does not belong to the ledger",
    ),
    "no primary key": (
        ["ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_pkey"],
        "constraint ledger_accounts_pkey is missing",
    ),
    "tables that a crash would empty": (
        [f"ALTER TABLE ledger_{name} SET UNLOGGED" for name in ("accounts", "entries", "reservations")],
        "ledger_accounts is unlogged",
    ),
    "a rule that swallows charges": (
        ["CREATE RULE swallow AS ON UPDATE TO ledger_accounts DO INSTEAD NOTHING"],
        "ledger_accounts has a rule",
    ),
    "another type": (
        ["ALTER TABLE ledger_accounts ALTER COLUMN spent TYPE numeric"],
        "column spent of ledger_accounts is not as it was created",
    ),
    "a column that may be null": (
        ["ALTER TABLE ledger_entries ALTER COLUMN body DROP NOT NULL"],
        "column body of ledger_entries is not as it was created",
    ),
    "a column with a default": (
        ["ALTER TABLE ledger_accounts ALTER COLUMN spent SET DEFAULT 0"],
        "column spent of ledger_accounts is not as it was created",
    ),
    "a column more": (
        ["ALTER TABLE ledger_accounts ADD COLUMN more TEXT"],
        "column more of ledger_accounts is not as it was created",
    ),
    "letters that are compared otherwise": (
        ['ALTER TABLE ledger_accounts ALTER COLUMN name TYPE text COLLATE "POSIX"'],
        "column name of ledger_accounts is not as it was created",
    ),
    "rows that are hidden": (
        ["ALTER TABLE ledger_reservations ENABLE ROW LEVEL SECURITY"],
        "ledger_reservations has row security",
    ),
    "rows of another table": (
        ["CREATE TABLE more () INHERITS (ledger_accounts)"],
        "ledger_accounts has an heir",
    ),
    "a trigger that is disabled": (
        ["ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_no_update"],
        "ledger_entries_no_update is disabled",
    ),
    "a trigger that looks at one column": (
        [
            "DROP TRIGGER ledger_entries_no_update ON ledger_entries",
            "CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE OF kind ON ledger_entries"
            " FOR EACH ROW EXECUTE FUNCTION ledger_entries_no_update()",
        ],
        "ledger_entries_no_update is not as it was created",
    ),
    "a trigger with a condition": (
        [
            "DROP TRIGGER ledger_entries_no_update ON ledger_entries",
            "CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries"
            " FOR EACH ROW WHEN (false) EXECUTE FUNCTION ledger_entries_no_update()",
        ],
        "ledger_entries_no_update is not as it was created",
    ),
    "a function that runs elsewhere": (
        ["ALTER FUNCTION ledger_entries_no_insert() SET search_path = pg_temp"],
        "ledger_entries_no_insert is not as it was created",
    ),
    "a table less": (["DROP TABLE ledger_counters"], "ledger_counters is missing"),
    "a view in the place of a table": (
        [
            "ALTER TABLE ledger_counters RENAME TO other",
            "CREATE VIEW ledger_counters AS SELECT * FROM other",
        ],
        "ledger_counters is not a table",
    ),
}


@pytest.mark.parametrize("location", ["postgres"], indirect=True)
@pytest.mark.parametrize("name", POSTGRES)
def test_a_database_that_is_not_built_as_it_was_is_noticed_with(
    used: Ledger, location: str, execute: Execute, name: str
) -> None:
    statements, finding = POSTGRES[name]
    for statement in statements:
        execute(statement)
    noticed(used, location, finding)


@pytest.mark.parametrize("location", ["postgres"], indirect=True)
def test_postgresql_writes_the_constraints_of_a_new_ledger_as_they_are_expected(
    used: Ledger, execute: Execute
) -> None:
    found = execute(
        "SELECT c.relname, k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint AS k"
        " JOIN pg_class AS c ON c.oid = k.conrelid"
        " WHERE k.contype <> 'n' AND starts_with(c.relname, 'ledger_')"
    )
    assert {name: {} for name in tables()} | {
        table: {row[1]: row[2] for row in found if row[0] == table} for table, _, _ in found
    } == CONSTRAINTS


@pytest.mark.parametrize("where", ["database", "session"])
def test_a_server_that_reports_commits_before_its_standby_has_them_is_refused(
    postgres: str, where: str
) -> None:
    url = postgres
    if where == "session":
        url += "&options=-csynchronous_commit%3Dlocal"
    else:
        with raw_engine(postgres).begin() as connection:
            name = connection.execute(sa.text("SELECT current_database()")).scalar()
            connection.execute(sa.text(f"ALTER DATABASE {name} SET synchronous_commit = local"))
    with pytest.raises(LedgerError, match="may forget charges: synchronous_commit is local"):
        Ledger.open(url)

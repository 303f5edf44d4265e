# SPDX-License-Identifier: Apache-2.0
"""What an intruder in the database cannot do, and what is noticed if they switch the guards off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from anonymaly.errors import LedgerDamaged
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.guards import GUARDS

NANO = 10**9
Execute = Callable[[str], Any]

FORBIDDEN = {
    "an entry is edited": "UPDATE ledger_entries SET body = '{}' WHERE seq = 2",
    "an entry is deleted": "DELETE FROM ledger_entries WHERE seq = 2",
    "an entry is put into the past": "INSERT INTO ledger_entries VALUES (2, 'patients', 'open', '{}', '')",
    "spent is lowered": "UPDATE ledger_accounts SET spent = spent - 1",
    "the limit is lowered": 'UPDATE ledger_accounts SET "limit" = "limit" - 1',
    "spent passes the limit": 'UPDATE ledger_accounts SET spent = "limit" + 1',
    "an account is renamed": "UPDATE ledger_accounts SET name = 'other'",
    "an account is deleted": "DELETE FROM ledger_accounts",
    "an account is opened twice": "INSERT INTO ledger_accounts VALUES ('patients', 5, 0)",
    "an analyst's spent is lowered": "UPDATE ledger_analysts SET spent = 0",
    "an analyst is deleted": "DELETE FROM ledger_analysts",
    "an analyst is entered twice": "INSERT INTO ledger_analysts VALUES ('patients', 'owner', NULL, 0)",
    "a reservation gets cheaper": "UPDATE ledger_reservations SET cost = 1",
    "a reservation changes its key": "UPDATE ledger_reservations SET key = 'other' WHERE seq = 2",
    "a reservation ends without an entry": "UPDATE ledger_reservations SET state = 'committed' WHERE seq = 3",
    "a committed one is reopened": "UPDATE ledger_reservations SET state = 'reserved', outcome = NULL",
    "a committed reservation fails": "UPDATE ledger_reservations SET state = 'failed' WHERE seq = 2",
    "a reservation is deleted": "DELETE FROM ledger_reservations",
    "a question is reserved twice": "INSERT INTO ledger_reservations"
    " VALUES (9, 'patients', 'q1', 'owner', 5, 'reserved', NULL)",
    "a question is reserved for nothing": "INSERT INTO ledger_reservations"
    " VALUES (9, 'patients', 'q9', 'owner', 0, 'reserved', NULL)",
    "a reservation is born committed": "INSERT INTO ledger_reservations"
    " VALUES (9, 'patients', 'q9', 'owner', 5, 'committed', 10)",
    "the head goes back": "UPDATE ledger_head SET seq = seq - 1",
    "the ledger takes another identity": "UPDATE ledger_head SET ledger = 'other'",
    "the head is deleted": "DELETE FROM ledger_head",
    "a second head is made": "INSERT INTO ledger_head VALUES (2, 1, 'x', 0, 0, 'y')",
}
REPLACED = {
    "an account": "INSERT OR REPLACE INTO ledger_accounts VALUES ('patients', 1000000000, 0)",
    "an analyst": "INSERT OR REPLACE INTO ledger_analysts VALUES ('patients', 'owner', NULL, 0)",
    "an entry": "INSERT OR REPLACE INTO ledger_entries VALUES (2, 'patients', 'open', '{}', '')",
    "a reservation": "INSERT OR REPLACE INTO ledger_reservations"
    " VALUES (2, 'patients', 'q9', 'owner', 5, 'reserved', NULL)",
    "the head": "INSERT OR REPLACE INTO ledger_head VALUES (1, 1, 'x', 0, 0, 'y')",
    "an account, by an update": "UPDATE OR REPLACE ledger_accounts SET spent = 0",
}


@pytest.fixture
def used(ledger: Ledger, account: Account) -> Ledger:
    for key in ("q1", "q2"):
        reservation = ledger.reserve(account, analyst="owner", key=key, cost=NANO // 10, record={})
        if key == "q1":
            first = reservation
    ledger.commit(first, digest="aa", media_type="text/plain", size=1)
    return ledger


@pytest.mark.parametrize("statement", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_the_database_itself_refuses_when(used: Ledger, execute: Execute, statement: str) -> None:
    with pytest.raises(DBAPIError):
        execute(statement)
    assert used.verify().ok
    assert used.account("patients").spent == 2 * NANO // 10


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
@pytest.mark.parametrize("statement", REPLACED.values(), ids=REPLACED.keys())
def test_sqlite_refuses_to_replace(used: Ledger, execute: Execute, statement: str) -> None:
    with pytest.raises(DBAPIError):
        execute(statement)
    assert used.verify().ok


@pytest.mark.parametrize("location", ["postgres"], indirect=True)
@pytest.mark.parametrize("table", ["entries", "accounts", "analysts", "reservations", "head"])
def test_postgresql_refuses_to_empty(used: Ledger, execute: Execute, table: str) -> None:
    with pytest.raises(DBAPIError):
        execute(f"TRUNCATE ledger_{table} CASCADE")
    assert used.verify().ok


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_missing_trigger_is_noticed_at_opening(
    used: Ledger, location: str, execute: Execute, guard: Any
) -> None:
    execute(f"DROP TRIGGER {guard.name}" + (f" ON {guard.table}" if "://" in location else ""))
    with pytest.raises(LedgerDamaged, match=f"{guard.name} is missing"):
        Ledger.open(location)
    assert not used.verify().ok


def test_a_foreign_trigger_is_noticed_at_opening(used: Ledger, location: str, execute: Execute) -> None:
    if "://" in location:
        execute(
            "CREATE TRIGGER intruder BEFORE UPDATE ON ledger_accounts"
            " FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        )
    else:
        execute("CREATE TRIGGER intruder AFTER INSERT ON ledger_entries BEGIN SELECT 1; END")
    with pytest.raises(LedgerDamaged, match="intruder does not belong"):
        Ledger.open(location)


@pytest.mark.parametrize("location", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("ALTER TABLE ledger_accounts DISABLE TRIGGER USER", "is disabled"),
        (
            "ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_spent",
            "constraint ledger_accounts_spent",
        ),
        ("DROP TABLE ledger_analysts", "ledger_analysts is missing"),
        (
            "CREATE OR REPLACE FUNCTION ledger_accounts_no_update() RETURNS trigger LANGUAGE plpgsql"
            " AS 'BEGIN RETURN NEW; END'",
            "ledger_accounts_no_update is not as it was created",
        ),
    ],
)
def test_guards_switched_off_in_postgresql_are_noticed(
    used: Ledger, location: str, execute: Execute, statement: str, finding: str
) -> None:
    execute(statement)
    with pytest.raises(LedgerDamaged, match=finding):
        Ledger.open(location)


def forge(location: str, execute: Execute, table: str, statement: str) -> None:
    """Change a row with the guards off, and put them back on as if nothing had been."""
    if "://" in location:
        execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        execute(statement)
        execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        return
    guards = execute(f"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{table}'")
    for name, _ in guards:
        execute(f"DROP TRIGGER {name}")
    execute(statement)
    for _, text in guards:
        execute(text)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (("accounts", "SET spent = 0"), "spent is ε=0, its entries say ε=0.2"),
        (("accounts", 'SET "limit" = 9000000000'), "limit is ε=9, its entries say ε=1"),
        (
            ("analysts", "SET spent = 0"),
            "analyst 'owner' of account 'patients' has limit None, spent ε=0; the entries say",
        ),
        (("reservations", "SET state = 'failed' WHERE seq = 2"), "reservation 2 is not in the state"),
        (("entries", "SET body = replace(body, '100000000', '1') WHERE seq = 2"), "entry 2 is not the one"),
        (("entries", "SET kind = 'rule' WHERE seq = 3"), "entry 3 is filed under another kind"),
        (("entries", "SET seq = 99 WHERE seq = 3"), "entry 3 is missing"),
        (("head", "SET ledger = 'other'"), "entry 1 is not the one"),
        (("head", "SET seq = seq - 1"), "the head says entry 3, the chain ends at entry 4"),
        (("head", "SET format = 0"), "does not belong to the ledger"),
    ],
)
def test_a_row_changed_by_hand_is_noticed_at_opening(
    used: Ledger, location: str, execute: Execute, change: tuple[str, str], finding: str
) -> None:
    used.close()
    table, statement = change
    forge(location, execute, f"ledger_{table}", f"UPDATE ledger_{table} {statement}")
    with pytest.raises(LedgerDamaged, match=finding) as caught:
        Ledger.open(location)
    assert caught.value.next_step


@pytest.mark.parametrize("seq", [1, 2, 4])
def test_a_deleted_entry_is_noticed_at_opening(
    used: Ledger, location: str, execute: Execute, seq: int
) -> None:
    used.close()
    forge(location, execute, "ledger_entries", f"DELETE FROM ledger_entries WHERE seq = {seq}")
    with pytest.raises(LedgerDamaged, match=r"is missing|the chain ends at entry 3"):
        Ledger.open(location)

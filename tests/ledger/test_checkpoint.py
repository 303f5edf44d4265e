# SPDX-License-Identifier: Apache-2.0
"""Opening goes on from where the chain was checked before; verifying begins at the first entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly.errors import LedgerDamaged
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.checkpoint import read_checkpoint
from anonymaly.ledger.recount import Recount
from tests.ledger.intruder import raw_engine
from tests.ledger.test_triggers import forge

NANO = 10**9
WHY = {"by": "owner", "reason": "a study"}
Execute = Callable[[str], Any]


def checked(location: str) -> Any:
    with raw_engine(location).connect() as connection:
        return read_checkpoint(connection)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write down how far the chain was checked after ten entries, not after a thousand."""
    monkeypatch.setattr("anonymaly.ledger.verify.EVERY", 10)


@pytest.fixture
def used(location: str) -> str:
    """A ledger that was checked up to entry 18, with 6 entries after it."""
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {"age": [0, 120]}, limit=NANO, rules={})
        ledger.grant("patients", "ann", limit=NANO, **WHY)
        fill(ledger, 0, 8)
        assert ledger.head().seq == 18
    Ledger.open(location).close()
    with Ledger.open(location) as ledger:
        fill(ledger, 8, 11)
    return location


def fill(ledger: Ledger, first: int, last: int) -> None:
    """Ask questions, each answered but every fourth."""
    for number in range(first, last):
        held = ledger.reserve(
            "patients",
            analyst="ann",
            key=f"q{number}",
            cost=1000,
            record={},
            counters={"rule:groups": 50},
        )
        if number % 4 != 3:
            ledger.commit(held, digest="aa", media_type="text/plain", size=1)
        else:
            ledger.consent("patients", {"number": number}, **WHY)


def test_opening_writes_down_how_far_it_checked_and_what_the_entries_add_up_to(used: str) -> None:
    found = checked(used)
    assert found.seq == 18
    assert found.sums["accounts"]["patients"]["spent"] == 8000
    assert found.sums["accounts"]["patients"]["analysts"] == {"ann": [NANO, 8000]}
    assert found.sums["accounts"]["patients"]["counters"] == {"rule:groups": [50, 8]}
    assert sorted(map(int, found.sums["accounts"]["patients"]["reserved"])) == [9, 17]
    with Ledger.open(used) as ledger:
        assert ledger.verify().ok
        assert checked(used).seq == 18, "six new entries are too few"
        fill(ledger, 11, 13)
    with Ledger.open(used) as ledger:
        assert checked(used).seq == ledger.head().seq == 28
        assert ledger.verify().problems == ()


def test_a_short_ledger_is_checked_whole_and_nothing_is_written(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
    Ledger.open(location).close()
    assert checked(location) is None


def test_sums_are_the_same_in_one_go_and_from_a_checkpoint(used: str) -> None:
    with Ledger.open(used) as ledger:
        entries = ledger.entries()
    whole = Recount()
    for entry in entries:
        whole.add(entry.seq, entry.kind, entry.account, entry.data)
    for cut in range(len(entries) + 1):
        first = Recount()
        for entry in entries[:cut]:
            first.add(entry.seq, entry.kind, entry.account, entry.data)
        rest = Recount.of(json.loads(json.dumps(first.sums())))
        for entry in entries[cut:]:
            rest.add(entry.seq, entry.kind, entry.account, entry.data)
        assert rest.sums() == whole.sums()


# Table, what is done to it, and what opening says: all of these are seen from the checkpoint on.
SEEN_AT_OPENING = {
    "spent is lowered": ("accounts", "SET spent = 0", "spent is ε=0, its entries say ε=0.000011"),
    "the limit is raised": ("accounts", 'SET "limit" = 9000000000', "limit is ε=9, its entries say ε=1"),
    "an analyst's limit is raised": ("analysts", 'SET "limit" = NULL', "analyst 'ann' .* limit None"),
    "what an analyst spent is lowered": ("analysts", "SET spent = 0", "analyst 'ann' .* spent ε=0;"),
    "a counter is set back": ("counters", "SET used = 1", "counter 'rule:groups' .* used 1;"),
    "a counter's limit is raised": ("counters", 'SET "limit" = 99', "counter 'rule:groups' .* limit 99"),
    "a grant is revoked": ("grants", "SET revoked = 20", "grant 'ann' .* revoked 20;"),
    "an answered question is opened again": (
        "reservations",
        "SET state = 'reserved', outcome = NULL WHERE seq = 3",
        "reservation 3 is not in the state",
    ),
    "an open question is closed": (
        "reservations",
        "SET state = 'failed', outcome = 10 WHERE seq = 9",
        "reservation 9 is not in the state",
    ),
    "an answered question failed": (
        "reservations",
        "SET state = 'failed' WHERE seq = 3",
        "the reservations that ended are not those",
    ),
    "an answered question gets cheaper": (
        "reservations",
        "SET cost = 1 WHERE seq = 3",
        "the reservations that ended are not those",
    ),
    "a new entry is edited": (
        "entries",
        "SET body = replace(body, '1000', '10') WHERE seq = 19",
        "entry 19 is not the one that was written",
    ),
    "the entry that was checked is another": ("entries", "SET hash = 'ab' WHERE seq = 18", "entry 18 is not"),
    "the head goes back": ("head", "SET seq = 18", "the head says entry 18, the chain ends at entry 24"),
    "the checkpoint cannot be read": ("checked", "SET sums = '{}'", "was checked cannot be read"),
    "the checkpoint is no JSON": ("checked", "SET sums = '{'", "does not verify"),
    "the checkpoint is ahead": ("checked", "SET seq = 99", "entry 99 is not the one that was checked"),
}


def test_opening_sees_that_spent_is_lowered_where_it_was_written_down_as_well(
    used: str, execute: Execute
) -> None:
    forge(used, execute, "ledger_accounts", "UPDATE ledger_accounts SET spent = spent - 8000")
    lowered = r"""replace(sums, '"spent"\:8000', '"spent"\:0')"""
    forge(used, execute, "ledger_checked", f"UPDATE ledger_checked SET sums = {lowered}")
    with pytest.raises(LedgerDamaged, match="account 'patients': less is spent than was charged"):
        Ledger.open(used)


@pytest.mark.parametrize("name", SEEN_AT_OPENING)
def test_opening_sees_that(used: str, execute: Execute, name: str) -> None:
    table, change, finding = SEEN_AT_OPENING[name]
    forge(used, execute, f"ledger_{table}", f"UPDATE ledger_{table} {change}")
    with pytest.raises(LedgerDamaged, match=finding):
        Ledger.open(used)
    with Ledger.audit(used) as ledger:
        assert not ledger.verify().ok


# Seen by verify alone: what was checked before is not read again, and what was written down is believed.
SEEN_BY_VERIFY = {
    "an old entry is edited": (
        [("entries", "SET body = replace(body, '1000', '10') WHERE seq = 3")],
        "entry 3 is not the one that was written",
    ),
    "an old entry is filed elsewhere": ([("entries", "SET kind = 'rule' WHERE seq = 3")], "entry 3 is filed"),
    "two answered questions change places": (
        [
            ("reservations", "SET key = 'x' WHERE seq = 3"),
            ("reservations", "SET key = 'q0' WHERE seq = 5"),
            ("reservations", "SET key = 'q1' WHERE seq = 3"),
        ],
        "reservation 3 is not in the state",
    ),
    "the limit is raised where it was written down as well": (
        [
            ("accounts", 'SET "limit" = 9000000000'),
            ("checked", r"""SET sums = replace(sums, '"limit"\:1000000000', '"limit"\:9000000000')"""),
        ],
        "what was written down when entry 18 was checked is not what the entries say",
    ),
}


@pytest.mark.parametrize("name", SEEN_BY_VERIFY)
def test_only_verifying_sees_that(used: str, execute: Execute, name: str) -> None:
    changes, finding = SEEN_BY_VERIFY[name]
    for table, change in changes:
        forge(used, execute, f"ledger_{table}", f"UPDATE ledger_{table} {change}")
    with Ledger.open(used) as ledger:
        assert any(finding in problem for problem in ledger.verify().problems), ledger.verify().problems


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_checked SET seq = 17",
        "UPDATE ledger_checked SET sums = '{}'",
        "DELETE FROM ledger_checked",
        "INSERT INTO ledger_checked VALUES (2, 5, 'ab', '{}')",
        "UPDATE ledger_counters SET used = 0",
        "DELETE FROM ledger_counters",
        'UPDATE ledger_counters SET "limit" = 0',
        "UPDATE ledger_grants SET granted = 1",
        "DELETE FROM ledger_grants",
        "INSERT INTO ledger_grants VALUES ('patients', 'ann', 3, NULL)",
        "INSERT INTO ledger_counters VALUES ('patients', 'rule:groups', 5, 0)",
    ],
)
def test_the_database_itself_refuses(used: str, execute: Execute, statement: str) -> None:
    with pytest.raises(sa.exc.DBAPIError):
        execute(statement)
    with Ledger.open(used) as ledger:
        assert ledger.verify().ok


def test_a_revocation_cannot_be_taken_back_by_hand(used: str, execute: Execute) -> None:
    with Ledger.open(used) as ledger:
        ledger.grant("patients", "bob", limit=5, **WHY)
        ledger.revoke("patients", "bob", **WHY)
    for statement in (
        "UPDATE ledger_grants SET revoked = NULL WHERE analyst = 'bob'",
        "UPDATE ledger_grants SET revoked = revoked + 1 WHERE analyst = 'bob'",
    ):
        with pytest.raises(sa.exc.DBAPIError):
            execute(statement)


def test_what_was_charged_again_is_guarded_and_counted(used: str, execute: Execute) -> None:
    with Ledger.open(used) as ledger:
        ledger.grant("patients", "bob", limit=5000, **WHY)
        ledger.reserve("patients", analyst="bob", key="q0", cost=1000, record={})
        assert ledger.verify().ok
    for statement in ("DELETE FROM ledger_again", "UPDATE ledger_again SET key = 'x'"):
        with pytest.raises(sa.exc.DBAPIError):
            execute(statement)
    forge(used, execute, "ledger_again", "DELETE FROM ledger_again")
    with pytest.raises(LedgerDamaged, match="what was charged again is not what the entries say"):
        Ledger.open(used)


JOB = (
    "INSERT INTO ledger_jobs (id, account, key, analyst, idempotency, state, payload, created_at)"
    " VALUES ('{id}', 'patients', '{key}', 'ann', '{id}', '{state}', {payload}, '2026-01-01')"
)


def test_jobs_come_change_and_go_and_lose_their_question_when_they_end(
    ledger: Ledger, account: Account, execute: Execute
) -> None:
    ledger.reserve(account, analyst="ann", key="q", cost=1, record={})
    execute(JOB.format(id="a", key="q", state="reserved", payload="'{}'"))
    for refused in (
        JOB.format(id="a", key="q", state="reserved", payload="'{}'"),
        JOB.format(id="b", key="q", state="reserved", payload="NULL"),
        JOB.format(id="b", key="q", state="asleep", payload="'{}'"),
        JOB.replace("'{id}', '{state}'", "'a', '{state}'").format(
            id="b", key="q", state="reserved", payload="'{}'"
        ),
        "UPDATE ledger_jobs SET state = 'committed'",
    ):
        with pytest.raises(sa.exc.DBAPIError):
            execute(refused)
    execute("UPDATE ledger_jobs SET state = 'running', claimed_by = 'worker', claimed_at = '2026-01-01'")
    assert ledger.verify().ok
    execute("UPDATE ledger_jobs SET state = 'committed', payload = NULL")
    assert ledger.verify().ok
    execute("DELETE FROM ledger_jobs")
    assert ledger.verify().ok


def test_a_job_that_was_never_charged_is_noticed(
    ledger: Ledger, account: Account, location: str, execute: Execute
) -> None:
    execute(JOB.format(id="a", key="never", state="running", payload="'{}'"))
    assert ledger.verify().problems == ("job 'a' was not charged",)


def test_a_checkpoint_is_of_no_use_to_another_ledger(tmp_path: Path) -> None:
    paths = [tmp_path / "one.ledger", tmp_path / "two.ledger"]
    for path in paths:
        with Ledger.open(path) as ledger:
            ledger.open_account("patients", {}, limit=NANO, rules={})
            fill(ledger, 0, 8)
        Ledger.open(path).close()
    one = checked(str(paths[0]))
    with raw_engine(str(paths[1])).begin() as connection:
        guards = connection.execute(
            sa.text(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'ledger_checked'"
            )
        ).all()
        for name, _ in guards:
            connection.execute(sa.text(f"DROP TRIGGER {name}"))
        connection.execute(
            sa.text("UPDATE ledger_checked SET hash = :hash, sums = :sums"),
            {"hash": one.hash, "sums": json.dumps(one.sums)},
        )
        for _, text in guards:
            connection.execute(sa.text(text))
    with pytest.raises(LedgerDamaged, match="is not the one that was checked before"):
        Ledger.open(paths[1])

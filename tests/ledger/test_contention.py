# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly.core.epsilon import to_nano
from anonymaly.errors import BudgetExceeded, LedgerError
from anonymaly.ledger import Ledger
from tests.ledger.contention import AFFORDABLE, COST, charged_per_run
from tests.ledger.intruder import raw_engine

PROCESSES = 64
RUNS = 20


@pytest.mark.slow
def test_of_64_processes_at_once_exactly_the_10_that_the_budget_allows_are_answered(location: str) -> None:
    assert charged_per_run("curator", location, processes=PROCESSES, runs=RUNS) == [AFFORDABLE] * RUNS
    with Ledger.open(location) as ledger:
        assert ledger.verify().ok
        assert set(ledger.verify().spent.values()) == {AFFORDABLE * to_nano(COST)}
        assert ledger.head().seq == RUNS * (1 + 2 * AFFORDABLE)  # opened, and each reserved and committed


@pytest.mark.slow
def test_a_mutant_that_checks_and_then_charges_is_caught_by_the_same_harness(
    location: str, execute: Callable[[str], Any]
) -> None:
    execute("CREATE TABLE mutant (budget INTEGER, spent INTEGER)")
    execute(f"INSERT INTO mutant VALUES ({AFFORDABLE * COST}, 0)")
    assert charged_per_run("mutant", location, processes=PROCESSES, runs=1)[0] > AFFORDABLE


def test_threads_share_one_ledger(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=AFFORDABLE * COST, rules={})

        def ask(number: int) -> bool:
            try:
                return ledger.reserve(
                    "patients", analyst="owner", key=f"q{number}", cost=COST, record={}
                ).charged
            except BudgetExceeded:
                return False

        with ThreadPoolExecutor(16) as pool:
            assert sum(pool.map(ask, range(64))) == AFFORDABLE
        with ThreadPoolExecutor(16) as pool:
            assert not any(pool.map(ask, [0] * 64)), "the same question was charged before"
        assert ledger.verify().ok


def test_of_many_commits_at_once_one_wins_and_all_get_its_record(location: str) -> None:
    with Ledger.open(location) as first, Ledger.open(location) as second:
        first.open_account("patients", {}, limit=COST, rules={})
        reservation = first.reserve("patients", analyst="owner", key="q", cost=COST, record={})

        def commit(number: int) -> str | None:
            ledger = (first, second)[number % 2]
            return ledger.commit(reservation, digest=f"{number}", media_type="text/plain", size=1).digest

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(commit, range(32)))) == 1
        assert first.verify().ok


def be_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("session", "sqlite", "postgres"):
        monkeypatch.setattr(f"anonymaly.ledger.{module}.PATIENCE_SECONDS", 1)


def hang(connection: sa.Connection) -> None:
    """Lock the ledger as a writer does, and do nothing more."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT * FROM ledger_head FOR UPDATE")
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def test_a_writer_that_hangs_makes_others_give_up_in_the_end_with_nothing_spent(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_impatient(monkeypatch)
    with Ledger.open(location) as ledger, raw_engine(location).connect() as hanging:
        ledger.open_account("patients", {}, limit=COST, rules={})
        hang(hanging)
        with pytest.raises(LedgerError, match=r"was busy for 1 seconds.*no question is charged twice"):
            ledger.reserve("patients", analyst="owner", key="q", cost=COST, record={})
        hanging.rollback()
        assert ledger.account("patients").spent == 0
        assert ledger.reserve("patients", analyst="owner", key="q", cost=COST, record={}).charged


def test_a_writer_that_hangs_while_an_answer_is_recorded_is_not_said_to_have_cost_nothing(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_impatient(monkeypatch)
    with Ledger.open(location) as ledger, raw_engine(location).connect() as hanging:
        ledger.open_account("patients", {}, limit=COST, rules={})
        charged = ledger.reserve("patients", analyst="owner", key="q", cost=COST, record={})
        hang(hanging)
        with pytest.raises(LedgerError, match="was busy for 1 seconds") as caught:
            ledger.commit(charged, digest="aa", media_type="text/plain", size=1)
        assert "nothing was spent" not in str(caught.value).lower()
        hanging.rollback()
        assert ledger.account("patients").spent == COST
        assert ledger.commit(charged, digest="aa", media_type="text/plain", size=1).state == "committed"

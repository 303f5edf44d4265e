# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, InputError, LedgerError
from anonymaly.ledger import Account, Ledger, Receipt, Reservation

NANO = 10**9


def ask(ledger: Ledger, key: str = "q1", cost: int = NANO // 10, analyst: str = "owner") -> Reservation:
    return ledger.reserve("patients", analyst=analyst, key=key, cost=cost, record={"question": "count"})


def store(ledger: Ledger, reservation: Reservation, digest: str = "aa") -> Reservation:
    return ledger.commit(reservation, digest=digest, media_type="application/json", size=7)


def test_a_reservation_is_charged_before_anything_is_answered(ledger: Ledger, account: Account) -> None:
    reservation = ledger.reserve(
        account, analyst="ann", key="q1", cost=NANO // 10, record={"question": "count"}
    )
    assert reservation.charged
    assert reservation.state == "reserved"
    assert ledger.account("patients").spent == NANO // 10
    assert ledger.reservations(account) == [replace(reservation, charged=False)]
    assert ledger.entries(account)[-1].data["record"] == {"question": "count"}


def test_the_same_question_is_charged_once_whoever_asks(ledger: Ledger, account: Account) -> None:
    first = ask(ledger, analyst="ann")
    again = ask(ledger, analyst="bob")
    assert again == replace(first, charged=False)
    assert ledger.account("patients").spent == NANO // 10
    assert ledger.head().seq == 2


def test_the_same_key_at_another_price_is_refused(ledger: Ledger, account: Account) -> None:
    ask(ledger, cost=1)
    with pytest.raises(LedgerError, match=r"reserved at ε=0\.000000001, now asked at ε=0\.1"):
        ask(ledger)


def test_the_same_key_in_another_account_is_another_question(ledger: Ledger, account: Account) -> None:
    ledger.open_account("bank", {}, limit=NANO, rules={})
    ask(ledger)
    assert ledger.reserve("bank", analyst="owner", key="q1", cost=1, record={}).charged


def test_a_budget_that_does_not_suffice_gives_needed_remaining_limit_and_what_to_do(
    ledger: Ledger, account: Account
) -> None:
    ask(ledger, cost=8 * NANO // 10)
    with pytest.raises(BudgetExceeded) as caught:
        ask(ledger, key="q2", cost=3 * NANO // 10)
    assert caught.value.problem == "needs ε=0.3; 0.2 of 1 remain"
    assert caught.value.next_step == "Lower epsilon, or ask the owner to raise the budget."
    assert caught.value.exit_code == 1
    assert ledger.head().seq == 2
    assert ask(ledger, key="q2", cost=2 * NANO // 10).charged
    assert ledger.account("patients").remaining == 0


def test_a_question_already_charged_is_found_when_nothing_remains(ledger: Ledger, account: Account) -> None:
    first = ask(ledger, cost=NANO)
    assert ask(ledger, cost=NANO) == replace(first, charged=False)


def test_the_first_commit_wins_and_the_second_gets_its_record(ledger: Ledger, account: Account) -> None:
    reservation = ask(ledger)
    winner = store(ledger, reservation, "aa")
    loser = store(ledger, reservation, "bb")
    assert (winner.state, winner.digest, winner.media_type, winner.size) == (
        "committed",
        "aa",
        "application/json",
        7,
    )
    assert replace(winner, charged=False) == loser == ask(ledger)
    assert [entry.kind for entry in ledger.entries(account)] == ["open", "reserve", "commit"]


def test_a_failure_keeps_the_charge(ledger: Ledger, account: Account) -> None:
    failed = ledger.fail(ask(ledger), stage="counts", error="OperationalError")
    assert (failed.state, failed.stage, failed.error) == ("failed", "counts", "OperationalError")
    assert ledger.fail(failed, stage="other", error="ValueError") == failed
    assert ledger.account("patients").spent == NANO // 10
    assert ask(ledger) == replace(failed, charged=False)


def test_one_charge_has_one_outcome_and_who_comes_later_gets_it(ledger: Ledger, account: Account) -> None:
    failed = ledger.fail(ask(ledger, "q1"), stage="counts", error="ValueError")
    assert store(ledger, failed) == failed
    committed = store(ledger, ask(ledger, "q2"))
    assert ledger.fail(committed, stage="counts", error="ValueError") == committed
    found = [ledger.find("patients", key) for key in ("q1", "q2")]
    assert [item.state for item in found if item] == ["failed", "committed"]
    assert ledger.find("patients", "q3") is None
    assert ledger.verify().ok


def test_an_error_text_cannot_be_written_down_only_its_class(ledger: Ledger, account: Account) -> None:
    with pytest.raises(InputError, match="error class"):
        ledger.fail(ask(ledger), stage="counts", error="row 17: age 43 is not valid")


def test_a_reservation_of_another_ledger_cannot_be_committed(ledger: Ledger, account: Account) -> None:
    reservation = ask(ledger)
    for stranger in (replace(reservation, ledger="0" * 32), replace(reservation, hash="0" * 64)):
        with pytest.raises(LedgerError, match="not a reservation of this ledger"):
            store(ledger, stranger)


def test_receipts_verify_before_and_after_the_answer_and_forged_ones_do_not(
    ledger: Ledger, account: Account
) -> None:
    reservation = ask(ledger)
    early = reservation.receipt()
    late = store(ledger, reservation).receipt()
    assert early.commit_seq is None
    assert (late.commit_seq, late.digest) == (3, "aa")
    assert ledger.verify_receipt(early)
    assert ledger.verify_receipt(late)
    assert ledger.verify_receipt(late.to_dict())
    assert Receipt.from_dict(late.to_dict()) == late
    for forged in (
        replace(late, cost=1),
        replace(late, key="q2"),
        replace(late, account="bank"),
        replace(late, ledger="0" * 32),
        replace(late, seq=1),
        replace(late, hash="0" * 64),
        replace(late, digest="bb"),
        replace(late, commit_hash="0" * 64),
        replace(early, digest="aa"),
    ):
        assert not ledger.verify_receipt(forged)
    with pytest.raises(InputError, match="receipt"):
        ledger.verify_receipt({"key": "q1"})


@pytest.mark.parametrize(
    "bad",
    [
        {"cost": 0},
        {"cost": -1},
        {"cost": True},
        {"cost": 0.1},
        {"cost": 2**63},
        {"key": ""},
        {"key": "a\x00b"},
        {"key": "a\nb"},
        {"analyst": "x" * 201},
        {"analyst": "\ud800"},
        {"record": {"value": float("inf")}},
        {"record": None},
    ],
)
def test_bad_input_is_refused_before_it_is_charged(
    ledger: Ledger, account: Account, bad: dict[str, Any]
) -> None:
    good: dict[str, Any] = {"analyst": "owner", "key": "q1", "cost": 1, "record": {}}
    with pytest.raises(InputError) as caught:
        ledger.reserve(account, **{**good, **bad})
    assert caught.value.field
    assert caught.value.next_step
    assert ledger.account("patients").spent == 0


def test_clocks_that_jump_back_change_nothing(
    ledger: Ledger, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime, tzinfo

    import anonymaly.ledger.transaction as module

    class Yesterday(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Yesterday:
            return cls(1999, 12, 31, tzinfo=UTC)

    ask(ledger, "q1")
    monkeypatch.setattr(module, "datetime", Yesterday)
    ask(ledger, "q2")
    monkeypatch.undo()
    ask(ledger, "q3")
    times = [entry.time for entry in ledger.entries(account)]
    assert times != sorted(times)
    assert all(time.endswith("+00:00") for time in times)
    assert [reservation.key for reservation in ledger.reservations(account)] == ["q1", "q2", "q3"]
    assert ledger.verify().ok


def test_what_the_ledger_hands_out_is_plain_data(ledger: Ledger, account: Account) -> None:
    import json

    reservation = store(ledger, ask(ledger))
    for value in (account, reservation, reservation.receipt(), ledger.head(), ledger.verify()):
        assert json.loads(json.dumps(value.to_dict())) == value.to_dict()
    assert all(json.dumps(entry.to_dict()) for entry in ledger.entries())

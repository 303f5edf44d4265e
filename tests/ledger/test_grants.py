# SPDX-License-Identifier: Apache-2.0
"""What an owner allows and stops: grants, revocations, pauses and consents, each an entry of the chain."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, InputError, LedgerError, Refused
from anonymaly.ledger import Account, Ledger, Reservation

NANO = 10**9
WHY = {"by": "owner", "reason": "a study"}


def ask(ledger: Ledger, key: str, analyst: str, cost: int = NANO // 10) -> Reservation:
    return ledger.reserve("patients", analyst=analyst, key=key, cost=cost, record={})


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def test_without_any_grant_analysts_are_labels(ledger: Ledger, account: Account) -> None:
    assert ask(ledger, "q1", "anybody").charged
    assert ledger.grants(account) == []
    assert ledger.verify().ok


def test_a_grant_is_an_entry_with_who_and_why_and_terms(ledger: Ledger, account: Account) -> None:
    terms = {"questions": ["count"], "until": "2027-01-01"}
    given = ledger.grant(account, "ann", limit=NANO // 2, terms=terms, by="owner", reason="a study")
    assert (given.limit, given.spent, given.standing, given.terms) == (NANO // 2, 0, True, terms)
    assert ledger.grants(account) == [given]
    entry = ledger.entries(account)[-1]
    assert (entry.kind, entry.seq) == ("grant", given.seq)
    assert entry.data == {"analyst": "ann", "limit": NANO // 2, "terms": terms, **WHY}
    assert ledger.verify().ok


def test_a_limit_of_an_analyst_is_enforced_and_charges_neither_row(ledger: Ledger, account: Account) -> None:
    ask(ledger, "q1", "ann")
    ledger.grant(account, "ann", limit=150_000_000, **WHY)
    ledger.grant(account, "bob", limit=None, **WHY)
    with pytest.raises(BudgetExceeded, match=r"needs ε=0\.1; 0\.05 of 0\.15 remain for analyst 'ann'"):
        ask(ledger, "q2", "ann")
    assert ledger.account("patients").spent == NANO // 10
    assert ask(ledger, "q2", "bob").charged
    assert [item.spent for item in ledger.grants(account)] == [NANO // 10, NANO // 10]
    assert ledger.verify().ok


def test_from_the_first_grant_on_whoever_has_none_is_refused(ledger: Ledger, account: Account) -> None:
    ask(ledger, "q1", "eve")
    ledger.grant(account, "ann", limit=NANO, **WHY)
    for key in ("q1", "q2"):
        with pytest.raises(Refused, match=r"analyst 'eve' has no grant for 'patients'.*Ask the owner"):
            ask(ledger, key, "eve")
    ledger.open_account("bank", {}, limit=NANO, rules={})
    assert ledger.reserve("bank", analyst="eve", key="q", cost=1, record={}).charged


def test_a_revoked_grant_refuses_and_a_new_one_allows_again(ledger: Ledger, account: Account) -> None:
    ledger.grant(account, "ann", limit=NANO, **WHY)
    ask(ledger, "q1", "ann")
    revoked = ledger.revoke(account, "ann", by="owner", reason="the study ended")
    assert (revoked.standing, revoked.limit) == (False, NANO)
    assert ledger.revoke(account, "ann", by="owner", reason="once more") == revoked
    with pytest.raises(Refused, match="had a grant that was revoked"):
        ask(ledger, "q2", "ann")
    assert ledger.account("patients").spent == NANO // 10
    ledger.grant(account, "ann", limit=NANO, **WHY)
    assert ask(ledger, "q2", "ann").charged
    assert kinds(ledger) == ["open", "grant", "reserve", "revocation", "grant", "reserve"]
    assert ledger.verify().ok
    with pytest.raises(Refused, match="analyst 'eve' has no grant"):
        ledger.revoke(account, "eve", **WHY)


def test_the_same_grant_again_writes_nothing_and_another_takes_its_place(
    ledger: Ledger, account: Account
) -> None:
    first = ledger.grant(account, "ann", limit=NANO // 2, **WHY)
    assert ledger.grant(account, "ann", limit=NANO // 2, **WHY) == first
    more = ledger.grant(account, "ann", limit=NANO, **WHY)
    assert (more.limit, more.seq) == (NANO, first.seq + 1)
    ask(ledger, "q1", "ann", cost=NANO)
    with pytest.raises(Refused, match=r"has spent ε=1, and 0\.5 is less"):
        ledger.grant(account, "ann", limit=NANO // 2, **WHY)
    assert ledger.verify().ok


def test_the_same_question_by_another_analyst_is_charged_to_their_limit_once_and_not_to_the_table(
    ledger: Ledger, account: Account
) -> None:
    for analyst in ("ann", "bob", "cy"):
        ledger.grant(account, analyst, limit=NANO // 10 if analyst != "cy" else 5, **WHY)
    first = ask(ledger, "q1", "ann")
    for _ in range(2):
        assert ask(ledger, "q1", "bob") == replace(first, charged=False)
    assert ledger.account("patients").spent == NANO // 10
    assert {item.analyst: item.spent for item in ledger.grants(account)} == {
        "ann": NANO // 10,
        "bob": NANO // 10,
        "cy": 0,
    }
    with pytest.raises(BudgetExceeded, match="for analyst 'cy'"):
        ask(ledger, "q1", "cy")
    assert kinds(ledger)[-2:] == ["reserve", "again"]
    assert ledger.verify().ok


def test_a_paused_account_charges_nothing_and_stored_answers_stay_free(
    ledger: Ledger, account: Account
) -> None:
    done = ledger.commit(ask(ledger, "done", "ann"), digest="aa", media_type="text/plain", size=1)
    ask(ledger, "open", "ann")
    assert ledger.pause(account, by="owner", reason="the table is being mended").paused
    assert ledger.pause(account, **WHY).paused
    for key in ("open", "new"):
        with pytest.raises(Refused, match=r"'patients' is paused by its owner.*stay free"):
            ask(ledger, key, "ann")
    assert ask(ledger, "done", "ann") == replace(done, charged=False)
    assert ledger.account("patients").spent == 2 * NANO // 10
    assert not ledger.resume(account, **WHY).paused
    assert ask(ledger, "new", "ann").charged
    assert [entry.data["paused"] for entry in ledger.entries() if entry.kind == "pause"] == [True, False]
    assert ledger.verify().ok


def test_what_an_owner_confirmed_is_written_down_for_an_account_or_the_ledger(
    ledger: Ledger, account: Account
) -> None:
    subject = {"proposal": "raise", "to": "3"}
    number = ledger.consent(account, subject, **WHY)
    assert ledger.consent(account, subject, **WHY) == number
    assert ledger.consent(None, subject, **WHY) == number + 1
    assert ledger.consent(None, subject, **WHY) == number + 1
    assert [entry.account for entry in ledger.entries() if entry.kind == "consent"] == ["patients", None]
    assert ledger.entries()[-1].data == {"subject": subject, **WHY}
    assert ledger.verify().ok


def test_a_raise_may_say_who_and_why(ledger: Ledger, account: Account) -> None:
    ledger.raise_limit(account, 2 * NANO, by="owner", reason="a new study")
    assert ledger.entries()[-1].data == {
        "from": NANO,
        "to": 2 * NANO,
        "by": "owner",
        "reason": "a new study",
    }
    assert ledger.verify().ok


@pytest.mark.parametrize(
    "use",
    [
        lambda ledger: ledger.grant("nobody", "ann", limit=1, **WHY),
        lambda ledger: ledger.revoke("nobody", "ann", **WHY),
        lambda ledger: ledger.pause("nobody", **WHY),
        lambda ledger: ledger.consent("nobody", {}, **WHY),
        lambda ledger: ledger.limit_counter("nobody", "rule", 1, **WHY),
    ],
)
def test_an_unknown_account_is_a_clear_error(ledger: Ledger, use: Callable[[Ledger], Any]) -> None:
    with pytest.raises(LedgerError, match="no account 'nobody'"):
        use(ledger)
    assert ledger.head().seq == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"limit": -1},
        {"limit": 0.5},
        {"limit": True},
        {"by": ""},
        {"by": "a\nb"},
        {"reason": "  "},
        {"reason": "x" * 2001},
        {"reason": "\x00"},
        {"terms": [1]},
        {"terms": {"until": float("nan")}},
        {"analyst": ""},
    ],
)
def test_a_bad_grant_is_refused_before_anything_is_written(
    ledger: Ledger, account: Account, bad: dict[str, Any]
) -> None:
    good: dict[str, Any] = {"analyst": "ann", "limit": 5, **WHY}
    with pytest.raises(InputError) as caught:
        ledger.grant(account, **{**good, **bad})
    assert caught.value.next_step
    assert ledger.head().seq == 1


def test_of_many_who_ask_while_a_grant_is_revoked_none_is_charged_afterwards(location: str) -> None:
    with Ledger.open(location) as ledger, Ledger.open(location) as other:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        ledger.grant("patients", "ann", limit=NANO, **WHY)

        def work(number: int) -> bool:
            if number == 10:
                other.revoke("patients", "ann", **WHY)
                return False
            try:
                return ask(ledger, f"q{number}", "ann", cost=1).charged
            except Refused:
                return False

        with ThreadPoolExecutor(4) as pool:
            charged = sum(pool.map(work, range(30)))
        entries = [entry.kind for entry in ledger.entries()]
        assert "reserve" not in entries[entries.index("revocation") :]
        assert ledger.account("patients").spent == charged
        assert ledger.verify().ok

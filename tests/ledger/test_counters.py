# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, InputError, Refused
from anonymaly.ledger import Account, Counter, Ledger

NANO = 10**9
WHY = {"by": "owner", "reason": "a study"}
RULE = "rule:groups"


def ask(ledger: Ledger, key: str, cost: int = 1, **counters: int) -> Any:
    named = {f"rule:{name}": limit for name, limit in counters.items()}
    return ledger.reserve("patients", analyst="owner", key=key, cost=cost, record={}, counters=named)


def test_a_counter_allows_as_many_questions_as_its_limit_says(ledger: Ledger, account: Account) -> None:
    for number in range(3):
        assert ask(ledger, f"q{number}", groups=3).charged
    with pytest.raises(Refused, match="'rule:groups' allows 3 in all, and 3 are used"):
        ask(ledger, "q3", groups=3)
    assert ledger.account("patients").spent == 3
    assert not ask(ledger, "q2", groups=3).charged
    assert ask(ledger, "other").charged
    assert ledger.counters(account) == [Counter(RULE, 3, 3)]
    assert ledger.entries()[-2].data["counters"] == {RULE: [3, 1]}
    assert ledger.verify().ok


def test_a_question_counts_in_all_its_counters_or_in_none(ledger: Ledger, account: Account) -> None:
    ask(ledger, "q1", one=1, two=5)
    with pytest.raises(Refused, match="'rule:one'"):
        ask(ledger, "q2", one=1, two=5)
    with pytest.raises(BudgetExceeded):
        ask(ledger, "q2", cost=NANO, two=5)
    assert [item.used for item in ledger.counters(account)] == [1, 1]
    assert ledger.verify().ok


def test_a_limit_is_kept_from_its_first_use_on_and_a_lower_one_holds_for_the_question(
    ledger: Ledger, account: Account
) -> None:
    ask(ledger, "q1", groups=2)
    ask(ledger, "q2", groups=50)
    with pytest.raises(Refused, match="allows 2 in all, and 2 are used"):
        ask(ledger, "q3", groups=50)
    ledger.limit_counter(account, RULE, 4, **WHY)
    with pytest.raises(Refused, match="allows 2 in all, and 2 are used"):
        ask(ledger, "q3", groups=2)
    assert ask(ledger, "q3", groups=4).charged
    entry = next(entry for entry in ledger.entries() if entry.kind == "limit")
    assert entry.data == {"counter": RULE, "from": 2, "to": 4, "used": 2, **WHY}
    assert ledger.counters(account) == [Counter(RULE, 4, 3)]
    assert ledger.verify().ok


def test_an_owner_may_lower_a_limit_to_what_is_used_and_say_what_counts_as_used(
    ledger: Ledger, account: Account
) -> None:
    ask(ledger, "q1", groups=20)
    with pytest.raises(Refused, match="is used 1 times, and 0 is less"):
        ledger.limit_counter(account, RULE, 0, **WHY)
    assert ledger.limit_counter(account, RULE, 1, **WHY).remaining == 0
    assert ledger.limit_counter(account, RULE, 1, **WHY).remaining == 0
    with pytest.raises(Refused, match="allows 1 in all"):
        ask(ledger, "q2", groups=20)
    assert ledger.limit_counter(account, "rule:new", 20, used=15, **WHY) == Counter("rule:new", 20, 15)
    assert [entry.kind for entry in ledger.entries()] == ["open", "reserve", "limit", "limit"]
    assert ledger.verify().ok


def test_of_many_at_once_exactly_as_many_as_the_limit_are_counted(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        ledgers = [Ledger.open(location) for _ in range(4)]

        def work(number: int) -> bool:
            try:
                return bool(ask(ledgers[number % 4], f"q{number}", groups=10).charged)
            except Refused:
                return False

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(work, range(32))) == 10
        assert ledger.account("patients").spent == 10
        assert ledger.verify().ok
        for item in ledgers:
            item.close()


@pytest.mark.parametrize(
    "bad", [{"": 1}, {RULE: -1}, {RULE: 1.5}, {RULE: True}, {RULE: 2**60}, {"a\n": 1}, [RULE]]
)
def test_a_bad_counter_is_refused_before_anything_is_charged(
    ledger: Ledger, account: Account, bad: Any
) -> None:
    with pytest.raises(InputError, match="counters"):
        ledger.reserve(account, analyst="owner", key="q", cost=1, record={}, counters=bad)
    assert ledger.head().seq == 1


def count_once(ledger: Ledger, key: str, mark: str, limit: int = 2) -> Any:
    return ledger.reserve(
        "patients", analyst="owner", key=key, cost=1, record={}, counters={RULE: limit}, once={RULE: mark}
    )


def test_what_is_counted_once_does_not_go_up_again(ledger: Ledger, account: Account) -> None:
    for key, mark in (("q1", "asked:a"), ("q2", "asked:a"), ("q3", "asked:b"), ("q4", "asked:b")):
        count_once(ledger, key, mark)
    with pytest.raises(Refused, match="'rule:groups' allows 2 in all, and 2 are used"):
        count_once(ledger, "q5", "asked:c")
    count_once(ledger, "q6", "asked:a")  # at the limit, what was counted before is free still
    used = {item.name: (item.limit, item.used) for item in ledger.counters(account)}
    assert used == {RULE: (2, 2), "asked:a": (1, 1), "asked:b": (1, 1)}
    assert ledger.account("patients").spent == 5
    assert ledger.verify().ok


def test_a_refused_question_leaves_no_mark(ledger: Ledger, account: Account) -> None:
    with pytest.raises(Refused):
        count_once(ledger, "q1", "asked:a", limit=0)
    assert ledger.counters(account) == []
    count_once(ledger, "q1", "asked:a")
    assert [item.used for item in ledger.counters(account)] == [1, 1]


def test_an_amendment_lets_counters_in_use_go_further_and_never_less_far(
    ledger: Ledger, account: Account
) -> None:
    count_once(ledger, "q1", "asked:a", limit=1)

    def amend(version: str, limit: int) -> None:
        declared = {**account.declaration, "version": version}
        limits = {RULE: limit, "rule:unused": 5}
        ledger.amend(account, declared, rules={}, reason="more", learned_from_rows=False, counters=limits)

    amend("2", 3)
    assert ledger.counters(account)[-1] == Counter(RULE, 3, 1)
    amend("3", 2)
    assert ledger.counters(account)[-1] == Counter(RULE, 3, 1)
    count_once(ledger, "q2", "asked:b", limit=3)
    assert "rule:unused" not in [item.name for item in ledger.counters(account)]
    assert ledger.verify().ok

# SPDX-License-Identifier: Apache-2.0
"""What a table keeps for its analysts: no denial tells what another one asked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, InputError, Refused
from anonymaly.ledger import Account, Grant, Ledger, Reservation
from tests.ledger.contention import at_once

NANO = 10**9
WHY: dict[str, Any] = {"by": "owner", "reason": "a study"}
RULES: dict[str, dict[str, Any]] = {
    "groups": {"type": "same_contexts", "questions": 10},
    "adults": {"type": "policy", "text": "age > 17"},
}


def grant(ledger: Ledger, analyst: str, total: int | None, **terms: Any) -> Grant:
    return ledger.grant("patients", analyst, limit=None, terms={"terms": 1, "total": total, **terms}, **WHY)


def ask(ledger: Ledger, key: str, analyst: str, cost: int = NANO // 10, **more: Any) -> Reservation:
    record = {"question": "count", "asks": key}
    return ledger.reserve("patients", analyst=analyst, key=key, cost=cost, record=record, **more)


def counted(key: str) -> dict[str, Any]:
    return {"rule": "groups", "counters": {"rule:groups": 10}, "once": {"rule:groups": f"asked:{key}"}}


@pytest.fixture
def account(ledger: Ledger) -> Account:
    return ledger.open_account("patients", {}, limit=NANO, rules=RULES)


def test_no_more_is_granted_than_the_table_has(ledger: Ledger, account: Account) -> None:
    grant(ledger, "ann", NANO * 6 // 10)
    with pytest.raises(
        Refused,
        match=r"ε=0\.1 more than 'patients' has: of 1, 0 are spent, and 1\.1 would be kept for 2 analysts",
    ):
        grant(ledger, "bob", NANO // 2)
    assert [item.analyst for item in ledger.grants("patients")] == ["ann"]
    assert grant(ledger, "bob", NANO * 4 // 10).standing
    ledger.raise_limit("patients", 2 * NANO)
    assert grant(ledger, "bob", NANO * 14 // 10).standing
    assert ledger.verify().ok


def test_totals_count_and_not_what_is_left_of_a_period(ledger: Ledger, account: Account) -> None:
    period = {"epsilon": 1, "every": "month", "from": "2026-01-01"}
    grant(ledger, "ann", NANO * 6 // 10, period=period)
    with pytest.raises(Refused, match="would be kept for 2 analysts"):
        grant(ledger, "bob", NANO // 2, period=period)


def test_what_was_spent_counts_and_what_is_revoked_is_free_again(ledger: Ledger, account: Account) -> None:
    ask(ledger, "q0", "somebody before there were grants", cost=NANO // 10)
    grant(ledger, "ann", NANO * 9 // 10)
    ask(ledger, "q1", "ann", cost=NANO // 2)
    with pytest.raises(Refused, match="more than 'patients' has"):
        grant(ledger, "bob", 1)
    ledger.revoke("patients", "ann", **WHY)
    assert grant(ledger, "bob", NANO * 4 // 10).standing
    with pytest.raises(Refused, match="more than 'patients' has"):
        grant(ledger, "ann", NANO // 2 + 1)
    assert grant(ledger, "ann", NANO // 2).standing
    assert ledger.verify().ok


def test_whoever_was_promised_something_finds_it_whatever_others_do(ledger: Ledger, account: Account) -> None:
    grant(ledger, "ann", NANO // 2)
    grant(ledger, "bob", None, overcommit=True)
    ledger.grant("patients", "old", limit=None, **WHY)
    ask(ledger, "q1", "bob", cost=NANO * 3 // 10)
    ask(ledger, "q2", "old", cost=NANO * 2 // 10)
    for analyst in ("bob", "old"):
        with pytest.raises(BudgetExceeded) as caught:
            ask(ledger, "q3", analyst, cost=1)
        assert caught.value.problem == "needs ε=0.000000001, which the table does not have for you"
    assert ask(ledger, "q4", "ann", cost=NANO // 2).charged
    assert ledger.account("patients").remaining == 0
    assert ledger.verify().ok


def test_an_empty_table_does_not_tell_which_questions_were_asked(ledger: Ledger, account: Account) -> None:
    grant(ledger, "ann", NANO // 2)
    grant(ledger, "bob", None, overcommit=True)
    ask(ledger, "q1", "bob", cost=NANO // 2)
    ask(ledger, "q2", "ann", cost=1)
    said = []
    for key in ("q2", "q3"):  # one that ann asked, and one that nobody did
        with pytest.raises(BudgetExceeded) as caught:
            ask(ledger, key, "bob", cost=1)
        said.append(caught.value.to_dict())
    assert said[0] == said[1]
    assert not ask(ledger, "q1", "bob", cost=NANO // 2).charged


def test_no_more_questions_are_allotted_than_a_rule_allows(ledger: Ledger, account: Account) -> None:
    grant(ledger, "ann", 1000, rules={"groups": 6})
    with pytest.raises(Refused, match=r"'groups' allows 10 questions: 0 are asked, and 11 would be kept"):
        grant(ledger, "bob", 1000, rules={"groups": 5})
    for rules in ({"groups": None}, {"any": True}):
        with pytest.raises(
            Refused, match="'groups' counts questions, and analyst 'bob' was granted no number"
        ):
            grant(ledger, "bob", 1000, rules=rules)
    ask(ledger, "q1", "ann", cost=1, **counted("q1"))
    assert grant(ledger, "bob", 1000, rules={"groups": 4}).standing
    with pytest.raises(Refused, match="1 are asked, and 10 would be kept"):
        grant(ledger, "ann", 1000, rules={"groups": 7})
    assert ledger.verify().ok


def test_the_questions_that_were_allotted_are_there_whatever_others_ask(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, "ann", 1000, rules={"groups": 8})
    grant(ledger, "bob", 1000, rules={"any": True}, overcommit=True)
    for key in ("b1", "b2"):
        ask(ledger, key, "bob", cost=1, **counted(key))
    with pytest.raises(Refused, match="the rule 'groups' has no more questions for you"):
        ask(ledger, "b3", "bob", cost=1, **counted("b3"))
    ask(ledger, "b2 at another price", "bob", cost=2, **counted("b2"))
    for number in range(8):
        ask(ledger, f"a{number}", "ann", cost=1, **counted(f"a{number}"))
    with pytest.raises(Refused, match="may ask 8 different questions"):
        ask(ledger, "a8", "ann", cost=1, **counted("a8"))
    assert ledger.verify().ok


def test_a_rule_that_is_used_up_does_not_tell_which_questions_were_asked_under_it(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, "ann", 1000, rules={"groups": 10})
    grant(ledger, "bob", 1000, rules={"any": True}, overcommit=True)
    ask(ledger, "a1", "ann", cost=1, **counted("a1"))
    said = []
    # The same question, the same at another price, and one that nobody asked.
    for key, cost, same in (("a1", 1, "a1"), ("a1 at another price", 2, "a1"), ("b1", 1, "b1")):
        with pytest.raises(Refused) as caught:
            ask(ledger, key, "bob", cost=cost, **counted(same))
        said.append(caught.value.to_dict())
    assert said[0] == said[1] == said[2]


def test_a_denial_by_ones_own_limits_is_the_same_whether_another_asked_or_not(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, "ann", 1000, rules={"groups": 5, "adults": None})
    grant(ledger, "bob", 10, rules={"groups": 1}, question_limit=5, questions=["count"])
    ask(ledger, "q0", "bob", cost=1, **counted("q0"))
    tried: list[tuple[int, dict[str, Any]]] = [
        (6, {}),  # too much for one
        (4, counted("mine")),  # too many under a rule
        (4, {"rule": "adults"}),  # a rule that is not granted
    ]
    for number, (cost, more) in enumerate(tried):
        if "once" in more:
            ask(ledger, "by ann", "ann", cost=cost, **more)
        else:
            ask(ledger, f"asked {number}", "ann", cost=cost, **more)
        said = []
        for key in ("by ann" if "once" in more else f"asked {number}", f"new {number}"):
            with pytest.raises(Refused) as caught:
                ask(ledger, key, "bob", cost=cost, **more)
            said.append(caught.value.to_dict())
        assert said[0] == said[1]
    assert {item.analyst: item.spent for item in ledger.grants("patients")}["bob"] == 1


def test_a_rule_is_not_amended_below_what_was_allotted(ledger: Ledger, account: Account) -> None:
    grant(ledger, "ann", 1000, rules={"groups": 6})

    def amend(questions: int) -> None:
        rules = {**RULES, "groups": {"type": "same_contexts", "questions": questions}}
        ledger.amend("patients", {}, rules=rules, reason="fewer", learned_from_rows=False)

    with pytest.raises(Refused, match="'groups' allows 5 questions: 0 are asked, and 6 would be kept"):
        amend(5)
    amend(6)
    with pytest.raises(Refused, match="'groups' allows 5 questions"):
        ledger.limit_counter("patients", "rule:groups", 5, **WHY)
    assert ledger.counters("patients") == []
    assert ledger.verify().ok


def test_a_rule_that_comes_back_allows_what_was_allotted_under_it(ledger: Ledger, account: Account) -> None:
    grant(ledger, "ann", 1000, rules={"groups": 6})
    ledger.amend("patients", {}, rules={}, reason="none", learned_from_rows=False)
    fewer = {"groups": {"type": "same_contexts", "questions": 5}}
    with pytest.raises(Refused, match="'groups' allows 5 questions: 0 are asked, and 6 would be kept"):
        ledger.amend("patients", {}, rules=fewer, reason="again", learned_from_rows=False)
    with pytest.raises(Refused, match="'groups' allows 5 questions"):
        ledger.open_account("patients", {}, limit=None, rules=fewer)
    ledger.open_account("patients", {}, limit=None, rules=RULES)
    assert ledger.verify().ok


def test_where_nothing_was_promised_a_rule_may_allow_less_than_was_asked(
    ledger: Ledger, account: Account
) -> None:
    for key in ("q1", "q2"):
        ask(ledger, key, "owner", cost=1, counters={"rule:groups": 10})
    fewer = {**RULES, "groups": {"type": "same_contexts", "questions": 1}}
    amended = ledger.amend("patients", {}, rules=fewer, reason="fewer", learned_from_rows=False)
    assert amended.rules == fewer


def test_overcommitment_must_be_said_where_there_is_no_total(ledger: Ledger, account: Account) -> None:
    with pytest.raises(InputError, match=r"terms\.total: must be said"):
        grant(ledger, "ann", None)
    given = grant(ledger, "ann", None, overcommit=True)
    assert (given.limit, given.terms) == (None, {"terms": 1, "overcommit": True})


Work = Callable[[Ledger, int], bool]


def race(location: str, work: Work, number: int) -> int:
    """Let many threads work on one ledger, over two connections; say how many had success."""
    with Ledger.open(location) as first, Ledger.open(location) as second, ThreadPoolExecutor(4) as pool:
        return sum(pool.map(lambda item: work((first, second)[item % 2], item), range(number)))


def test_of_many_grants_at_once_only_those_are_made_that_the_table_can_keep(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})

    def work(ledger: Ledger, number: int) -> bool:
        try:
            return grant(ledger, f"analyst{number}", NANO * 3 // 10).standing
        except Refused:
            return False

    assert race(location, work, 16) == 3
    with Ledger.open(location) as ledger:
        assert ledger.verify().ok
        assert len(ledger.grants("patients")) == 3


def test_a_grant_and_charges_at_once_never_leave_less_than_was_promised(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=20, rules={})
        grant(ledger, "bob", None, overcommit=True)

    def work(ledger: Ledger, number: int) -> bool:
        try:
            if number == 8:
                return grant(ledger, "ann", 10).standing
            return ask(ledger, f"q{number}", "bob", cost=1).charged
        except Refused:
            return False

    race(location, work, 32)
    with Ledger.open(location) as ledger:
        assert ledger.verify().ok
        granted = any(item.analyst == "ann" for item in ledger.grants("patients"))
        # Refused if it came when more than 10 were spent; otherwise kept, whatever came with it or after it.
        assert ledger.account("patients").remaining == (10 if granted else 0)
        assert not granted or ask(ledger, "all of it", "ann", cost=10).charged


@pytest.mark.slow
def test_of_16_processes_at_once_each_is_charged_its_own_and_the_table_once(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        for number in range(16):
            grant(ledger, f"analyst{number}", NANO // 16)
    assert at_once(_ask_the_same, location, processes=16) == [True] * 16
    with Ledger.open(location) as ledger:
        assert ledger.account("patients").spent == 5
        assert {item.spent for item in ledger.grants("patients")} == {5}
        kinds = [entry.kind for entry in ledger.entries("patients")]
        assert (kinds.count("reserve"), kinds.count("again")) == (1, 15)
        assert ledger.verify().ok


@pytest.mark.slow
def test_of_16_processes_that_find_a_new_period_one_renews_it(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("anonymaly.ledger.transaction.clock", lambda: datetime(2020, 1, 10, tzinfo=UTC))
        with Ledger.open(location) as ledger:
            ledger.open_account("patients", {}, limit=NANO, rules={})
            period = {"epsilon": 50, "every": "year", "from": "2019-01-01"}
            grant(ledger, "ann", 200, period=period)
    assert sum(at_once(_ask_of_ann, location, processes=16)) == 10
    with Ledger.open(location) as ledger:
        kinds = [entry.kind for entry in ledger.entries("patients")]
        assert kinds.count("grant") == 2
        assert ledger.account("patients").spent == 50
        assert ledger.verify().ok


def _ask_the_same(ledger: Ledger, process: int) -> bool:
    ask(ledger, "the same", f"analyst{process}", cost=5)
    return ledger.charge_of("patients", "the same", f"analyst{process}") is not None


def _ask_of_ann(ledger: Ledger, process: int) -> bool:
    try:
        return ask(ledger, f"q{process}", "ann", cost=5).charged
    except BudgetExceeded:
        return False

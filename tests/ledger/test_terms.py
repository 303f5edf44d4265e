# SPDX-License-Identifier: Apache-2.0
"""The terms of grants: what `reserve` holds an analyst to, in the transaction of the charge."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from anonymaly.errors import BudgetExceeded, InputError, Refused
from anonymaly.ledger import Account, Grant, Ledger, Reservation
from anonymaly.ledger.granted import read_granted
from anonymaly.ledger.periods import Period
from anonymaly.ledger.terms import Terms

NANO = 10**9
WHY: dict[str, Any] = {"by": "owner", "reason": "a study"}
RULES: dict[str, dict[str, Any]] = {
    "groups": {"type": "same_contexts", "questions": 10},
    "adults": {"type": "policy", "text": "age > 17"},
}
MONTHLY = {"epsilon": NANO // 10, "every": "month", "from": "2026-01-01"}


def grant(ledger: Ledger, analyst: str = "ann", limit: int | None = None, **terms: Any) -> Grant:
    return ledger.grant("patients", analyst, limit=limit, terms={"terms": 1, **terms}, **WHY)


def ask(
    ledger: Ledger,
    key: str,
    analyst: str = "ann",
    cost: int = NANO // 10,
    question: str = "count",
    **more: Any,
) -> Reservation:
    record = {"question": question, "asks": key}
    return ledger.reserve("patients", analyst=analyst, key=key, cost=cost, record=record, **more)


def counted(key: str, rule: str = "groups", most: int = 10) -> dict[str, Any]:
    counter = f"rule:{rule}"
    return {"rule": rule, "counters": {counter: most}, "once": {counter: f"asked:{key}"}}


@pytest.fixture
def account(ledger: Ledger) -> Account:
    return ledger.open_account("patients", {}, limit=NANO, rules=RULES)


class Clock:
    """The host's clock, set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, now: str) -> None:
        self.set(now)
        monkeypatch.setattr("anonymaly.ledger.transaction.clock", lambda: self.now)

    def set(self, now: str) -> None:
        self.now = datetime.fromisoformat(now).replace(tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch, "2026-01-10T12:00")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"terms": 2}, "terms"),
    ({"terms": True}, "terms"),
    ({"terms": "1"}, "terms"),
    ({"sum": 5}, "terms"),
    ({"total": -1}, "terms.total"),
    ({"total": 0.5}, "terms.total"),
    ({}, "terms.total"),
    ({"period": MONTHLY}, "terms.total"),
    ({"total": 5, "period": {"epsilon": 1, "every": "month"}}, "terms.period"),
    ({"total": 5, "period": {**MONTHLY, "every": "hour"}}, "terms.period.every"),
    ({"total": 5, "period": {**MONTHLY, "from": "January"}}, "terms.period.from"),
    ({"total": 5, "period": {**MONTHLY, "from": "9999-01-01"}}, "terms.period.from"),
    ({"total": 5, "period": {**MONTHLY, "epsilon": 0}}, "terms.period.epsilon"),
    ({"total": 5, "period": {**MONTHLY, "begun": "2026-01-01"}}, "terms.period.begun"),
    ({"total": 5, "question_limit": 0}, "terms.question_limit"),
    ({"total": 5, "until": "tomorrow"}, "terms.until"),
    ({"total": 5, "until": "2020-01-01"}, "terms.until"),
    ({"total": 5, "questions": "count"}, "terms.questions"),
    ({"total": 5, "questions": [""]}, "terms.questions"),
    ({"total": 5, "rules": {"groups": -1}}, "terms.rules.groups"),
    ({"total": 5, "rules": {"any": "yes"}}, "terms.rules.any"),
    ({"total": 5, "rules": {"unknown": 3}}, "terms.rules"),
    ({"total": 5, "rules": ["groups"]}, "terms.rules"),
    ({"total": 5, "overcommit": "yes"}, "terms.overcommit"),
    ({"total": 5, "limit": 6}, "terms"),
]


@pytest.mark.parametrize(("terms", "field"), BAD)
def test_bad_terms_are_refused_before_anything_is_written(
    ledger: Ledger, account: Account, terms: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        ledger.grant(account, "ann", limit=None, terms={"terms": 1, **terms}, **WHY)
    assert (caught.value.field, bool(caught.value.next_step)) == (field, True)
    assert ledger.head().seq == 1


def test_nobody_grants_in_the_name_of_a_renewal(ledger: Ledger, account: Account) -> None:
    with pytest.raises(InputError, match="by: must not be 'renewal'"):
        ledger.grant(account, "ann", limit=5, terms={"terms": 1}, by="renewal", reason="none")


def test_terms_of_before_keep_their_meaning_none(ledger: Ledger, account: Account) -> None:
    terms = {"questions": ["identify"], "until": "2020-01-01", "question_limit": 1}
    ledger.grant(account, "ann", limit=NANO, terms=terms, **WHY)
    assert ask(ledger, "q1", rule="adults").charged
    assert ledger.verify().ok


def test_without_a_total_the_limit_is_the_total(ledger: Ledger, account: Account) -> None:
    given = grant(ledger, limit=5)
    assert (given.limit, given.terms) == (5, {"terms": 1, "total": 5})
    with pytest.raises(InputError, match="more than the total"):
        grant(ledger, "bob", limit=6, total=5)


def test_a_question_that_is_not_granted_is_refused_and_charges_nothing(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, total=NANO, questions=["count", "identify"])
    with pytest.raises(Refused, match=r"'ann' may not ask 'score'.*Granted: count, identify"):
        ask(ledger, "q1", question="score")
    assert ledger.account("patients").spent == 0
    assert ask(ledger, "q1", question="identify").charged
    assert ledger.verify().ok


def test_a_rule_that_is_not_granted_is_refused(ledger: Ledger, account: Account) -> None:
    grant(ledger, total=NANO // 2)
    with pytest.raises(
        Refused, match=r"may not ask under the rule 'adults'.*only questions that need no rule"
    ):
        ask(ledger, "q1", rule="adults")
    grant(ledger, total=NANO // 2, rules={"adults": None})
    assert ask(ledger, "q1", rule="adults").charged
    with pytest.raises(Refused, match=r"may not ask under the rule 'groups'.*Granted: adults"):
        ask(ledger, "q2", **counted("q2"))
    with pytest.raises(Refused, match="a rule that is written in the question"):
        ask(ledger, "q3", rule="*")
    grant(ledger, total=NANO // 2, rules={"any": True}, overcommit=True)
    for key, rule in (("q2", "groups"), ("q3", "*")):
        assert ask(ledger, key, rule=rule).charged
    assert ledger.verify().ok


def test_a_question_above_the_limit_for_one_is_refused(ledger: Ledger, account: Account) -> None:
    grant(ledger, total=NANO, question_limit=NANO // 20)
    with pytest.raises(Refused, match=r"may spend ε=0\.05 on one question, and this needs 0\.1"):
        ask(ledger, "q1")
    assert ask(ledger, "q1", cost=NANO // 20).charged


def test_a_total_is_the_end_of_an_analysts_own_limit(ledger: Ledger, account: Account) -> None:
    grant(ledger, total=NANO // 10)
    ask(ledger, "q1")
    with pytest.raises(BudgetExceeded, match=r"0 of 0\.1 remain for analyst 'ann'"):
        ask(ledger, "q2", cost=1)


def test_a_grant_ends_at_its_moment_also_for_answers_of_before(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    grant(ledger, total=NANO, until="2026-01-11T00:00:00+01:00")
    ask(ledger, "q1")
    clock.set("2026-01-10T22:59:59")
    assert ask(ledger, "q2").charged
    clock.set("2026-01-10T23:00")
    for key in ("q1", "q2", "q3"):
        with pytest.raises(Refused, match=r"had a grant for 'patients' until 2026-01-10T23:00:00\+00:00"):
            ask(ledger, key)
    with pytest.raises(Refused, match="until"):
        ledger.allowance("patients", "ann")
    seen = ledger.seen_by("patients", "ann")
    assert seen is not None
    assert seen.grant is not None  # it is theirs, and pays for nothing
    assert (seen.allowance, "until" in str(seen.refusal)) == (None, True)


def test_a_clock_that_is_set_back_lets_nothing_go_on_that_has_ended(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    grant(ledger, total=NANO // 2, until="2026-01-11")
    clock.set("2026-01-12T00:00")
    grant(ledger, "bob", total=NANO // 2)  # an entry from after the end
    clock.set("2026-01-10T00:00")
    with pytest.raises(Refused, match="had a grant"):
        ask(ledger, "q1")
    ask(ledger, "q2", "bob")  # an entry by the clock that was set back
    with pytest.raises(Refused, match="had a grant"):
        ask(ledger, "q1")
    times = [entry.time for entry in ledger.entries()]
    assert times == sorted(times)
    assert ledger.verify().ok


def test_from_the_first_terms_on_versions_that_do_not_see_to_them_leave_a_ledger_alone(
    ledger: Ledger, account: Account
) -> None:
    ledger.grant(account, "bob", limit=5, **WHY)
    assert ledger.verify().format == 2
    with pytest.raises(Refused):
        grant(ledger, total=2 * NANO)
    assert ledger.verify().format == 2
    grant(ledger, total=NANO // 2)
    ask(ledger, "q1")
    found = ledger.verify()
    assert (found.ok, found.format) == (True, 3)
    assert [entry.data for entry in ledger.entries() if entry.kind == "upgrade"] == [{"from": 2, "to": 3}]


def test_a_new_period_is_a_recorded_grant_and_what_is_left_of_the_old_one_is_gone(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    first = grant(ledger, total=NANO // 4, period=MONTHLY)
    assert (first.limit, first.terms["period"]["begun"]) == (NANO // 10, "2026-01-01")
    ask(ledger, "q1", cost=NANO // 20)
    with pytest.raises(BudgetExceeded, match=r"0\.05 of 0\.1 remain for analyst 'ann'.*wait for 2026-02-01"):
        ask(ledger, "q2")
    clock.set("2026-03-05T00:00")
    mine = ledger.allowance("patients", "ann")
    assert mine is not None
    assert (mine.remaining, mine.questions_left(NANO // 50)) == (NANO // 10, 5)
    assert [entry.kind for entry in ledger.entries("patients")] == ["open", "grant", "reserve"]
    ask(ledger, "q2")
    renewal = ledger.entries("patients")[-2]
    assert (renewal.kind, renewal.data["by"], renewal.data["reason"]) == (
        "grant",
        "renewal",
        "period 2026-03",
    )
    assert renewal.data["limit"] == NANO // 20 + NANO // 10
    clock.set("2026-04-05T00:00")
    ask(ledger, "q3")
    with pytest.raises(BudgetExceeded, match=r"0 of 0\.25 remain.*ask the owner"):
        ask(ledger, "q4", cost=1)
    assert ledger.account("patients").spent == NANO // 4
    assert ledger.verify().ok


def test_a_period_is_renewed_once_whatever_the_clock_does(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    grant(ledger, total=NANO, period=MONTHLY)
    for number, now in enumerate(["2026-02-01T00:00", "2026-01-15T00:00", "2026-02-02T00:00"]):
        clock.set(now)
        if number == 0:
            ask(ledger, "q0")
            continue
        with pytest.raises(BudgetExceeded):
            ask(ledger, f"q{number}", cost=1)
        ledger.consent("patients", {"number": number}, **WHY)  # the newest entry has this clock's time
    reasons = [entry.data["reason"] for entry in ledger.entries() if entry.kind == "grant"]
    assert reasons == ["a study", "period 2026-02"]
    assert ledger.verify().ok


def test_a_refused_question_renews_nothing(ledger: Ledger, clock: Clock, account: Account) -> None:
    grant(ledger, total=NANO, period=MONTHLY)
    clock.set("2026-02-01T00:00")
    head = ledger.head()
    with pytest.raises(BudgetExceeded):
        ask(ledger, "q1", cost=NANO // 10 + 1)
    assert ledger.head() == head


def test_a_period_that_begins_later_allows_nothing_before(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    given = grant(ledger, total=NANO, period={**MONTHLY, "from": "2026-02-01"})
    assert (given.limit, "begun" in given.terms["period"]) == (0, False)
    with pytest.raises(Refused, match="from 2026-02-01 on"):
        ask(ledger, "q1")
    clock.set("2026-02-01T00:00")
    assert ask(ledger, "q1").charged
    assert ledger.verify().ok


def test_an_answer_of_another_is_charged_in_a_new_period_too(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    grant(ledger, "ann", total=NANO // 2)
    grant(ledger, "bob", total=NANO // 2, period=MONTHLY)
    ask(ledger, "q1", "bob")
    ask(ledger, "q2", "ann")
    with pytest.raises(BudgetExceeded):
        ask(ledger, "q2", "bob")
    clock.set("2026-02-01T00:00")
    ask(ledger, "q2", "bob")
    assert [entry.kind for entry in ledger.entries()][-2:] == ["grant", "again"]
    assert ledger.account("patients").spent == NANO // 5
    assert ledger.verify().ok


def test_the_same_words_again_grant_nothing_more_in_a_period(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    first = grant(ledger, total=NANO, period=MONTHLY)
    ask(ledger, "q1")
    assert grant(ledger, total=NANO, period=MONTHLY).seq == first.seq
    with pytest.raises(BudgetExceeded):
        ask(ledger, "q2")


def test_what_was_charged_in_a_period_counts_in_it_whatever_is_granted_in_between(
    ledger: Ledger, clock: Clock, account: Account
) -> None:
    grant(ledger, total=NANO // 2, period=MONTHLY)
    ask(ledger, "q1")
    clock.set("2026-02-10T00:00")
    ask(ledger, "q2")
    for total, reason in ((NANO // 2, "a study"), (NANO // 2, "another"), (NANO, "a study")):
        terms = {"terms": 1, "total": total, "period": MONTHLY}
        given = ledger.grant("patients", "ann", limit=None, terms=terms, by="owner", reason=reason)
        assert given.limit == NANO // 5
    ledger.revoke("patients", "ann", **WHY)
    grant(ledger, total=NANO, period=MONTHLY)
    with pytest.raises(BudgetExceeded, match="wait for 2026-03-01"):
        ask(ledger, "q3", cost=1)
    twice = {**MONTHLY, "epsilon": NANO // 5}
    assert grant(ledger, total=NANO, period=twice).limit == 3 * NANO // 10
    assert grant(ledger, total=NANO, period={**MONTHLY, "epsilon": 5}).limit == NANO // 5
    clock.set("2026-03-01T00:00")
    ask(ledger, "q3", cost=5)
    assert ledger.verify().ok


def test_when_a_part_is_lost_nothing_remains_of_any_period(sqlite: str, clock: Clock) -> None:
    anchor = Path(f"{sqlite}.anchor")
    with Ledger.open(sqlite, anchor=anchor) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules=RULES)
        grant(ledger, total=NANO // 2, period=MONTHLY)
        ask(ledger, "q1")
    anchor.unlink()  # so nobody knows what came after
    with Ledger.open_epoch(sqlite, anchor=anchor) as ledger:
        ledger.raise_limit("patients", 2 * NANO)
        (found,) = read_granted(ledger.entries("patients"))
        assert found.spent == ledger.grants("patients")[0].spent == NANO // 2
        clock.set("2026-03-01T00:00")
        with pytest.raises(BudgetExceeded, match=r"0 of 0\.5 remain"):
            ask(ledger, "q2", cost=1)
        assert ledger.verify().ok
        assert grant(ledger, total=NANO, period=MONTHLY).limit == 6 * NANO // 10
        assert ask(ledger, "q2").charged
        assert ledger.verify().ok


@pytest.mark.parametrize(
    ("every", "start", "today", "begun", "after", "name"),
    [
        ("day", "2026-01-01", "2026-03-01", "2026-03-01", "2026-03-02", "2026-03-01"),
        ("week", "2026-01-01", "2026-01-14", "2026-01-08", "2026-01-15", "2026-01-08"),
        ("month", "2026-01-31", "2026-02-27", "2026-01-31", "2026-02-28", "2026-01"),
        ("month", "2026-01-31", "2026-02-28", "2026-02-28", "2026-03-31", "2026-02"),
        ("month", "2026-01-31", "2026-03-30", "2026-02-28", "2026-03-31", "2026-02"),
        ("year", "2024-02-29", "2026-02-28", "2026-02-28", "2027-02-28", "2026"),
        ("year", "2024-02-29", "2026-02-27", "2025-02-28", "2026-02-28", "2025"),
        ("year", "2024-02-29", "2028-02-28", "2027-02-28", "2028-02-29", "2027"),
    ],
)
def test_periods_follow_the_calendar(
    every: str, start: str, today: str, begun: str, after: str, name: str
) -> None:
    period = Period(1, every, date.fromisoformat(start))
    found = period.at(datetime.fromisoformat(today).replace(tzinfo=UTC))
    assert found == date.fromisoformat(begun)
    assert (period.after(found).isoformat(), period.name(found)) == (after, name)
    assert period.at(datetime.fromisoformat(start).replace(tzinfo=UTC) - timedelta(seconds=1)) is None


@pytest.mark.parametrize("every", ["day", "week", "month", "year"])
def test_each_period_ends_where_the_next_begins(every: str) -> None:
    for start in (date(2023, 1, 29), date(2024, 2, 29), date(2025, 8, 31)):
        period = Period(1, every, start)
        begun = start
        for number in range(800):
            now = datetime(start.year, start.month, start.day, tzinfo=UTC) + timedelta(days=number)
            found = period.at(now)
            assert found is not None
            assert found in (begun, period.after(begun))
            assert found <= now.date() < period.after(found)
            begun = found


def test_terms_are_the_same_after_they_were_written_down() -> None:
    full = {
        "terms": 1,
        "total": 5,
        "period": {**MONTHLY, "begun": "2026-03-01"},
        "question_limit": 2,
        "until": "2027-01-01T00:00:00+00:00",
        "questions": ["count"],
        "rules": {"groups": 3, "adults": None, "any": True},
        "overcommit": True,
    }
    read = Terms.read(full)
    assert read is not None
    assert read.to_dict() == full
    assert len(read.words()) == 7


def test_questions_under_a_rule_are_counted_by_analyst_and_once_at_any_price(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, "ann", total=NANO // 2, rules={"groups": 2})
    grant(ledger, "bob", total=NANO // 2, rules={"groups": 2})
    ask(ledger, "q1", **counted("q1"))
    ask(ledger, "q1 again at another price", cost=1, **counted("q1"))
    ask(ledger, "q2", **counted("q2"))
    with pytest.raises(Refused, match=r"may ask 2 different questions under the rule 'groups', and all are"):
        ask(ledger, "q3", **counted("q3"))
    ask(ledger, "q2 at another price", cost=2, **counted("q2"))
    for key in ("q1", "q2", "q2"):
        ask(ledger, key, "bob", **counted(key))
    with pytest.raises(Refused, match="all are asked"):
        ask(ledger, "q3", "bob", cost=3, **counted("q3"))
    used = {item.name: item.used for item in ledger.counters("patients") if "asked:" not in item.name}
    assert used == {"rule:groups": 2, "analyst:ann:rule:groups": 2, "analyst:bob:rule:groups": 2}
    mine = ledger.allowance("patients", "bob")
    assert mine is not None
    assert (mine.asked, mine.questions_left(1, "groups")) == ({"groups": 2}, 0)
    assert ledger.verify().ok


def test_a_number_of_questions_holds_for_a_rule_that_counts_none_itself(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, total=NANO, rules={"adults": 2})
    for key in ("q1", "q2"):
        ask(ledger, key, rule="adults")
    ask(ledger, "q1", rule="adults")
    with pytest.raises(Refused, match="2 different questions under the rule 'adults'"):
        ask(ledger, "q3", rule="adults")
    grant(ledger, total=NANO, rules={"adults": 3})
    assert ask(ledger, "q3", rule="adults").charged
    assert ledger.verify().ok


def test_names_of_analysts_and_rules_never_share_a_counter(ledger: Ledger) -> None:
    rules = dict.fromkeys(("c", "b:rule:c", "x" * 150), RULES["adults"])
    ledger.open_account("patients", {}, limit=NANO, rules=rules)
    long = "y" * 200
    for analyst in ("a", "a:rule:b", long):
        grant(ledger, analyst, total=10, rules=dict.fromkeys(rules, 1))
    number = 0
    for analyst in ("a", "a:rule:b", long):
        for rule in rules:
            number += 1
            assert ask(ledger, f"q{number}", analyst, cost=1, rule=rule).charged
    assert {item.used for item in ledger.counters("patients")} == {1}
    assert len(ledger.counters("patients")) == 9
    assert ledger.verify().ok


def test_a_grant_of_fewer_questions_holds_at_once_and_one_of_more_raises_the_counter(
    ledger: Ledger, account: Account
) -> None:
    grant(ledger, total=NANO, rules={"groups": 5})
    for key in ("q1", "q2"):
        ask(ledger, key, **counted(key))
    grant(ledger, total=NANO, rules={"groups": 1})
    with pytest.raises(Refused, match="may ask 1 different questions"):
        ask(ledger, "q3", **counted("q3"))
    grant(ledger, total=NANO, rules={"groups": 8})
    assert ask(ledger, "q3", **counted("q3")).charged
    assert ledger.verify().ok

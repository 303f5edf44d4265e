# SPDX-License-Identifier: Apache-2.0
"""Random grants, charges and days, side by side with a model that fits on a page."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from anonymaly.errors import Refused
from anonymaly.ledger import Ledger

ANALYSTS = ("ann", "bob", "cy")
KEYS = [f"q{number}" for number in range(8)]
COSTS = {key: 1 + 2 * number for number, key in enumerate(KEYS)}
RULED = {key: f"asked:{number // 2}" for number, key in enumerate(KEYS[:6])}  # two keys are one question
MOST = 3  # questions of the rule
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
_names = itertools.count()


@dataclass
class Granted:
    """One analyst's standing grant, and what they did."""

    total: int | None = None
    allotted: int | None = None
    overcommit: bool = False
    period: int | None = None
    begun: int = 0
    limit: int | None = None
    standing: bool = False
    spent: int = 0
    marks: set[str] = field(default_factory=set)
    paid: set[str] = field(default_factory=set)
    costs: list[tuple[int, int]] = field(default_factory=list)  # week, cost

    @property
    def held(self) -> bool:
        return self.standing and not self.overcommit

    def now(self, day: int) -> int | None:
        """The limit, with a period of one week that has begun renewed."""
        if self.period is None or day // 7 <= self.begun:
            return self.limit
        return min(self.spent + self.period, self.spent + self.period if self.total is None else self.total)


class Model(RuleBasedStateMachine):
    """What the table holds, what each analyst was promised, and a day."""

    ledger: ClassVar[Ledger]
    location: ClassVar[str]
    day: ClassVar[int] = 0

    @initialize(limit=st.integers(10, 60))
    def open(self, limit: int) -> None:
        # At the beginning of a week, so that the same operations give the same again.
        type(self).day = (self.day // 7 + 1) * 7
        self.name = f"account{next(_names)}"
        self.limit, self.spent = limit, 0
        self.keys: set[str] = set()
        self.marks: set[str] = set()
        self.people = {name: Granted() for name in ANALYSTS}
        rules = {"groups": {"type": "same_contexts", "questions": MOST}}
        self.ledger.open_account(self.name, {}, limit=limit, rules=rules)

    def kept(self) -> int:
        return sum((item.total or 0) - item.spent for item in self.people.values() if item.held)

    def kept_questions(self) -> int:
        held = [item for item in self.people.values() if item.held and item.allotted is not None]
        return sum(max((item.allotted or 0) - len(item.marks), 0) for item in held)

    @rule(
        analyst=st.sampled_from(ANALYSTS),
        total=st.integers(0, 40),
        allotted=st.none() | st.integers(0, 3),
        overcommit=st.booleans(),
        period=st.none() | st.integers(1, 15),
    )
    def grant(
        self, analyst: str, total: int, allotted: int | None, overcommit: bool, period: int | None
    ) -> None:
        mine = self.people[analyst]
        before = Granted(**vars(mine))
        mine.total, mine.allotted, mine.overcommit, mine.period = total, allotted, overcommit, period
        mine.standing, mine.begun = True, self.day // 7
        this_week = sum(cost for week, cost in mine.costs if week == mine.begun)
        mine.limit = total if period is None else min(total, mine.spent - min(this_week, period) + period)
        fits = self.spent + self.kept() <= self.limit and len(self.marks) + self.kept_questions() <= MOST
        terms: dict[str, Any] = {"terms": 1, "total": total}
        terms |= {} if allotted is None else {"rules": {"groups": allotted}}
        terms |= {"overcommit": True} if overcommit else {}
        terms |= {} if period is None else {"period": weekly(period)}
        said = {"by": "owner", "reason": f"number {next(_names)}"}
        if total < mine.spent or not (overcommit or fits):
            with pytest.raises(Refused):
                self.ledger.grant(self.name, analyst, limit=None, terms=terms, **said)
            self.people[analyst] = before
        else:
            given = self.ledger.grant(self.name, analyst, limit=None, terms=terms, **said)
            assert given.limit == mine.limit

    @rule(analyst=st.sampled_from(ANALYSTS))
    def revoke(self, analyst: str) -> None:
        if self.people[analyst].standing:
            self.ledger.revoke(self.name, analyst, by="owner", reason="a test")
            self.people[analyst].standing = False

    @rule(days=st.integers(1, 10))
    def wait(self, days: int) -> None:
        type(self).day += days

    @rule(by=st.integers(0, 20))
    def raise_limit(self, by: int) -> None:
        self.limit = self.ledger.raise_limit(self.name, self.limit + by).limit

    @rule(analyst=st.sampled_from(ANALYSTS), key=st.sampled_from(KEYS))
    def ask(self, analyst: str, key: str) -> None:
        if not any(item.standing for item in self.people.values()):
            return  # analysts are labels, or all were revoked
        mine, cost, mark = self.people[analyst], COSTS[key], RULED.get(key)
        new, pays = key not in self.keys, key not in mine.paid
        given: dict[str, Any] = {
            "analyst": analyst,
            "key": key,
            "cost": cost,
            "record": {"question": "count"},
        }
        if mark is not None:
            counted = {"counters": {"rule:groups": MOST}, "once": {"rule:groups": mark}}
            given |= {"rule": "groups", **counted}
        if not mine.standing or (pays and self.refuses(mine, cost, mark)):
            with pytest.raises(Refused):
                self.ledger.reserve(self.name, **given)
            return
        assert self.ledger.reserve(self.name, **given).charged == (new and pays)
        if not pays:
            return
        limit = mine.now(self.day)
        if mine.period is not None and self.day // 7 > mine.begun:
            mine.limit, mine.begun = limit, self.day // 7
        mine.spent += cost
        mine.costs.append((self.day // 7, cost))
        mine.paid.add(key)
        if mark is not None:
            mine.marks.add(mark)
        if new:
            self.keys.add(key)
            self.spent += cost
            self.marks |= set() if mark is None else {mark}
        assert self.spent <= self.limit
        assert len(self.marks) <= MOST

    def refuses(self, mine: Granted, cost: int, mark: str | None) -> bool:
        """Say whether the grant refuses, or what is kept for others does: never whether a question is new."""
        limit = mine.now(self.day)
        if limit is not None and mine.spent + cost > limit:
            return True
        counts = mark is not None and mark not in mine.marks
        if mark is not None and (mine.allotted is None or (counts and len(mine.marks) >= mine.allotted)):
            return True
        if mine.held:
            return False
        short = counts and len(self.marks) + 1 + self.kept_questions() > MOST
        return short or self.spent + cost + self.kept() > self.limit

    @rule()
    def reopen(self) -> None:
        type(self).ledger.close()
        type(self).ledger = Ledger.open(self.location)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "name"):
            return
        account = self.ledger.account(self.name)
        assert (account.limit, account.spent) == (self.limit, self.spent)
        for item in self.ledger.grants(self.name):
            mine = self.people[item.analyst]
            assert (item.standing, item.spent) == (mine.standing, mine.spent)
            charges = self.ledger.charges(self.name, item.analyst)
            assert (len(charges), sum(charge.cost for charge in charges)) == (len(mine.paid), mine.spent)
            if mine.standing:
                own = self.ledger.allowance(self.name, item.analyst)
                assert own is not None
                assert own.limit == mine.now(self.day)

    def teardown(self) -> None:
        assert self.ledger.verify().ok


def weekly(epsilon: int) -> dict[str, Any]:
    return {"epsilon": epsilon, "every": "week", "from": START.date().isoformat()}


@pytest.mark.slow
def test_terms_agree_with_a_small_model_over_random_operations(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine: type[Model] = type("Machine", (Model,), {"location": location, "ledger": Ledger.open(location)})
    monkeypatch.setattr("anonymaly.ledger.transaction.clock", lambda: START + timedelta(days=machine.day))
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=25,
                stateful_step_count=25,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                database=None,
            ),
        )
    finally:
        machine.ledger.close()

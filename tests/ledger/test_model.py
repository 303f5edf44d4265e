# SPDX-License-Identifier: Apache-2.0
"""Random sequences of operations, side by side with an account book that fits on a page."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from anonymaly.errors import Refused
from anonymaly.ledger import Ledger, Reservation

KEYS = st.sampled_from([f"q{number}" for number in range(6)])
COSTS = {f"q{number}": 1 + 2 * number for number in range(6)}
MOST_COUNTED = 4
_names = itertools.count()


class Model(RuleBasedStateMachine):
    """limit, spent and what became of each key: all there is to know."""

    ledger: ClassVar[Ledger]
    location: ClassVar[str]

    @initialize(limit=st.integers(1, 40))
    def open(self, limit: int) -> None:
        self.name = f"account{next(_names)}"
        self.limit, self.spent = limit, 0
        self.states: dict[str, tuple[str, str | None]] = {}
        self.held: dict[str, Reservation] = {}
        self.paused = False
        self.granted: int | None = None  # ann's limit, once there are grants
        self.by_analyst = {"ann": 0, "bob": 0}
        self.paid: set[tuple[str, str]] = set()  # which analyst was charged for which key
        self.counted = 0
        type(self).ledger.open_account(self.name, {}, limit=limit, rules={})

    @rule(key=KEYS, analyst=st.sampled_from(["ann", "bob"]))
    def reserve(self, key: str, analyst: str) -> None:
        arguments: dict[str, Any] = {"analyst": analyst, "key": key, "cost": COSTS[key], "record": {}}
        arguments["counters"] = {"rule": MOST_COUNTED}
        new, cost = key not in self.states, COSTS[key]
        pays = new or (self.granted is not None and (analyst, key) not in self.paid)
        most = self.granted if analyst == "ann" else None
        stopped = self.paused and (new or self.states[key][0] == "reserved")
        broke = pays and most is not None and self.by_analyst[analyst] + cost > most
        refused = stopped or broke or (new and self.counted == MOST_COUNTED)
        if refused or (new and self.spent + cost > self.limit):
            with pytest.raises(Refused):
                self.ledger.reserve(self.name, **arguments)
            return
        reservation = self.ledger.reserve(self.name, **arguments)
        assert reservation.charged == new
        if new:
            self.spent += cost
            self.counted += 1
            self.states[key] = ("reserved", None)
        if pays:
            self.by_analyst[analyst] += cost
            self.paid.add((analyst, key))
        assert (reservation.state, reservation.digest) == self.states[key]
        self.held[key] = reservation

    @rule(key=KEYS, digest=st.sampled_from(["aa", "bb"]))
    def commit(self, key: str, digest: str) -> None:
        self.end(key, "committed", digest)

    @rule(key=KEYS)
    def fail(self, key: str) -> None:
        self.end(key, "failed", None)

    def end(self, key: str, state: str, digest: str | None) -> None:
        if key not in self.held:
            return
        before = self.states[key]

        def act() -> Reservation:
            if digest is None:
                return self.ledger.fail(self.held[key], stage="counts", error="ValueError")
            return self.ledger.commit(self.held[key], digest=digest, media_type="text/plain", size=1)

        if before[0] == "reserved":
            self.states[key] = (state, digest)
        ended = act()  # one charge has one outcome: whoever ends it later gets what the first one wrote
        assert (ended.state, ended.digest) == self.states[key]
        assert self.ledger.verify_receipt(ended.receipt())

    @rule(to=st.integers(1, 60))
    def raise_limit(self, to: int) -> None:
        if to < self.limit:
            with pytest.raises(Refused):
                self.ledger.raise_limit(self.name, to)
        else:
            self.limit = self.ledger.raise_limit(self.name, to).limit
            assert self.limit == to

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        act = self.ledger.pause if paused else self.ledger.resume
        assert act(self.name, by="owner", reason="a test").paused == paused
        self.paused = paused

    @rule(limit=st.integers(0, 60))
    def grant(self, limit: int) -> None:
        if limit < self.by_analyst["ann"]:
            with pytest.raises(Refused):
                self.ledger.grant(self.name, "ann", limit=limit, by="owner", reason="a test")
        else:
            for analyst, most in (("ann", limit), ("bob", None)):
                self.ledger.grant(self.name, analyst, limit=most, by="owner", reason="a test")
            self.granted = limit

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
        assert account.paused == self.paused
        assert [item.used for item in self.ledger.counters(self.name)] == [self.counted][: self.counted]
        if self.granted is not None:
            spent = {item.analyst: item.spent for item in self.ledger.grants(self.name)}
            assert spent == self.by_analyst
        found = {held.key: (held.state, held.digest) for held in self.ledger.reservations(self.name)}
        assert found == self.states

    def teardown(self) -> None:
        assert self.ledger.verify().ok


@pytest.mark.slow
def test_the_ledger_agrees_with_a_tiny_model_over_random_operations(location: str) -> None:
    machine: type[Model] = type("Machine", (Model,), {"location": location, "ledger": Ledger.open(location)})
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=25,
                stateful_step_count=20,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                database=None,
            ),
        )
    finally:
        machine.ledger.close()

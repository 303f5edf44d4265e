# SPDX-License-Identifier: Apache-2.0
"""Random sequences of operations, side by side with an account book that fits on a page."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from anonymaly.errors import BudgetExceeded, Refused
from anonymaly.ledger import Ledger, Reservation

KEYS = st.sampled_from([f"q{number}" for number in range(6)])
COSTS = {f"q{number}": 1 + 2 * number for number in range(6)}
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
        type(self).ledger.open_account(self.name, {}, limit=limit, rules={})

    @rule(key=KEYS, analyst=st.sampled_from(["ann", "bob"]))
    def reserve(self, key: str, analyst: str) -> None:
        arguments: dict[str, Any] = {"analyst": analyst, "key": key, "cost": COSTS[key], "record": {}}
        if key not in self.states and self.spent + COSTS[key] > self.limit:
            with pytest.raises(BudgetExceeded):
                self.ledger.reserve(self.name, **arguments)
            return
        reservation = self.ledger.reserve(self.name, **arguments)
        assert reservation.charged == (key not in self.states)
        if key not in self.states:
            self.spent += COSTS[key]
            self.states[key] = ("reserved", None)
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

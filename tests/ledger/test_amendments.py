# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from anonymaly.errors import DeclarationChanged, InputError
from anonymaly.ledger import Account, Ledger

NANO = 10**9
DECLARED = {
    "columns": {"age": [0, 120]},
    "adjacency": "add_remove",
    "public": False,
    "unit": {"person": None},
}
AMENDED = {**DECLARED, "columns": {"age": [0, 130], "bmi": [10, 70]}}
ADULTS = {"kind": "policy", "where": "age >= 18"}


@pytest.fixture
def account(ledger: Ledger) -> Account:
    return ledger.open_account("patients", DECLARED, limit=NANO, rules={"adults": ADULTS})


def amend(ledger: Ledger, **changes: Any) -> Account:
    given: dict[str, Any] = {
        "declaration": AMENDED,
        "rules": {"adults": ADULTS},
        "reason": "the oldest is 124",
        "learned_from_rows": True,
    }
    return ledger.amend("patients", **{**given, **changes})


def ask(ledger: Ledger, key: str, declaration: int | None) -> Any:
    return ledger.reserve(
        "patients", analyst="owner", key=key, cost=NANO // 10, record={}, declaration=declaration
    )


def test_an_amendment_is_an_entry_and_in_force_from_then_on_while_charges_stay(
    ledger: Ledger, account: Account
) -> None:
    ask(ledger, "q1", account.number)
    amended = amend(ledger)
    assert amended == ledger.account("patients")
    assert (amended.declaration, amended.rules, amended.number) == (AMENDED, {"adults": ADULTS}, 3)
    assert (amended.limit, amended.spent) == (NANO, NANO // 10)
    entry = ledger.entries("patients")[-1]
    assert (entry.kind, entry.seq) == ("amendment", 3)
    assert entry.data["differences"] == [
        "columns.age: declared 0..120, now 0..130",
        "columns.bmi: not declared, now 10..70",
    ]
    assert (entry.data["reason"], entry.data["learned_from_rows"]) == ("the oldest is 124", True)
    assert ledger.open_account("patients", AMENDED, limit=NANO, rules={"adults": ADULTS}) == amended
    with pytest.raises(DeclarationChanged, match=r"declared 0\.\.130, now 0\.\.120"):
        ledger.open_account("patients", DECLARED, limit=NANO, rules={"adults": ADULTS})
    assert ledger.verify().ok


def test_the_same_amendment_again_changes_nothing(ledger: Ledger, account: Account) -> None:
    first = amend(ledger)
    assert amend(ledger) == first
    assert ledger.head().seq == 2


@pytest.mark.parametrize(
    ("field", "value"), [("adjacency", "replace"), ("public", True), ("unit", {"person": "id"})]
)
def test_what_charges_are_counted_in_cannot_be_amended(
    ledger: Ledger, account: Account, field: str, value: Any
) -> None:
    with pytest.raises(DeclarationChanged, match=rf"cannot be amended in adjacency.*{field}"):
        amend(ledger, declaration={**AMENDED, field: value})
    assert ledger.head().seq == 1


def test_rules_can_be_changed_taken_away_and_added_later(ledger: Ledger, account: Account) -> None:
    narrow = {"adults": {**ADULTS, "where": "age >= 21"}}
    assert amend(ledger, rules=narrow).rules == narrow
    assert ledger.entries()[-1].data["differences"][-1].startswith("rules.adults.where: declared age >= 18")
    added = {**narrow, "rare": {"kind": "model"}}
    assert ledger.open_account("patients", AMENDED, limit=NANO, rules=added).rules == added
    assert amend(ledger, rules={}).rules == {}
    assert amend(ledger, rules="any").rules == "any"
    assert amend(ledger, rules={}).rules == {}
    assert ledger.verify().ok


def test_a_reservation_names_its_declaration_and_one_that_crosses_an_amendment_is_refused(
    ledger: Ledger, account: Account
) -> None:
    first = ask(ledger, "q1", account.number)
    assert (first.declaration, account.number) == (1, 1)
    now = amend(ledger)
    with pytest.raises(DeclarationChanged, match="bound to declaration 1, and 3 is in force"):
        ask(ledger, "q2", account.number)
    assert ledger.account("patients").spent == NANO // 10
    found = ledger.find("patients", "q1")
    assert found is not None
    assert found.declaration == 1
    assert ask(ledger, "q2", now.number).declaration == 3
    assert ask(ledger, "q3", None).declaration is None
    assert ledger.verify().ok


@pytest.mark.parametrize(
    "bad",
    [{"reason": ""}, {"learned_from_rows": "no"}, {"declaration": [1]}, {"rules": "some"}, {"by": "\n"}],
)
def test_a_bad_amendment_is_refused_before_anything_is_written(
    ledger: Ledger, account: Account, bad: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        amend(ledger, **bad)
    assert caught.value.field
    assert ledger.head().seq == 1

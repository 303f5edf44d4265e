# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from anonymaly.errors import DeclarationChanged, InputError, LedgerError, Refused
from anonymaly.ledger import Account, Ledger

NANO = 10**9
DECLARATION = {"columns": {"age": [0, 120], "ward": ["A", "B"]}, "adjacency": "add_remove", "unit": "id"}
ADULTS = {"kind": "policy", "where": "age >= 18"}


def open_patients(ledger: Ledger, **changes: Any) -> Account:
    return ledger.open_account(
        "patients", **{"declaration": DECLARATION, "limit": 2 * NANO, "rules": {"adults": ADULTS}, **changes}
    )


def test_the_first_use_records_declaration_limit_and_rules(ledger: Ledger) -> None:
    opened = open_patients(ledger)
    assert opened == ledger.account("patients")
    assert (opened.limit, opened.spent, opened.remaining) == (2 * NANO, 0, 2 * NANO)
    assert opened.declaration == DECLARATION
    assert opened.rules == {"adults": ADULTS}
    assert [entry.kind for entry in ledger.entries("patients")] == ["open"]


def test_the_same_declaration_again_opens_the_same_account_and_appends_nothing(ledger: Ledger) -> None:
    first = open_patients(ledger)
    assert open_patients(ledger) == first
    assert open_patients(ledger, limit=None) == first
    assert ledger.head().seq == 1


def test_a_new_account_without_a_budget_is_an_error_that_names_budget(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="budget") as caught:
        open_patients(ledger, limit=None)
    assert caught.value.field == "budget"
    assert ledger.accounts() == []


def test_another_declaration_is_refused_with_every_field_that_differs(ledger: Ledger) -> None:
    open_patients(ledger)
    changed = {"columns": {"age": [0, 130], "bmi": [10, 70]}, "adjacency": "replace", "unit": "id"}
    with pytest.raises(DeclarationChanged) as caught:
        open_patients(ledger, declaration=changed)
    text = str(caught.value)
    assert "columns.age: declared 0..120, now 0..130" in text
    assert "columns.bmi: not declared, now 10..70" in text
    assert 'columns.ward: declared ["A","B"], now absent' in text
    assert "adjacency: declared add_remove, now replace" in text
    assert "unit" not in text


def test_another_budget_is_an_error_that_names_raise_budget_and_both_numbers(ledger: Ledger) -> None:
    open_patients(ledger)
    with pytest.raises(DeclarationChanged, match=r"has ε=2, now given ε=3.*raise_budget\(to=3\)"):
        open_patients(ledger, limit=3 * NANO)
    with pytest.raises(DeclarationChanged, match=r"has ε=2, now given ε=1.*raise_budget"):
        open_patients(ledger, limit=NANO)


def test_an_added_rule_is_an_entry_and_is_known_from_then_on(ledger: Ledger) -> None:
    open_patients(ledger)
    rules = {"adults": ADULTS, "rare": {"kind": "model", "beta": 18}}
    assert open_patients(ledger, rules=rules).rules == rules
    assert open_patients(ledger, rules=rules).rules == rules
    last = ledger.entries("patients")[-1]
    assert (last.kind, last.data) == ("rule", {"name": "rare", "rule": {"kind": "model", "beta": 18}})
    assert ledger.head().seq == 2


@pytest.mark.parametrize(
    ("rules", "difference"),
    [
        ({}, "rules.adults: declared"),
        ({"adults": {**ADULTS, "where": "age >= 0"}}, "rules.adults.where: declared age >= 18, now age >= 0"),
        ("any", 'rules: declared named rules (adults), now "any"'),
    ],
)
def test_a_removed_or_changed_rule_is_refused_with_the_difference(
    ledger: Ledger, rules: Any, difference: str
) -> None:
    open_patients(ledger)
    with pytest.raises(DeclarationChanged) as caught:
        open_patients(ledger, rules=rules)
    assert difference in str(caught.value)
    assert ledger.head().seq == 1


def test_rules_any_are_recorded_and_cannot_become_named_rules(ledger: Ledger) -> None:
    assert open_patients(ledger, rules="any").rules == "any"
    assert open_patients(ledger, rules="any").rules == "any"
    with pytest.raises(DeclarationChanged, match='declared "any", now named rules'):
        open_patients(ledger, rules={})


def test_raising_the_limit_is_an_entry_and_lowering_it_is_refused(ledger: Ledger) -> None:
    open_patients(ledger)
    assert ledger.raise_limit("patients", 3 * NANO).limit == 3 * NANO
    assert ledger.raise_limit("patients", 3 * NANO).limit == 3 * NANO
    with pytest.raises(Refused, match=r"has ε=3, and 2\.5 is less"):
        ledger.raise_limit("patients", 5 * NANO // 2)
    assert [entry.data for entry in ledger.entries("patients") if entry.kind == "limit"] == [
        {"from": 2 * NANO, "to": 3 * NANO}
    ]
    assert ledger.verify().ok


def test_accounts_are_separate(ledger: Ledger) -> None:
    open_patients(ledger)
    ledger.open_account("bank ü 'x'", {}, limit=NANO, rules={})
    ledger.reserve("bank ü 'x'", analyst="owner", key="q", cost=NANO, record={})
    assert ledger.account("patients").spent == 0
    assert ledger.accounts() == ["bank ü 'x'", "patients"]
    assert len(ledger.entries()) == 3
    assert ledger.verify().spent == {"patients": 0, "bank ü 'x'": NANO}


def test_an_unknown_account_is_a_clear_error(ledger: Ledger) -> None:
    for use in (
        lambda: ledger.account("nobody"),
        lambda: ledger.raise_limit("nobody", NANO),
        lambda: ledger.reserve("nobody", analyst="owner", key="q", cost=1, record={}),
    ):
        with pytest.raises(LedgerError, match="no account 'nobody'"):
            use()


@pytest.mark.parametrize(
    "bad",
    [
        {"limit": 0},
        {"limit": True},
        {"limit": 1.5},
        {"limit": 10**19},
        {"declaration": {"age": float("nan")}},
        {"declaration": {1: 2}},
        {"declaration": {"age": object()}},
        {"declaration": [1]},
        {"rules": "some"},
        {"rules": {"adults": "age >= 18"}},
    ],
)
def test_what_is_not_plain_data_is_refused_before_anything_is_written(
    ledger: Ledger, bad: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        open_patients(ledger, **bad)
    assert caught.value.field
    assert caught.value.next_step
    assert ledger.head().seq == 0

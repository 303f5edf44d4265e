# SPDX-License-Identifier: Apache-2.0
"""Consents to hand something over in clear: entries that charge nothing and are counted in a statement."""

from __future__ import annotations

from pathlib import Path

from anonymaly.ledger import Ledger
from anonymaly.ledger.given import decisions_in, subject_of
from anonymaly.ledger.statement import Statement


def statement(ledger: Ledger) -> Statement:
    return Statement.of(ledger.account("t"), ledger.reservations("t"), ledger.entries("t"))


def test_a_consent_charges_nothing_and_a_statement_counts_it(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l") as ledger:
        ledger.open_account("t", {"adjacency": "replace"}, limit=10**9, rules={})
        assert statement(ledger).meaning() == ["Nothing was asked, so nothing was given away."]
        ledger.consent("t", {"erased_answers": [1]}, by="me", reason="another kind of consent")
        for request in ("1-0-a", "2-0-b"):
            ledger.consent("t", subject_of(request, to="owner", gives=True), by="me", reason="yes")
        ledger.consent("t", subject_of("3-0-c", to="owner", gives=False), by="me", reason="no")
        found = statement(ledger)
        assert [item.request for item in found.given] == ["1-0-a", "2-0-b"]
        assert (found.spent, found.questions) == (0, 0)
        (said,) = found.meaning()
        assert "In clear, by consent: 2 readings may be handed over. No ε bounds them" in said
        assert [item["reason"] for item in found.to_dict()["given_in_clear"]] == ["yes", "yes"]
        assert ledger.verify().ok


def test_the_first_of_two_decisions_about_a_request_stands(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l") as ledger:
        ledger.open_account("t", {}, limit=1, rules={})
        for gives in (True, False):
            ledger.consent("t", subject_of("1-0-a", to="owner", gives=gives), by="me", reason=f"{gives}")
        (decision,) = decisions_in(ledger.entries("t")).values()
    assert (decision.gives, decision.reason) == (True, "True")

# SPDX-License-Identifier: Apache-2.0
"""Where analysts have grants, each pays for what they are answered, and none learns what another asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ask.answer import Answer
from anonymaly.ask.seen import plan_for, preview_for, problem_for, seen_by
from anonymaly.errors import AnswerFailed, BudgetExceeded, DeclarationChanged, LedgerDamaged, Refused
from anonymaly.ledger import Ledger

NANO = 10**9
WHY: dict[str, Any] = {"by": "owner", "reason": "a study"}
Open = Callable[..., am.Curator]


def terms(**more: Any) -> dict[str, Any]:
    return {"terms": 1, "total": NANO // 2, **more}


def grant(curator: am.Curator, analyst: str, **more: Any) -> None:
    curator.accountant.open()
    curator.accountant.ledger.grant("patients", analyst, limit=None, terms=terms(**more), **WHY)


def spent(curator: am.Curator) -> dict[str, int]:
    return {item.analyst: item.spent for item in curator.accountant.ledger.grants("patients")}


def seen(curator: am.Curator, query: am.Query, analyst: str, **options: Any) -> Answer:
    answer = curator.ask(query, analyst=analyst, **options)
    return seen_by(answer, curator.accountant.ledger, "patients", analyst)


@pytest.fixture
def curator(open_curator: Open) -> am.Curator:
    curator = open_curator()
    for analyst in ("ann", "bob"):
        grant(curator, analyst)
    return curator


QUESTION = am.Count(where="age < 35", epsilon=0.1)


def test_a_stored_answer_is_charged_to_the_limit_of_another_analyst_once(curator: am.Curator) -> None:
    first = curator.ask(QUESTION, analyst="ann")
    for _ in range(2):
        assert curator.ask(QUESTION, analyst="bob").value == first.value
    assert spent(curator) == {"ann": NANO // 10, "bob": NANO // 10}
    assert curator.spent == 0.1
    assert curator.accountant.verify().ok


@pytest.mark.parametrize("stored", [True, False])
def test_who_has_no_grant_or_a_revoked_one_is_refused_even_for_a_stored_answer(
    curator: am.Curator, stored: bool
) -> None:
    if stored:
        curator.ask(QUESTION, analyst="ann")
    with pytest.raises(Refused, match="analyst 'eve' has no grant"):
        curator.ask(QUESTION, analyst="eve")
    curator.accountant.ledger.revoke("patients", "bob", **WHY)
    with pytest.raises(Refused, match="analyst 'bob' had a grant that was revoked"):
        curator.ask(QUESTION, analyst="bob")
    with pytest.raises(Refused, match="analyst 'owner' has no grant"):
        curator.ask(QUESTION)


def test_a_revoked_analyst_is_refused_what_was_charged_to_them_before(curator: am.Curator) -> None:
    curator.ask(QUESTION, analyst="ann")
    curator.accountant.ledger.revoke("patients", "ann", **WHY)
    with pytest.raises(Refused, match="revoked"):
        curator.ask(QUESTION, analyst="ann")


def test_without_grants_a_stored_answer_stays_free_for_everybody(open_curator: Open) -> None:
    curator = open_curator()
    curator.ask(QUESTION, analyst="ann")
    assert curator.ask(QUESTION, analyst="bob").charged == 0
    assert [entry.kind for entry in curator.accountant.ledger.entries()] == ["open", "reserve", "commit"]


def test_an_analyst_gets_their_own_answer_again_where_the_table_is_gone_and_others_do_not(
    frame: pandas.DataFrame, declare: Callable[..., am.Dataset], open_curator: Open, tmp_path: Path
) -> None:
    file = tmp_path / "patients.parquet"
    frame.to_parquet(file)
    curator = open_curator(declare(source=str(file)))
    for analyst in ("ann", "bob"):
        grant(curator, analyst)
    first = curator.ask(QUESTION, analyst="ann")
    curator.close()
    gone = open_curator(declare(source=str(file)))
    file.unlink()
    assert gone.ask(QUESTION, analyst="ann").value == first.value
    refusals = []
    for question in (QUESTION, am.Count(where="age < 36", epsilon=0.1)):
        with pytest.raises(am.AnonymalyError) as caught:
            gone.ask(question, analyst="bob")
        refusals.append(str(caught.value))
    assert refusals[0] == refusals[1], "a stored answer must not show where the table is not ready"
    assert spent(gone)["bob"] == 0


def what_bob_sees(open_curator: Open, folder: Path, *, asked_before: bool) -> Any:
    """Let bob ask, preview and plan, after ann asked the same or something else."""
    curator = open_curator(ledger=folder / "patients.ledger")
    for analyst in ("ann", "bob"):
        grant(curator, analyst)
    others = am.Count(where="age < 50", epsilon=0.1)
    for query in (QUESTION, am.Count(epsilon=0.2)) if asked_before else (others,):
        curator.ask(query, analyst="ann")
    ledger = curator.accountant.ledger
    allowance = ledger.allowance("patients", "bob")
    found: list[Any] = [
        preview_for(curator.declaration, QUESTION, allowance).to_dict(),
        plan_for(curator.declaration, QUESTION, 20, allowance).to_dict(),
    ]
    for query in (QUESTION, QUESTION, am.Count(epsilon=0.2)):
        answer = seen(curator, query, "bob")
        found.append({**answer.to_dict(), "value": None})
        found.append(str(answer).splitlines()[1:])
        assert ledger.verify_charge(answer.receipt)
    for query in (am.Count(epsilon=0.3), am.Count(where="age < 50", epsilon=0.3)):
        with pytest.raises(BudgetExceeded) as caught:
            curator.ask(query, analyst="bob")
        found.append(caught.value.to_dict())
    for item in ledger.charges("patients", "bob"):
        found.append({**item.to_dict(), "time": ""})
    allowance = ledger.allowance("patients", "bob")
    assert allowance is not None
    found.append(allowance.to_dict())
    statement = ledger.own_statement("patients", "bob")
    found.append({**statement.to_dict(), "charges": []})
    found.append(str(statement).splitlines()[0])
    curator.close()
    return found


def without_digests(found: Any) -> Any:
    """Leave out what is drawn anew in each account: hashes, digests and the ledger's name."""
    if isinstance(found, dict):
        return {
            name: without_digests(item)
            for name, item in found.items()
            if name not in {"charge", "digest", "ledger"}
        }
    return [without_digests(item) for item in found] if isinstance(found, list) else found


def test_nothing_that_an_analyst_sees_tells_whether_another_asked_the_same_before(
    open_curator: Open, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("asked", "not")]
    for folder in folders:
        folder.mkdir()
    asked, not_asked = (
        what_bob_sees(open_curator, folder, asked_before=folder.name == "asked") for folder in folders
    )
    assert without_digests(asked) == without_digests(not_asked)
    text = json.dumps(asked)
    for hidden in ("seq", "commit", "head", "key", "under", "effect", "charged_before", "counted"):
        assert f'"{hidden}' not in text, hidden


def test_a_receipt_of_ones_own_charge_verifies_and_no_other(curator: am.Curator) -> None:
    ledger = curator.accountant.ledger
    anns, bobs = (seen(curator, QUESTION, analyst).receipt for analyst in ("ann", "bob"))
    assert anns.digest == bobs.digest
    assert anns.charge != bobs.charge
    assert set(anns.to_dict()) == {"ledger", "account", "charge", "digest", "cost"}
    for receipt in (anns, bobs):
        assert ledger.verify_charge(receipt.to_dict())
        for name, value in {"cost": 1, "digest": "00", "charge": "00", "ledger": "00"}.items():
            assert not ledger.verify_charge({**receipt.to_dict(), name: value}), name
    for name in ("ledger", "account", "charge", "digest", "cost"):
        for odd in (None, [], {}, True, -1, 2**80, 0.5, "\x00", "\ud800", "x" * 10**5):
            if (name, odd) != ("digest", None):
                assert not ledger.verify_charge({**anns.to_dict(), name: odd}), (name, odd)
    with pytest.raises(am.AnonymalyError, match="missing or unknown fields"):
        ledger.verify_charge({"charge": anns.charge})


def test_charges_are_numbered_by_analyst_and_tell_what_was_asked(curator: am.Curator) -> None:
    other = am.Count(epsilon=0.05)
    for query, analyst in ((QUESTION, "ann"), (other, "bob"), (QUESTION, "bob"), (other, "ann")):
        curator.ask(query, analyst=analyst)
    ledger = curator.accountant.ledger
    for analyst, costs in {"ann": [100, 50], "bob": [50, 100]}.items():
        charges = ledger.charges("patients", analyst)
        assert [item.number for item in charges] == [1, 2]
        assert [item.cost // 10**6 for item in charges] == costs
        assert charges[costs.index(100)].asks == QUESTION.describe()
    entries = {entry.hash: entry.time for entry in ledger.entries()}
    assert all(entries[item.hash] == item.time for item in ledger.charges("patients", "bob"))


def test_charges_can_be_read_and_receipts_verified_by_whoever_may_only_read(
    curator: am.Curator, tmp_path: Path
) -> None:
    curator.ask(QUESTION, analyst="ann")
    receipt = seen(curator, QUESTION, "bob").receipt
    curator.close()
    with Ledger.audit(tmp_path / "patients.ledger") as ledger:
        assert ledger.verify_charge(receipt)
        assert [item.number for item in ledger.charges("patients", "bob")] == [1]
        allowance = ledger.allowance("patients", "bob")
        assert allowance is not None
        assert allowance.remaining == NANO * 4 // 10


@pytest.mark.parametrize("stored", [True, False])
def test_a_paused_table_refuses_a_question_whether_another_asked_it_or_not(
    curator: am.Curator, stored: bool
) -> None:
    if stored:
        curator.ask(QUESTION, analyst="ann")
    curator.accountant.ledger.pause("patients", **WHY)
    with pytest.raises(Refused, match="is paused by its owner"):
        curator.ask(QUESTION, analyst="bob")
    if stored:
        assert curator.ask(QUESTION, analyst="ann").charged == 0


def test_an_analysts_statement_has_their_own_charges_and_the_owners_has_all_grants(
    curator: am.Curator,
) -> None:
    period = {"epsilon": NANO // 10, "every": "month", "from": "2026-01-01"}
    grant(curator, "cy", period=period)
    for query, analyst in ((QUESTION, "ann"), (QUESTION, "bob"), (am.Count(epsilon=0.05), "cy")):
        curator.ask(query, analyst=analyst)
    bobs = curator.accountant.ledger.own_statement("patients", "bob")
    assert (bobs.spent, len(bobs.charges)) == (NANO // 10, 1)
    assert bobs.to_dict()["relations"][0]["epsilon"] == "0.1"
    assert QUESTION.describe() in str(bobs)
    assert "ann" not in str(bobs)
    with pytest.raises(Refused, match="no grant"):
        curator.accountant.ledger.own_statement("patients", "eve")
    curator.accountant.ledger.revoke("patients", "ann", **WHY)
    statement = curator.statement()
    assert [(item["analyst"], item["total"], item["spent"]) for item in statement.to_dict()["granted"]] == [
        ("ann", "0.5", "0.1"),
        ("bob", "0.5", "0.1"),
        ("cy", "0.5", "0.05"),
    ]
    assert "granted to ann: revoked, ε = 0.1 spent" in str(statement)
    assert "granted to cy: ε = 0.05 spent; up to ε = 0.5 in all; up to ε = 0.1 each month" in str(statement)


@pytest.mark.parametrize("asked_before", [True, False])
def test_an_answer_from_before_an_amendment_looks_as_one_from_after_it(
    open_curator: Open, declare: Callable[..., am.Dataset], asked_before: bool
) -> None:
    curator = open_curator()
    for analyst in ("ann", "bob"):
        grant(curator, analyst)
    if asked_before:
        curator.ask(QUESTION, analyst="ann")
    columns = {**curator.declaration.columns, "ward": am.Categories(["A", "B", "C", "D"])}
    curator.amend(declare(columns=columns), reason="a new ward")
    if not asked_before:
        curator.ask(QUESTION, analyst="ann")
    found = seen(curator, QUESTION, "bob").to_dict()
    preview = preview_for(curator.declaration, QUESTION).to_dict()
    assert (found["number"], found["charged"], found["remaining"]) == (1, "0.1", "0.4")
    assert "declaration" not in found
    assert [found[name] for name in ("asks", "expected", "guarantee")] == [
        preview[name] for name in ("asks", "expected", "guarantee")
    ]
    assert curator.spent == 0.1


def test_a_failed_question_is_charged_to_each_and_has_no_number_of_the_ledgers(
    curator: am.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> Any:
        raise ValueError

    monkeypatch.setattr("anonymaly.ask.binding.Binding.answer", fail)
    said = []
    for analyst in ("ann", "bob", "bob"):
        with pytest.raises(AnswerFailed) as caught:
            curator.ask(QUESTION, analyst=analyst)
        said.append(caught.value.to_dict())
    assert said[0] == said[1] == said[2]
    assert spent(curator) == {"ann": NANO // 10, "bob": NANO // 10}


def test_what_an_analyst_sees_of_an_error_has_neither_entries_nor_places() -> None:
    assert "7" not in str(problem_for(DeclarationChanged("was amended at entry 7 by its owner")))
    assert "/srv" not in str(problem_for(LedgerDamaged("does not verify: /srv/patients.ledger")))
    assert "7" not in str(problem_for(AnswerFailed("question 7 was charged")))
    refused = BudgetExceeded("needs ε=1; 0 of 1 remain for analyst 'ann'", field="epsilon")
    assert problem_for(refused) == refused.to_dict()


def explain(age: int, epsilon: str = "0.02") -> am.Explain:
    return am.Explain(
        record={"age": age, "ward": "A"},
        metric="age",
        attributes=["ward"],
        detector="mad",
        rule="groups",
        epsilon=epsilon,
    )


def test_questions_under_a_rule_are_counted_for_each_analyst_whatever_others_asked(
    open_curator: Open, declare: Callable[..., am.Dataset]
) -> None:
    curator = open_curator(declare(rules={"groups": am.SameContexts(questions=5)}))
    for analyst, most in (("ann", 3), ("bob", 2)):
        grant(curator, analyst, rules={"groups": most})
    for age in (90, 91, 92):
        curator.ask(explain(age), analyst="ann")
    curator.ask(explain(90), analyst="bob")  # the same
    curator.ask(explain(90, "0.03"), analyst="bob")  # the same but for ε
    curator.ask(explain(95), analyst="bob")
    said = []
    for age in (91, 96):  # one that ann asked, and one that nobody did
        with pytest.raises(Refused) as caught:
            curator.ask(explain(age), analyst="bob")
        said.append(problem_for(caught.value))
    assert said[0] == said[1]
    assert "may ask 2 different questions under the rule 'groups', and all are asked" in str(said[0])
    mine = curator.accountant.ledger.allowance("patients", "bob")
    preview = preview_for(curator.declaration, explain(97), mine).to_dict()
    assert (preview["rule"], preview["questions_left"]) == ({"rule": "groups", "questions": 5}, 0)
    used = {item.name: item.used for item in curator.accountant.ledger.counters("patients")}
    assert used["rule:groups"] == 4
    assert curator.accountant.verify().ok


def test_a_question_that_needs_a_rule_is_refused_by_a_grant_without_one(curator: am.Curator) -> None:
    query = am.ShareHistogram(by=["ward"], policy="adults", epsilon=0.1)
    mine = curator.accountant.ledger.allowance("patients", "bob")
    for act in (
        lambda: curator.ask(query, analyst="bob"),
        lambda: preview_for(curator.declaration, query, mine),
    ):
        with pytest.raises(Refused, match="may not ask under the rule 'adults'"):
            act()
    grant(curator, "bob", rules={"adults": 1})
    assert curator.ask(query, analyst="bob").charged == 0.1

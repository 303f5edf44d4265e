# SPDX-License-Identifier: Apache-2.0
"""What a statement says holds: of a lost ledger, of ordered pairs, of versions, and of nobody."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ledger import Account, Entry, Ledger
from anonymaly.ledger.statement import PER_TRANSCRIPT, PROOF, Statement

AGES = [30.0, 40.0, 8.0]
RULES = {"adults": am.Policy("age >= 18"), "minors": am.Policy("age < 18")}
BILLION = 10**9


def dataset(ages: list[float] = AGES, version: str = "1", **options: Any) -> am.Dataset:
    frame = pandas.DataFrame({"age": ages})
    return am.Dataset(frame, name="p", version=version, columns={"age": am.Interval(0, 120)}, **options)


def words(statement: Statement) -> str:
    return "\n".join(statement.to_dict()["meaning"])


def test_a_budget_that_was_raised_in_the_lost_part_is_not_bounded_by_the_old_one(tmp_path: Path) -> None:
    path, anchor = tmp_path / "p.ledger", tmp_path / "p.anchor"
    curator = am.Curator(dataset(), budget=1, ledger=path, anchor=anchor)
    curator.ask(am.Count(epsilon=0.5))
    curator.close()
    shutil.copy(path, tmp_path / "old")
    curator = am.Curator(dataset(), ledger=path, anchor=anchor)
    curator.raise_budget(to=50)
    for age in range(9):
        curator.ask(am.Count(where=f"age >= {age}", epsilon=5))
    assert curator.spent == 45.5
    curator.close()
    for journal in tmp_path.glob("p.ledger-*"):
        journal.unlink()
    (tmp_path / "old").replace(path)
    Ledger.open_epoch(path, anchor=anchor).close()
    statement = am.Curator(dataset(), ledger=path, anchor=anchor).statement()
    assert statement.to_dict()["promise"] is None
    assert "All together keep at most" not in words(statement)
    assert "If the budget was raised or a rule was added in the lost part, no bound is known" in str(
        statement
    )


def account(**changes: Any) -> Account:
    told = Account("p", 2 * BILLION, 2 * BILLION, dataset().with_adjacency("add_remove").to_dict(), {})
    return replace(told, **changes)


def epoch(**data: Any) -> Entry:
    return Entry(
        7, "epoch", None, "2026-01-01T00:00:00.000+00:00", {"epoch": 1, "accounts": {}, **data}, "ab"
    )


def test_a_bound_of_what_was_lost_is_told_only_if_the_anchor_knew_budget_and_rules() -> None:
    bounded = Statement.of(account(), [], [epoch(bounded=True, accounts={"p": 2 * BILLION})])
    assert "answers of up to ε = 2 that are not shown here may exist" in words(bounded)
    assert "All together keep at most ε = 2, and that only between tables that are neighbours" in words(
        bounded
    )
    assert "ε = 2 of 2 spent by 0 questions, 2 of it with a part that was lost, 0 remaining" in str(bounded)
    for entries in ([epoch()], [epoch(bounded=False)], [epoch(bounded=True), epoch()], []):
        told = words(Statement.of(account(), [], entries))
        assert "no bound is known" in told
        assert "keep at most" not in told
        assert "nothing was given away" not in told


def test_an_account_that_allows_any_rule_has_no_bound_of_what_was_lost() -> None:
    told = words(Statement.of(account(rules="any"), [], [epoch(bounded=True)]))
    assert "The account allows any rule, so no bound is known" in told


def test_an_account_of_a_ledger_that_was_lost_says_so_even_if_nothing_of_it_was_forfeited() -> None:
    told = words(Statement.of(account(spent=0), [], [epoch()]))
    assert "no bound is known" in told
    assert words(Statement.of(account(spent=0), [], [epoch(bounded=True)])).startswith("Nothing was asked")
    assert words(Statement.of(account(spent=0), [])).startswith("Nothing was asked")


@pytest.fixture
def curator(tmp_path: Path) -> am.Curator:
    return am.Curator(dataset(rules=RULES), budget=20, ledger=tmp_path / "p.ledger")


def test_the_bound_of_a_transcript_is_said_of_the_first_table_against_the_second(
    curator: am.Curator,
) -> None:
    """A sample with an adult in it has probability 0 without that adult: no factor bounds that difference."""
    curator.ask(am.Count(epsilon=0.1))
    curator.ask(am.ShareSample(policy="adults", columns=["age"], epsilon=5))
    told = words(curator.statement())
    assert PER_TRANSCRIPT in told
    assert "on the first table is at most e^ε times that on the second" in told
    assert "differs" not in told


def test_a_statement_says_that_nobody_is_protected_when_everybody_was_published(curator: am.Curator) -> None:
    curator.ask(am.Count(epsilon=0.1))
    curator.ask(am.ShareSample(policy="adults", columns=["age"], epsilon=5))
    assert "nobody" not in curator.statement().to_dict()["protected"]
    curator.ask(am.ShareSample(policy="minors", columns=["age"], epsilon=5))
    statement = curator.statement()
    assert statement.to_dict()["protected"].startswith("nobody with a declared age")
    assert "Protected: nobody with a declared age" in str(statement)
    assert "Protected: whoever" not in str(statement)


def test_a_statement_does_not_call_absence_hidden_after_an_answer_that_may_show_it(tmp_path: Path) -> None:
    """By the rule a record without another one near it is not protected, and Identify says who is absent."""
    rules = {**RULES, "rare": am.AnomalyModel(["age"], radius=0, beta=40, k=1)}
    curator = am.Curator(dataset(rules=rules), budget=20, ledger=tmp_path / "p.ledger")
    curator.ask(am.ShareSample(policy="adults", columns=["age"], epsilon=0.5))
    assert "that one is absent only up to the factor e^ε" in words(curator.statement())
    curator.ask(am.Identify(record={"age": 77}, model="rare", epsilon=1))
    told = words(curator.statement())
    assert "absent only up to" not in told
    assert "and, through the other questions, that one of them is absent" in told


def test_a_statement_goes_on_saying_that_people_are_protected_one_row_at_a_time(curator: am.Curator) -> None:
    """The promise to everyone says it, and what a narrower promise leaves of that one must say it as well."""
    curator.ask(am.Count(epsilon=0.1))
    assert "protected one row at a time" in words(curator.statement())
    curator.ask(am.ShareSample(policy="adults", columns=["age"], epsilon=0.5))
    assert "people with more than one row are protected one row at a time" in words(curator.statement())
    curator.ask(am.ShareSample(policy="minors", columns=["age"], epsilon=0.5))
    assert "people with more than one row are protected one row at a time" in words(curator.statement())


def test_a_statement_names_the_versions_and_promises_in_every_one_of_them(tmp_path: Path) -> None:
    for version, ages in (("2025", [17.0, 40.0]), ("2026", [18.0, 41.0])):
        table = dataset(ages, version, rules={"adults": RULES["adults"]})
        curator = am.Curator(table, budget=50, ledger=tmp_path / "p.ledger")
        curator.ask(am.ShareSample(policy="adults", columns=["age"], epsilon=8))
    statement = curator.statement()
    assert "Versions asked about: 2025, 2026." in str(statement)
    assert "or the same in every one of them: whoever is not protected in one of them has no bound" in str(
        statement
    )
    assert statement.to_dict()["versions"] == [
        {"version": "2025", "questions": 1, "parts": 0},
        {"version": "2026", "questions": 1, "parts": 0},
    ]


def test_a_statement_counts_the_parts_of_a_version(tmp_path: Path) -> None:
    curator = am.Curator(dataset(), budget=5, adjacency="replace", ledger=tmp_path / "p.ledger")
    curator.ask(am.Count(epsilon=1))
    assert "Version asked about: 1.\n" in f"{curator.statement()}\n"
    for _ in range(2):
        curator.about(pandas.DataFrame({"age": AGES[:2]})).ask(am.Count(epsilon=1))
    told = str(curator.statement())
    assert "Version asked about: 1 (or 2 parts of its rows)." in told
    assert (
        "Parts keep it only if rows were put into them by position and the order of the rows does not follow "
        "from their values, or in a secret order (am.PrivateKFold)."
    ) in told
    assert curator.statement().to_dict()["versions"] == [{"version": "1", "questions": 3, "parts": 2}]


def test_a_statement_names_the_page_of_its_proof_and_what_it_rests_on(curator: am.Curator) -> None:
    curator.ask(am.Count(epsilon=0.1))
    told = curator.statement().to_dict()["meaning"]
    assert told[-1] == PROOF == "Proof: docs/composition.md"
    assert (Path(__file__).parents[2] / "docs" / "composition.md").is_file()
    assert sum("ChaCha20" in line for line in told) == 1

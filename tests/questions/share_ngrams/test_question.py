# SPDX-License-Identifier: Apache-2.0
"""Sequences as a question: the right promise, public thresholds, clear refusals, an answer that is kept."""

from __future__ import annotations

import json
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import anonymaly as am
from anonymaly.ask.simulation import simulate
from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError, RuleNotDeclared
from anonymaly.promise import Everyone, SensitiveUnderPolicy
from anonymaly.questions.share_ngrams.value import ReleasedNgrams, decode, encode
from tests.questions.share_ngrams.naive import declare, way

ROWS = [row for number in range(40) for row in way(f"p{number}", "ABC" if number % 2 else "AB")]


def ask(**fields: Any) -> am.ShareNgrams:
    return am.ShareNgrams(**{"place": ["ward"], "order": "day", "per_person": 6, "epsilon": 200, **fields})


def test_an_answer_says_how_many_persons_went_each_way(tmp_path: Path) -> None:
    curator = am.Curator(declare(ROWS), budget=1000, ledger=tmp_path / "ways.ledger")
    for policy in (None, "agreed"):
        ways = curator.ask(ask(length=3, policy=policy)).value
        assert ways.count("A", "B") == 40
        assert ways.count("A", "B", "C") == 20
        assert ways.count("C", "A") is None
        assert ways.top(2) == [(("A",), 40), (("B",), 40)]
        assert ways.top(5, length=3) == [(("A", "B", "C"), 20)]
        assert ways.columns == ["length", "sequence", "count"]
        assert "A → B → C" in str(ways)


def test_the_promise_is_to_everyone_or_to_whom_the_policy_calls_sensitive() -> None:
    declaration = declare(ROWS).declaration
    assert isinstance(ask().bind(declaration).relation, Everyone)
    assert isinstance(ask(policy="agreed").bind(declaration).relation, SensitiveUnderPolicy)


def test_the_threshold_for_a_billion_sequences_is_about_21_over_the_rate_and_no_row_has_a_say() -> None:
    grid = [am.Bins("day", [number / 10 for number in range(301)]), "ward"]
    for rows in ([], ROWS):
        bound: Any = ask(place=grid, length=3, epsilon=3).bind(declare(rows).declaration)
        assert bound.sequences.size == 900 + 900**2 + 900**3
        assert bound.rate == Fraction(1, 2)
        assert 39 <= bound.threshold <= 42
        policy: Any = ask(place=grid, length=3, epsilon=3, policy="agreed").bind(declare(rows).declaration)
        assert policy.threshold == 1


def test_a_billion_possible_sequences_are_answered_from_those_that_somebody_has() -> None:
    grid = [am.Bins("day", [number / 10 for number in range(301)]), "ward"]
    found = simulate(ask(place=grid, length=3, epsilon=30), declare(ROWS, public=True), seed=1).value
    assert found.count(("[0, 0.1)", "A")) == pytest.approx(40, abs=10)
    assert len(found) < 20


def test_the_preview_says_error_and_threshold(tmp_path: Path) -> None:
    curator = am.Curator(declare(ROWS), budget=10, ledger=tmp_path / "ways.ledger")
    words = str(curator.preview(ask(length=3, epsilon=1)))
    assert "of 39 sequences, those below 19 are not published" in words
    assert "all of their rows are read" in words
    assert "of a person with more than 6 sequences only so many count" in words
    assert curator.spent == 0


def test_an_answer_without_sequences_says_so() -> None:
    assert str(ReleasedNgrams([Attribute("ward", ("A", "B"))], 2, 1234, [], [])) == (
        "no sequence reaches the threshold of 1,234"
    )


def test_a_plan_counts_the_error_in_persons(tmp_path: Path) -> None:
    curator = am.Curator(declare(ROWS), budget=10, ledger=tmp_path / "ways.ledger")
    for policy in (None, "agreed"):
        assert "20 persons: 95 of 100 draws" in str(curator.plan(ask(epsilon=1, policy=policy), for_error=20))


def test_no_promise_says_that_only_some_rows_of_a_person_are_read() -> None:
    for policy in (None, "agreed"):
        protects = ask(policy=policy).bind(declare(ROWS).declaration).relation.protects()
        assert "however many rows they have" in protects
        assert "read" not in protects


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"place": ["note"]}, "place"),
        ({"place": ["day"]}, "place"),
        ({"place": ["ward", "ward"]}, "place"),
        ({"order": "ward"}, "order"),
        ({"order": "hour"}, "order"),
        ({"length": 0}, "length"),
        ({"length": 2, "shortest": 3}, "shortest"),
        ({"shortest": 0}, "shortest"),
        ({"place": ["ward", am.Bins("day", range(31))], "length": 20}, "length"),
        ({"place": [am.Bins("day", [number / 100 for number in range(1500)])]}, "place"),
        ({"per_person": 0}, "per_person"),
        ({"threshold": 0}, "threshold"),
        ({"place": ["ward"], "length": 30, "threshold": 1, "epsilon": 1}, "threshold"),
        ({"policy": "nobody"}, "policy"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises((InputError, RuleNotDeclared)) as refused:
        ask(**fields).bind(declare([]).declaration)
    assert refused.value.field == field


def test_a_table_that_does_not_say_whose_row_it_is_has_no_sequences() -> None:
    with pytest.raises(InputError, match="whose row"):
        ask().bind(declare([], person=None, max_rows=None).declaration)


def test_an_answer_is_read_back_as_it_was_written() -> None:
    place = [Attribute("ward", ("A", "B")), Attribute("old", (False, True))]
    ways = ReleasedNgrams(place, 3, 2, cells=[3, 17, 83], counts=[2, 9, 5])
    file = BytesIO()
    encode(ways, file)
    file.seek(0)
    again = decode(file)
    assert again.to_dict() == ways.to_dict()
    assert [again.cells.tolist(), again.counts.tolist()] == [[17, 83, 3], [9, 5, 2]]
    first = json.loads(file.getvalue())["sequences"][0]
    assert first == [["B", True], ["A", True]], (
        "the file can be read without knowing how sequences are numbered"
    )
    assert again.top(1) == [((("B", True), ("A", True)), 9)]
    assert again.count(("B", True)) == 2
    mistakes: list[Any] = [(), ("B",), (("B", 3),), (("B", True),) * 4]
    for wrong in mistakes:
        with pytest.raises(InputError):
            again.count(*wrong)


def test_sequences_of_one_length_are_kept_and_shown_as_such(tmp_path: Path) -> None:
    question = ask(length=3, shortest=3, epsilon=50)
    curator = am.Curator(declare(ROWS), budget=100, ledger=tmp_path / "l")
    found = curator.ask(question).value
    assert {len(places) for places, _ in found.top(100)} == {3}
    again = am.Curator(declare(ROWS), budget=100, ledger=tmp_path / "l").ask(question).value
    assert again.to_dict() == found.to_dict()
    assert "sequences of 3 places" in question.describe()
    with pytest.raises(InputError, match="has 1 places") as refused:
        found.count("A")
    assert refused.value.next_step == "Give 3 places in their order."

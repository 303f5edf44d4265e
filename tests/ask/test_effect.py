# SPDX-License-Identifier: Apache-2.0
"""A preview says what an answer would do to the promises that were made before it."""

from __future__ import annotations

from collections.abc import Callable

import pandas
import pytest

import anonymaly as am

OpenCurator = Callable[..., am.Curator]
Declare = Callable[..., am.Dataset]
SAMPLE = am.ShareSample(policy="adults", columns=["age"], epsilon=5)
RULES = {
    "adults": am.Policy("age >= 18"),
    "minors": am.Policy("age < 18"),
    "rare": am.AnomalyModel(["age"], radius=1, beta=20, k=2),
}


@pytest.fixture
def curator(open_curator: OpenCurator, declare: Declare) -> am.Curator:
    return open_curator(declare(rules=RULES), budget=100)


def test_the_first_question_narrows_no_promise(curator: am.Curator) -> None:
    preview = curator.preview(SAMPLE)
    assert preview.effect is None
    assert preview.to_dict()["effect"] is None
    assert "earlier answers" not in str(preview)


def test_a_question_that_protects_fewer_says_to_whom_earlier_promises_then_still_hold(
    curator: am.Curator,
) -> None:
    curator.ask(am.Count(epsilon=0.1))
    preview = curator.preview(SAMPLE)
    told = preview.to_dict()["effect"]
    assert told["questions"] == 1
    assert told["before"]["epsilon"] == "0.1"
    assert told["after"]["epsilon"] == "5.1"
    assert told["protected_before"].startswith("every record: whether they are in the data")
    assert told["protected_after"].startswith("every record that is sensitive under rule 'adults'")
    assert "earlier answers 1 question promised ε = 0.1 to every record: whether they are" in str(preview)
    assert "all together promise ε = 5.1 only to those of them whom it protects too" in str(preview)


def test_a_question_that_protects_as_many_says_nothing_of_earlier_ones(curator: am.Curator) -> None:
    curator.ask(SAMPLE)
    assert curator.preview(am.Count(epsilon=0.1)).effect is None
    assert curator.preview(am.ShareSample(policy="adults", columns=["ward"], epsilon=1)).effect is None


def test_a_question_that_was_charged_before_narrows_nothing_again(curator: am.Curator) -> None:
    curator.ask(am.Count(epsilon=0.1))
    assert curator.preview(SAMPLE).effect is not None
    curator.ask(SAMPLE)
    assert curator.preview(SAMPLE).effect is None


def test_a_preview_says_that_nobody_would_be_protected_any_more(curator: am.Curator) -> None:
    curator.ask(SAMPLE)
    preview = curator.preview(am.ShareSample(policy="minors", columns=["age"], epsilon=5))
    assert preview.to_dict()["effect"]["protected_after"].startswith("nobody with a declared age")
    assert "that is nobody with a declared age" in str(preview)


def test_a_new_version_narrows_a_promise_that_depends_on_the_table(
    open_curator: OpenCurator, declare: Declare
) -> None:
    identify = am.Identify(record={"age": 50}, model="rare", epsilon=1)
    open_curator(declare(rules=RULES), budget=100).ask(identify)
    later = open_curator(declare(rules=RULES, version="2"), budget=100)
    told = str(later.preview(identify))
    assert "only to those for whom that is so in every version of 1, 2" in told


def test_differential_privacy_in_a_new_version_narrows_nothing(
    open_curator: OpenCurator, declare: Declare
) -> None:
    open_curator(declare(), budget=100).ask(am.Count(epsilon=1))
    assert open_curator(declare(version="2"), budget=100).preview(am.Count(epsilon=1)).effect is None


def test_the_effect_depends_on_no_row(open_curator: OpenCurator, declare: Declare) -> None:
    curator = open_curator(declare(rules=RULES), budget=100)
    curator.ask(am.Count(epsilon=0.1))
    empty = pandas.DataFrame({"age": [1], "ward": ["A"], "consent": [True]}).iloc[:0]
    other = open_curator(declare(source=empty, rules=RULES), budget=100)
    assert str(other.preview(SAMPLE)) == str(curator.preview(SAMPLE))

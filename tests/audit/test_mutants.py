# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import pytest

from anonymaly.audit.cases.count import COUNT_MUTANTS, count_case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import LAYERS, audit
from anonymaly.questions.count.query import Count


@pytest.mark.slow
@pytest.mark.parametrize("mutant", COUNT_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1)


@pytest.mark.slow
def test_the_question_itself_is_not_rejected_where_its_mutants_are() -> None:
    for layer in LAYERS:
        real = Mutant("the real question", layer, lambda: count_case(epsilon="0.5"))
        assert not real.is_rejected(seed=1)


def test_mutants_have_names_of_their_own_and_every_layer_has_some() -> None:
    names = [mutant.name for mutant in COUNT_MUTANTS]
    assert len(set(names)) == len(names)
    assert {mutant.layer for mutant in COUNT_MUTANTS} == set(LAYERS)


def test_a_mutant_starts_without_a_memory_of_earlier_audits() -> None:
    (reused,) = [mutant for mutant in COUNT_MUTANTS if mutant.name == "noise reused for a second answer"]
    assert reused.is_rejected()
    assert reused.is_rejected()


def test_a_question_that_fails_is_reported_by_the_layers_that_sample_it() -> None:
    (mutant,) = [mutant for mutant in COUNT_MUTANTS if mutant.name == "exception on empty"]
    report = audit(mutant.build(), layers=["fit", "bound"], samples=100, fit_samples=100)
    assert not report.passed
    assert "failed with ValueError" in str(report)


def test_a_summary_that_no_pair_changes_is_reported_as_untested() -> None:
    impossible = Count(where="age > 60 and age < 50", epsilon="0.5")
    case = dataclasses.replace(count_case(epsilon="0.5"), query=impossible)
    report = audit(case, layers=["replay"], rounds=0)
    assert not report.passed
    assert not report.rejected_by("replay")
    assert "reach 0 of the declared sensitivity" in str(report)

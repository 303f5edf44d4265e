# SPDX-License-Identifier: Apache-2.0
"""Counts of a list of filters, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from anonymaly.audit.cases.count_list import (
    APART,
    COUNT_LIST_MUTANTS,
    OVERLAPPING,
    UNDECLARED,
    count_list_case,
)
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit
from anonymaly.questions.count.query import Count

SAMPLES, FIT, POWER = 20_000, 10_000, 0.6
CASES: list[dict[str, Any]] = [
    {"filters": APART},
    {"filters": APART, "adjacency": "replace"},
    {"filters": APART, "max_rows": 2},
    {"filters": APART, "max_rows": 2, "adjacency": "replace"},
    {"filters": OVERLAPPING},
    {"filters": OVERLAPPING, "adjacency": "replace"},
    {"filters": UNDECLARED},
]


def named(options: dict[str, Any]) -> str:
    return count_list_case(epsilon="1", **options).name


@pytest.mark.slow
@pytest.mark.parametrize("options", [CASES[1], CASES[2], CASES[4]], ids=named)
def test_counts_of_a_list_pass_every_layer_and_the_audit_sees_most_of_epsilon(
    options: dict[str, Any],
) -> None:
    report = audit(
        count_list_case(epsilon="1", **options),
        seed=1,
        rounds=1,
        samples=SAMPLES,
        fit_samples=FIT,
        power=POWER,
        alarm=1e-7,
    )
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings} == {"replay", "ledger", "fit", "bound"}


@pytest.mark.parametrize(
    "options", [case for case in CASES if count_list_case(epsilon="1", **case).tight], ids=named
)
def test_the_worst_pair_loses_all_of_epsilon_and_no_pair_more(options: dict[str, Any]) -> None:
    case = count_list_case(epsilon="1", **options)
    report = audit(case, layers=["bound"], rounds=1, samples=10, power=None)
    (loss,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert loss.numbers["exact"] == pytest.approx(1)


@pytest.mark.parametrize("mutant", COUNT_LIST_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=10_000)


@pytest.mark.slow
def test_the_question_itself_is_not_rejected_where_its_mutants_are() -> None:
    for mutant in COUNT_LIST_MUTANTS:
        broken = mutant.build()
        case = dataclasses.replace(broken, query=Count.read(broken.query.to_dict()))
        report = audit(case, seed=1, layers=[mutant.layer], samples=10_000, power=None, alarm=1e-7, rounds=1)
        assert report.passed, str(report)


def test_mutants_have_names_of_their_own() -> None:
    names = [mutant.name for mutant in COUNT_LIST_MUTANTS]
    assert len(set(names)) == len(names)

# SPDX-License-Identifier: Apache-2.0
"""The real question, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

from typing import Any

import pytest

from anonymaly.audit.cases.score import (
    OF_TWO,
    SCORE_MUTANTS,
    score_case,
    score_mixed_case,
    score_stages_case,
)
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit

# A release takes a fraction of a millisecond: few samples, of which half of ε can still be seen.
SAMPLES, POWER = 1000, 0.5
CASES: list[dict[str, Any]] = [
    {"audited": audited, "adjacency": adjacency}
    for audited in ("published", "held", "marginals", "mixed")
    for adjacency in ("add_remove", "replace")
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_score_passes_the_layers_that_sample_it(options: dict[str, Any]) -> None:
    case = score_case(epsilon="2", **options)
    report = audit(
        case, seed=1, rounds=1, layers=["fit", "bound"], samples=SAMPLES, fit_samples=SAMPLES, power=POWER
    )
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings} == {"fit", "bound"}


@pytest.mark.parametrize("options", CASES, ids=str)
def test_the_worst_pair_loses_all_of_epsilon_and_no_pair_more(options: dict[str, Any]) -> None:
    report = audit(score_case(epsilon="2", **options), layers=["bound"], rounds=2, samples=10, power=None)
    (loss,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert loss.passed
    # Of two histograms' four cells two are looked at, and a record that is replaced changes all four.
    expected = 1 if options["audited"] in OF_TWO and options["adjacency"] == "replace" else 2
    assert loss.numbers["exact"] == pytest.approx(expected)


@pytest.mark.parametrize("options", CASES[:2], ids=str)
def test_score_replays_alike_on_neighbours(options: dict[str, Any]) -> None:
    report = audit(score_case(epsilon="2", **options), seed=1, rounds=0, layers=["replay"])
    assert report.passed, str(report)
    assert report.findings[0].numbers["pairs"] > 15


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_all_four_stages_replay_alike_on_neighbours(adjacency: Any) -> None:
    # So much ε that bounds are found and scores differ: with little, a replaced record may change nothing.
    report = audit(score_stages_case(epsilon="100", adjacency=adjacency), seed=1, rounds=0, layers=["replay"])
    assert report.passed, str(report)
    assert len([finding for finding in report.findings if finding.power]) == 4


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_stages_of_mixed_columns_replay_alike_on_neighbours(adjacency: Any) -> None:
    report = audit(score_mixed_case(epsilon="100", adjacency=adjacency), seed=1, rounds=0, layers=["replay"])
    assert report.passed, str(report)
    assert len([finding for finding in report.findings if finding.power]) == 3


def test_score_leaves_the_same_ledger_on_the_worst_pair() -> None:
    report = audit(score_stages_case(epsilon="2"), layers=["ledger"])
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", SCORE_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=3 * SAMPLES)


def test_mutants_have_names_of_their_own() -> None:
    names = [mutant.name for mutant in SCORE_MUTANTS]
    assert len(set(names)) == len(names)

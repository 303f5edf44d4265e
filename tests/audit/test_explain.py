# SPDX-License-Identifier: Apache-2.0
"""The real question, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

from typing import Any

import pytest

from anonymaly.audit.case import Case
from anonymaly.audit.cases.explain import EXPLAIN_MUTANTS, explain_case, neighbours_case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit

# An answer takes half a millisecond: few samples, of which half of ε can still be seen.
SAMPLES, FEW, POWER = 1000, 300, 0.5
LOUD = {"start steered by utility", "withheld when small"}  # their loss has no bound: few samples show it
CASES: list[dict[str, Any]] = [
    {"search": search, "adjacency": adjacency}
    for search in ("exact", "breadth_first")
    for adjacency in ("add_remove", "replace")
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_explain_passes_the_layers_that_sample_it(options: dict[str, Any]) -> None:
    case = explain_case(epsilon="2", **options)
    samples = SAMPLES if case.tight else FEW
    report = audit(
        case, seed=1, rounds=1, layers=["fit", "bound"], samples=samples, fit_samples=FEW, power=POWER
    )
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings} == {"fit", "bound"}


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_worst_pair_of_the_exact_search_loses_all_of_epsilon(adjacency: Any) -> None:
    case = explain_case(epsilon="2", adjacency=adjacency)
    report = audit(case, layers=["bound"], rounds=0, samples=10, power=None)
    (loss,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert loss.numbers["exact"] == pytest.approx(2)


@pytest.mark.parametrize("options", [CASES[0], CASES[3]], ids=str)
def test_explain_replays_alike_on_neighbours_with_the_same_valid_contexts(options: dict[str, Any]) -> None:
    report = audit(explain_case(epsilon="2", **options), seed=1, rounds=0, layers=["replay"])
    assert report.passed, str(report)
    assert report.findings[0].numbers["pairs"] > 15


@pytest.mark.parametrize("case", [explain_case(epsilon="2"), neighbours_case()], ids=["grubbs", "lof"])
def test_explain_leaves_the_same_ledger_on_the_worst_pair(case: Case) -> None:
    report = audit(case, layers=["ledger"])
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", EXPLAIN_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=FEW if mutant.name in LOUD else SAMPLES)


def test_mutants_have_names_of_their_own() -> None:
    names = [mutant.name for mutant in EXPLAIN_MUTANTS]
    assert len(set(names)) == len(names)

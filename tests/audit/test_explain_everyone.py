# SPDX-License-Identifier: Apache-2.0
"""Explain for everyone, which no layer may reject, and broken variants, each of which one layer must."""

from __future__ import annotations

from typing import Any

import pytest

from anonymaly.audit.case import Case
from anonymaly.audit.cases.explain_everyone import (
    EXPLAIN_EVERYONE_MUTANTS,
    explain_everyone_case,
    explain_quartile_case,
)
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit

# An answer takes a third of a millisecond: few samples, of which most of ε can still be seen.
SAMPLES, FEW, POWER = 2_000, 500, 0.5
CASES: list[dict[str, Any]] = [
    {"adjacency": "add_remove"},
    {"adjacency": "replace"},
    {"adjacency": "add_remove", "max_rows": 2},
    {"adjacency": "replace", "max_rows": 2},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", CASES, ids=str)
def test_explain_for_everyone_passes_the_layers_that_sample_it(options: dict[str, Any]) -> None:
    report = audit(
        explain_everyone_case(epsilon="2", **options),
        seed=1,
        rounds=1,
        layers=["fit", "bound"],
        samples=SAMPLES,
        fit_samples=FEW,
        power=POWER,
    )
    assert report.passed, str(report)


@pytest.mark.parametrize("options", CASES, ids=str)
def test_the_worst_pair_loses_nearly_all_of_epsilon(options: dict[str, Any]) -> None:
    case = explain_everyone_case(epsilon="1", **options)
    assert case.outcomes is not None
    one, other = (case.outcomes(table) for table in case.worst_pair)
    ratios = [float(one[name] / other[name]) for name in one]
    # Between two groups it would be all of it; none, a third candidate, takes a little.
    assert 0.95 < max(*ratios, *(1 / ratio for ratio in ratios)) / 2.718281828 <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_a_quartile_passes_too(adjacency: Any) -> None:
    case = explain_quartile_case(epsilon="2", adjacency=adjacency)
    report = audit(
        case, seed=1, rounds=1, layers=["replay", "fit", "bound"], samples=SAMPLES, fit_samples=FEW
    )
    assert report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("options", [CASES[0], CASES[3]], ids=str)
def test_explain_for_everyone_replays_alike_on_neighbours(options: dict[str, Any]) -> None:
    report = audit(explain_everyone_case(epsilon="2", **options), seed=1, rounds=0, layers=["replay"])
    assert report.passed, str(report)
    assert report.findings[0].numbers["pairs"] > 15


@pytest.mark.parametrize("case", [explain_everyone_case(epsilon="2")], ids=["everyone"])
def test_explain_for_everyone_leaves_the_same_ledger_on_the_worst_pair(case: Case) -> None:
    report = audit(case, layers=["ledger"])
    assert report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", EXPLAIN_EVERYONE_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=10_000 if "quartile" in mutant.name else SAMPLES)

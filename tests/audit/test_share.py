# SPDX-License-Identifier: Apache-2.0
"""The real questions, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from anonymaly.audit.case import Case
from anonymaly.audit.cases.share_histogram import SHARE_HISTOGRAM_MUTANTS, histogram_case
from anonymaly.audit.cases.share_persons import SHARE_PERSONS_MUTANTS, persons_case
from anonymaly.audit.cases.share_sample import (
    SHARE_SAMPLE_MUTANTS,
    sample_case,
    undeclared_case,
)
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit

# A release writes a file: few samples, of which half of ε can still be seen.
SAMPLES, FEW, POWER = 400, 200, 0.5
MUTANTS = (*SHARE_SAMPLE_MUTANTS, *SHARE_PERSONS_MUTANTS, *SHARE_HISTOGRAM_MUTANTS)
CASES: dict[str, Callable[..., Case]] = {
    "records, add_remove": sample_case,
    "records, replace": partial(sample_case, adjacency="replace"),
    "persons, add_remove": persons_case,
    "persons, replace": partial(persons_case, adjacency="replace"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sample_passes_the_layers_that_sample_it(name: str) -> None:
    case = CASES[name](epsilon="1")
    layers = ["fit", "bound"]
    report = audit(case, seed=1, rounds=0, layers=layers, samples=SAMPLES, fit_samples=FEW, power=POWER)
    assert report.passed, str(report)
    (loss,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert loss.numbers["exact"] == pytest.approx(1), "the worst pair loses all of ε"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["records, add_remove", "persons, replace"])
def test_the_sample_replays_alike_on_neighbours(name: str) -> None:
    report = audit(CASES[name](epsilon="1"), seed=1, rounds=0, layers=["replay", "ledger"])
    assert report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(("adjacency", "method"), [("add_remove", "hybrid"), ("replace", "one_sided_l1")])
def test_the_histogram_passes_every_layer(adjacency: Any, method: str) -> None:
    case = histogram_case(epsilon="1", adjacency=adjacency, method=method)
    report = audit(case, seed=1, rounds=0, layers=["replay", "ledger", "bound"], samples=SAMPLES, power=None)
    assert report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("decided", [False, True])
def test_two_views_pass_every_layer_also_where_the_policys_text_decides_cells(
    adjacency: Any, decided: bool
) -> None:
    case = histogram_case(epsilon="1", adjacency=adjacency, method="auto", decided=decided)
    report = audit(case, seed=1, rounds=0, layers=["replay", "ledger", "bound"], samples=SAMPLES, power=None)
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=SAMPLES)


def test_a_sample_beside_an_undeclared_value_fits_its_law() -> None:
    assert audit(undeclared_case(), seed=1, layers=["fit"], fit_samples=FEW).passed


def test_mutants_have_names_of_their_own() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)

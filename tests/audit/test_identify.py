# SPDX-License-Identifier: Apache-2.0
"""The real question, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from anonymaly.audit.cases.identify import IDENTIFY_MUTANTS, identify_case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit
from anonymaly.questions.identify.query import Identify

# An answer takes a fraction of a millisecond: few samples, of which most of ε can still be seen.
SAMPLES, FIT, POWER = 10_000, 2_000, 0.5
CASES: list[dict[str, Any]] = [
    {},
    {"adjacency": "replace"},
    {"guarantee": "differential"},
    {"batch": True},
    {"batch": True, "adjacency": "replace"},
    {"chain": True},
    {"max_rows": 2},
    {"max_rows": 2, "adjacency": "replace"},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", CASES, ids=str)
def test_identify_passes_the_layers_that_sample_it(options: dict[str, Any]) -> None:
    report = audit(
        identify_case(epsilon="1", **options),
        seed=1,
        rounds=1,
        layers=["fit", "bound"],
        samples=SAMPLES,
        fit_samples=FIT,
        power=POWER,
    )
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings} == {"fit", "bound"}


@pytest.mark.parametrize(
    "options", [case for case in CASES if identify_case(epsilon="1", **case).tight], ids=str
)
def test_the_worst_pair_loses_all_of_epsilon(options: dict[str, Any]) -> None:
    report = audit(identify_case(epsilon="1", **options), layers=["bound"], rounds=0, samples=10, power=None)
    (loss,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert loss.numbers["exact"] == pytest.approx(1)


@pytest.mark.parametrize("options", [CASES[0], CASES[4], CASES[5], CASES[6]], ids=str)
def test_identify_replays_alike_on_neighbours(options: dict[str, Any]) -> None:
    report = audit(identify_case(epsilon="1", **options), seed=1, rounds=0, layers=["replay"])
    assert report.passed, str(report)
    assert report.findings[0].numbers["pairs"] > 5


def test_identify_leaves_the_same_ledger_on_the_worst_pair() -> None:
    report = audit(identify_case(epsilon="1"), layers=["ledger"])
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", IDENTIFY_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=SAMPLES)


@pytest.mark.slow
def test_the_question_itself_is_not_rejected_on_the_mutants_pairs() -> None:
    for mutant in IDENTIFY_MUTANTS:
        broken = mutant.build()
        if mutant.name == "rows that are cut off make somebody protected":
            continue  # what is broken is the promise: see below
        real = Mutant("real", "bound", lambda broken=broken: _mended(broken))
        assert not real.is_rejected(seed=1, samples=1_000), mutant.name


def test_rows_that_are_cut_off_make_nobody_protected() -> None:
    (mutant,) = (item for item in IDENTIFY_MUTANTS if item.name.startswith("rows that are cut off"))
    broken, real = mutant.build(), identify_case(epsilon="1", max_rows=1)
    given: dict[str, Any] = {"columns": real.columns, "person": "name"}
    assert broken.relation.relates(*broken.worst_pair, **given)
    assert not real.relation.relates(*broken.worst_pair, **given)


def _mended(broken: Any) -> Any:
    """The mutant's tables and charge, with the real question."""
    return dataclasses.replace(broken, query=Identify.read(broken.query.to_dict()))


def test_mutants_have_names_of_their_own() -> None:
    names = [mutant.name for mutant in IDENTIFY_MUTANTS]
    assert len(set(names)) == len(names)

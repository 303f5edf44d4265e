# SPDX-License-Identifier: Apache-2.0
"""The real question, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from anonymaly.audit.cases.share_ngrams import SHARE_NGRAMS_MUTANTS, ngrams_case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit

CASES = list(product(["add_remove", "replace"], [None, "agreed"]))


@pytest.mark.parametrize(("adjacency", "policy"), CASES)
def test_sequences_pass_the_layers_that_sample_them(adjacency: Any, policy: str | None) -> None:
    case = ngrams_case(epsilon="1", adjacency=adjacency, policy=policy)
    report = audit(case, seed=1, rounds=0, layers=["fit", "bound"], samples=400, fit_samples=400, power=None)
    assert report.passed, str(report)
    (loss,) = [finding for finding in report.findings if finding.check == "exact loss"]
    assert loss.numbers["exact"] == pytest.approx(1) if case.tight else loss.numbers["exact"] < 1


@pytest.mark.slow
@pytest.mark.parametrize(("adjacency", "policy"), CASES)
def test_sequences_replay_alike_on_neighbours(adjacency: Any, policy: str | None) -> None:
    case = ngrams_case(epsilon="1", adjacency=adjacency, policy=policy)
    report = audit(case, seed=1, rounds=0, layers=["replay", "ledger"])
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", SHARE_NGRAMS_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1)

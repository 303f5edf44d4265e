# SPDX-License-Identifier: Apache-2.0
"""The real question, which no layer may reject, and broken ones, each of which one layer must."""

from __future__ import annotations

from typing import Any

import pytest

from anonymaly.audit.cases.lookahead import LOOKAHEAD_MUTANTS, lookahead_case
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.report import audit

SAMPLES, FIT, POWER = 4_000, 2_000, 0.5


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_lookahead_passes_every_layer(adjacency: Any) -> None:
    report = audit(
        lookahead_case(epsilon="1", adjacency=adjacency),
        seed=1,
        rounds=0,
        samples=SAMPLES,
        fit_samples=FIT,
        power=POWER,
    )
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", LOOKAHEAD_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: Mutant) -> None:
    assert mutant.is_rejected(seed=1, samples=SAMPLES)

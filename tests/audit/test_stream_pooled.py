# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.cases.stream_pooled import (
    POOLED_LAYERS,
    POOLED_MUTANTS,
    PooledCase,
    PooledMutant,
    audit_pooled,
)


def test_no_violation_is_found_in_windows_over_sensors_and_one_could_have_been() -> None:
    report = audit_pooled(PooledCase())
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings if finding.power} == set(POOLED_LAYERS)


@pytest.mark.parametrize("mutant", POOLED_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer_and_by_no_other(mutant: PooledMutant) -> None:
    report = audit_pooled(mutant.case)
    assert mutant.is_rejected()
    assert [layer for layer in POOLED_LAYERS if report.rejected_by(layer)] == [mutant.layer]

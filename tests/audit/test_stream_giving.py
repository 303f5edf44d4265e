# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.cases.stream_giving import (
    GIVING_LAYERS,
    GIVING_MUTANTS,
    GivingCase,
    GivingMutant,
    audit_giving,
)


def test_no_violation_is_found_in_giving_and_one_could_have_been() -> None:
    report = audit_giving(GivingCase())
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings if finding.power} == set(GIVING_LAYERS)


@pytest.mark.parametrize("mutant", GIVING_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer_and_by_no_other(mutant: GivingMutant) -> None:
    report = audit_giving(mutant.case)
    assert mutant.is_rejected()
    assert [layer for layer in GIVING_LAYERS if report.rejected_by(layer)] == [mutant.layer]

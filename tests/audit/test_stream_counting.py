# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.cases.stream_counting import (
    COUNTING_MUTANTS,
    CountingCase,
    CountingMutant,
    audit_counting,
)


def test_no_violation_is_found_in_counting_and_one_could_have_been() -> None:
    report = audit_counting(CountingCase())
    assert report.passed, str(report)


@pytest.mark.parametrize("mutant", COUNTING_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer(mutant: CountingMutant) -> None:
    assert mutant.is_rejected()

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.cases.stream import (
    STREAM_LAYERS,
    STREAM_MUTANTS,
    StreamCase,
    StreamMutant,
    audit_stream,
)


def test_no_violation_is_found_in_a_stream_and_one_could_have_been() -> None:
    report = audit_stream(StreamCase())
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings if finding.power} == set(STREAM_LAYERS)


@pytest.mark.parametrize("mutant", STREAM_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_rejected_by_its_layer_and_by_no_other(mutant: StreamMutant) -> None:
    report = audit_stream(mutant.case)
    assert mutant.is_rejected()
    assert [layer for layer in STREAM_LAYERS if report.rejected_by(layer)] == [mutant.layer]

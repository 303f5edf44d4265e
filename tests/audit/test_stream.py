# SPDX-License-Identifier: Apache-2.0
"""The parts of a stream pass the audit, and every planted fault is rejected by its layer and by no other."""

from __future__ import annotations

import pytest

from anonymaly.audit.cases.stream import STREAM_MUTANTS, StreamCase
from anonymaly.audit.cases.stream_counting import COUNTING_MUTANTS, CountingCase
from anonymaly.audit.cases.stream_giving import GIVING_MUTANTS, GivingCase
from anonymaly.audit.cases.stream_pooled import POOLED_MUTANTS, PooledCase
from anonymaly.audit.stream_parts import StreamMutant, StreamParts


@pytest.mark.parametrize(
    "parts", [StreamCase(), CountingCase(), PooledCase(), GivingCase()], ids=lambda parts: parts.title
)
def test_no_violation_is_found_and_one_could_have_been(parts: StreamParts) -> None:
    report = parts.audit()
    assert report.passed, str(report)
    assert {finding.layer for finding in report.findings} == set(parts.checks)


@pytest.mark.parametrize("parts", [StreamCase(), PooledCase(), GivingCase()], ids=lambda parts: parts.title)
def test_every_exact_layer_says_whether_it_could_see_a_violation(parts: StreamParts) -> None:
    assert {finding.layer for finding in parts.audit().findings if finding.power} == set(parts.checks)


@pytest.mark.parametrize(
    "mutant", [*STREAM_MUTANTS, *POOLED_MUTANTS, *GIVING_MUTANTS], ids=lambda mutant: mutant.name
)
def test_every_mutant_is_rejected_by_its_layer_and_by_no_other(mutant: StreamMutant) -> None:
    report = mutant.case.audit()
    assert mutant.is_rejected()
    assert [layer for layer in mutant.case.checks if report.rejected_by(layer)] == [mutant.layer]


@pytest.mark.parametrize("mutant", COUNTING_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_of_counting_is_rejected_by_its_layer(mutant: StreamMutant) -> None:
    assert mutant.is_rejected()

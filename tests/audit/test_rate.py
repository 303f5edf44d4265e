# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.rate import RATE_FAULTS, RateStep, audit_rate


def test_the_step_from_a_charge_to_a_rate_spends_no_more_than_the_charge() -> None:
    assert audit_rate(RateStep("as it is")) == ()


@pytest.mark.parametrize("fault", RATE_FAULTS, ids=lambda fault: fault.name)
def test_every_fault_in_the_step_is_found(fault: RateStep) -> None:
    assert audit_rate(fault)


@pytest.mark.parametrize(
    "name", ["rounded up", "rows ignored", "replacement counted like addition", "parts forgotten"]
)
def test_a_fault_that_breaks_the_promise_is_found_as_a_loss(name: str) -> None:
    (fault,) = (fault for fault in RATE_FAULTS if fault.name == name)
    assert any("loses" in problem for problem in audit_rate(fault))

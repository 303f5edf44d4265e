# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.reading import READING_FAULTS, reading_problems


def test_promises_and_answers_read_the_same_values() -> None:
    assert found_as_it_is(reading_problems) == []


@pytest.mark.parametrize("fault", READING_FAULTS, ids=lambda fault: fault.name)
def test_a_value_that_promises_and_answers_read_differently_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(reading_problems)

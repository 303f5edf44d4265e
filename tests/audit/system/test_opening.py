# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.opening import OPENING_FAULTS, opening_problems


@pytest.mark.slow
def test_no_value_decides_whether_a_table_opens_or_a_question_is_answered() -> None:
    assert found_as_it_is(opening_problems) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", OPENING_FAULTS, ids=lambda fault: fault.name)
def test_a_value_that_shows_in_the_opening_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(opening_problems)

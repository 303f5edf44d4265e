# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.parts import PARTS_FAULTS, parts_problems


def test_a_part_of_the_rows_is_asked_about_only_where_the_promise_holds_of_it() -> None:
    assert found_as_it_is(parts_problems) == []


@pytest.mark.parametrize("fault", PARTS_FAULTS, ids=lambda fault: fault.name)
def test_a_promise_that_a_part_does_not_keep_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(parts_problems)

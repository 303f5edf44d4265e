# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.digests import DIGESTS_FAULTS, digests_problems
from anonymaly.audit.system.fault import SystemFault, found_as_it_is


def test_nobody_finds_by_trying_whom_a_question_was_about() -> None:
    assert found_as_it_is(digests_problems) == []


@pytest.mark.parametrize("fault", DIGESTS_FAULTS, ids=lambda fault: fault.name)
def test_a_digest_that_can_be_found_by_trying_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(digests_problems)

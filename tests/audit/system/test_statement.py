# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.statement import STATEMENT_FAULTS, statement_problems


def test_a_statement_promises_no_more_than_is_true() -> None:
    assert found_as_it_is(statement_problems) == []


@pytest.mark.parametrize("fault", STATEMENT_FAULTS, ids=lambda fault: fault.name)
def test_a_statement_that_promises_too_much_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(statement_problems)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault
from anonymaly.audit.system.locks import LOCK_FAULTS, lock_problems
from anonymaly.audit.system.setting import emptied


def test_the_second_writer_of_a_postgres_ledger_waits_for_the_first_and_both_are_charged_and_counted(
    postgres: str,
) -> None:
    assert list(lock_problems(postgres)) == []


@pytest.mark.parametrize("fault", LOCK_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_in_the_locks_is_rejected(fault: SystemFault, postgres: str) -> None:
    assert fault.is_rejected(lambda: lock_problems(emptied(postgres)))

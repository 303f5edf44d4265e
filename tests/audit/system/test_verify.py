# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.setting import emptied
from anonymaly.audit.system.verify import DATABASE_FAULTS, VERIFY_FAULTS, database_problems, verify_problems


def test_every_damage_to_a_ledger_in_a_file_and_to_stored_answers_is_seen() -> None:
    assert found_as_it_is(verify_problems) == []


def test_every_damage_to_a_ledger_in_a_database_is_seen(postgres: str) -> None:
    assert list(database_problems(postgres)) == []


@pytest.mark.parametrize("fault", VERIFY_FAULTS, ids=lambda fault: fault.name)
def test_a_check_that_does_not_see_a_damage_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(verify_problems)


@pytest.mark.parametrize("fault", DATABASE_FAULTS, ids=lambda fault: fault.name)
def test_a_check_that_does_not_see_a_damage_in_a_database_is_rejected(
    fault: SystemFault, postgres: str
) -> None:
    assert fault.is_rejected(lambda: database_problems(emptied(postgres)))

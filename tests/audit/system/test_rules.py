# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from anonymaly.audit.system.fault import SystemFault
from anonymaly.audit.system.rules import RULES_FAULTS, rules_problems


def test_a_rule_for_contexts_binds_whoever_asks() -> None:
    assert list(rules_problems()) == []


@pytest.mark.parametrize("fault", RULES_FAULTS, ids=lambda fault: fault.name)
def test_a_rule_that_does_not_bind_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(rules_problems)

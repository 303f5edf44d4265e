# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import random

import numpy as np
import pytest

from anonymaly.ask import reader, secret
from anonymaly.audit.system.entropy import ENTROPY_FAULTS, entropy_problems, scripted
from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.noise import Noise


def test_every_draw_takes_one_key_from_the_operating_system_and_depends_on_nothing_else() -> None:
    before = random.getstate(), np.random.get_state()[1].tolist()
    assert found_as_it_is(entropy_problems) == []
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before, "left as they were"


@pytest.mark.parametrize("fault", ENTROPY_FAULTS, ids=lambda fault: fault.name)
def test_another_source_of_noise_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(entropy_problems)


def test_a_fault_is_gone_when_its_block_ends() -> None:
    def now() -> tuple[object, ...]:
        return os.urandom, Noise.system, reader.Noise, secret.fresh_key

    before = now()
    for fault in ENTROPY_FAULTS:
        with fault.planted():
            assert now() != before, fault.name
    assert now() == before


def test_a_script_repeats_and_another_does_not() -> None:
    drawn = []
    for script in ("first", "first", "other"):
        with scripted(script) as asked:
            drawn.append([os.urandom(32), os.urandom(8)])
            assert asked == [32, 8]
    assert drawn[0] == drawn[1] != drawn[2]

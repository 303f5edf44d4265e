# SPDX-License-Identifier: Apache-2.0
"""Pools of both protocols with five sensors, and their parties as configuration files declare them."""

from __future__ import annotations

from pathlib import Path

from anonymaly.stream import CountingDeclaration, PooledDeclaration
from anonymaly.stream.programs.pool_config import LoadedPool, load_config
from anonymaly.stream.programs.register import CONFIG
from tests.stream.counting.pool import POOL as COUNTING
from tests.stream.protocol.pooled.pool import POOL as CORRECTION

ROOMS = [f"room-{number}" for number in range(5)]
START = 1767225600.0  # 2026-01-01
COUNTED = CountingDeclaration.read(
    COUNTING.to_dict() | {"windows": COUNTING.windows.to_dict() | {"least_sensors": 4}, "epsilon": "40"}
)
CORRECTED = PooledDeclaration.read(  # no window is late
    CORRECTION.to_dict() | {"windows": CORRECTION.windows.to_dict() | {"least_sensors": 4, "lateness": 10**9}}
)


def loaded(folder: Path, party: str) -> LoadedPool:
    found = load_config(folder / party / CONFIG)
    assert isinstance(found, LoadedPool)
    return found

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "ledger_kill.py"
KILLS = 60


@pytest.mark.slow
def test_after_kill_9_at_random_moments_every_answer_is_charged_and_none_is_given_twice(
    location: str,
) -> None:
    backend = ["--backend", "postgres", "--url", location] if "://" in location else ["--backend", "sqlite"]
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", BENCHMARK, "--kills", str(KILLS), "--json", *backend],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(finished.stdout)
    seen = {name: found.pop(name) for name in ("kills", "openings", "charges seen", "answers seen")}
    assert seen["kills"] == KILLS
    assert seen["answers seen"] > 0
    del found["backend"], found["seconds"]
    assert found == dict.fromkeys(found, 0), finished.stderr
    assert finished.returncode == 0

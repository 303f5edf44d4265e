# SPDX-License-Identifier: Apache-2.0
"""Answers of neighbouring tables, one of which takes much longer: their times tell nothing, but for slots."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "server_timing.py"
LIMIT = 1e-6


@pytest.mark.slow
def test_the_time_of_an_answer_hides_the_table_with_slots_and_shows_it_without() -> None:
    options = ["--only", "leak", "--pairs", "24", "--slot", "2", "--at-once", "6", "--json"]
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", BENCHMARK, *options], capture_output=True, text=True, check=False
    )
    assert finished.stdout, finished.stderr
    (found,) = json.loads(finished.stdout)["questions"]
    assert found["slots on"]["p"] > LIMIT, found
    assert found["slots off"]["p"] < LIMIT, found

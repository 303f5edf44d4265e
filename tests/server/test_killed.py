# SPDX-License-Identifier: Apache-2.0
"""64 clients on a budget for 10, through two web processes and two workers, some of which are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "server_kills.py"
BACKENDS = pytest.mark.parametrize("backend", ["sqlite", "postgres"])


def run(request: pytest.FixtureRequest, backend: str, kills: int, rounds: int) -> dict[str, Any]:
    url = ["--url", request.getfixturevalue("postgres")] if backend == "postgres" else []
    options = ["--kills", str(kills), "--rounds", str(rounds), "--backend", backend, *url, "--json"]
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", BENCHMARK, *options], capture_output=True, text=True, check=False
    )
    assert finished.stdout, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    assert found["wrong"] == dict.fromkeys(found["wrong"], 0), finished.stderr
    assert found["rounds in which exactly 10 were charged"] == found["rounds"], found
    assert found["exit codes"] == [0]
    return found


@pytest.mark.slow
@BACKENDS
def test_of_64_clients_on_a_budget_for_10_exactly_10_questions_are_answered(
    request: pytest.FixtureRequest, backend: str
) -> None:
    found = run(request, backend, kills=0, rounds=1)
    assert set(found["clients"]) == {"done", "refused"}
    assert found["rounds in which exactly 10 were answered"] == 1


@pytest.mark.slow
@BACKENDS
def test_after_kill_9_of_web_processes_and_workers_still_exactly_10_are_charged_and_every_job_ends(
    request: pytest.FixtureRequest, backend: str
) -> None:
    found = run(request, backend, kills=10, rounds=2)
    assert found["kills"] >= 10
    assert found["clients"]["done"] >= 1

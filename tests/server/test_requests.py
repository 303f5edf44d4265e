# SPDX-License-Identifier: Apache-2.0
"""Ten thousand requests made from the document, valid and not: no 5xx, no trace, all as the document says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "server_requests.py"
REQUESTS = 10_000


@pytest.mark.slow
def test_whatever_is_sent_is_answered_as_the_document_says() -> None:
    options = ["--requests", str(REQUESTS), "--json"]
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", BENCHMARK, *options], capture_output=True, text=True, check=False
    )
    assert finished.stdout, finished.stderr
    found = json.loads(finished.stdout)
    assert found["faults"] == []
    assert found["log"] == []
    assert found["requests"] >= REQUESTS
    assert not [status for status in found["statuses"] if int(status) >= 500]

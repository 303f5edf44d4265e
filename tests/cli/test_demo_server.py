# SPDX-License-Identifier: Apache-2.0
"""The console on built-in tables: it is there, and each of the keys that are printed opens it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import httpx
import pytest


@pytest.mark.slow
def test_the_demonstration_serves_the_console_with_a_key_for_each_role() -> None:
    command = [sys.executable, "-u", "-W", "ignore", "-m", "anonymaly", "demo", "--serve", "--port", "0"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    try:
        said = ""
        while said.count("anm_") < 3 and (line := running.stdout.readline()):
            said += line
        address = re.findall(r"http://\S+:\d+", said)[0]
        keys = dict(re.findall(r"\((owner|analyst|auditor)\)\s+(anm_\S+)", said))
        assert set(keys) == {"owner", "analyst", "auditor"}
        for role, key in keys.items():
            with httpx.Client(base_url=address, timeout=120) as client:
                assert client.post("/login", data={"key": key}).status_code == 303
                front = client.get("/").text
                assert role in front
                assert "census" in front
                assert "salaries" in front
    finally:
        running.send_signal(signal.SIGINT)
        _, problems = running.communicate(timeout=120)
    assert running.returncode == 0, problems

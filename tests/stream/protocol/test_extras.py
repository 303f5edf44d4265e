# SPDX-License-Identifier: Apache-2.0
"""Parties in one process need none of what the programs need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"aiomqtt", "paho", "cryptography", "amqtt"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
WINDOW = """
import anonymaly as am

celsius = am.stream.Column("celsius", range=am.Interval(10, 30), outer=am.Interval(-20, 80), step=0.1)
room = am.stream.Declaration(columns=[celsius], epsilon=5, window=4, layer=2.0, model="radius")
sensor = am.stream.Sensor("room-1", room, journal="s", ledger="l", budget=100)
owner = am.stream.Owner(["room-1"], "o")
servers = [am.stream.Detector({"room-1": room}, "d"), am.stream.Corrector({"room-1": room}, "c")]
am.stream.LocalTransport([sensor, *servers, owner]).carry(sensor.send([20.1, 20.3, 19.8, 74.0]))
print(len(list(owner.verdicts())))
"""
HELP = """
from anonymaly.cli.main import run
sys.argv = ["anonymaly", "stream", "--help"]
run()
"""
INIT = """
from anonymaly.cli.main import run
sys.argv = ["anonymaly", "stream", "init", "rooms"]
run()
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code],
        capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


def test_a_window_is_judged_without_mqtt_and_cryptography(tmp_path: Path) -> None:
    done = run(WINDOW, tmp_path)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


@pytest.mark.parametrize(("code", "exit_code", "said"), [
    (HELP, 0, "Find faulty readings"),
    (INIT, 2, "pip install 'anonymaly[stream]'"),
])  # fmt: skip
def test_a_command_that_needs_them_names_what_to_install(
    tmp_path: Path, code: str, exit_code: int, said: str
) -> None:
    done = run(code, tmp_path)
    assert done.returncode == exit_code
    assert said in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stderr

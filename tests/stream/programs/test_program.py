# SPDX-License-Identifier: Apache-2.0
"""The programs as their users run them: what they print, when they stop, what they refuse."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from anonymaly.cli.main import run as run_program
from anonymaly.stream.programs.processes import READINGS, Processes
from anonymaly.stream.programs.readings import read_lines

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["anonymaly", "stream", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(input))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run_program()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(end.value.code or 0), printed.out, printed.err)

    return run


def test_from_init_to_a_verdict_and_to_the_end_of_the_budget(run: Run, tmp_path: Path, port: int) -> None:
    """Sensor and owner as commands; the servers and the broker beside them."""
    made = run("init", "rooms", "--port", str(port), "--budget", "200", "--json")
    assert made.returncode == 0
    assert json.loads(made.stdout)["sensors"] == ["room-1"]
    again = run("init", "rooms", "--port", str(port))
    assert again.returncode == 2
    assert "--force" in again.stderr
    config = "rooms/sensor-room-1/config.yaml"
    with Processes(tmp_path / "rooms", []) as processes:
        processes.kill("owner")
        lines = (
            "celsius,time\n" + "".join(f"{20 + place / 10},8:{place}\n" for place in range(20)) + "odd,9:00\n"
        )
        sent = run("sensor", "--config", config, "--json", input=lines)
        assert sent.returncode == 0, sent.stderr
        assert "line 22 is no reading" in sent.stderr
        events = [json.loads(line) for line in sent.stdout.splitlines()]
        assert [event["event"] for event in events] == ["sent", "sent", "arrived"]
        assert events[-1] | {"unacknowledged": 0} == events[-1]
        assert (events[-1]["readings"], events[-1]["spent"], events[-1]["remaining"]) == (20, 100, 100)
        judged = run("owner", "--config", "rooms/owner/config.yaml", "--until", "2", "--json")
        assert judged.returncode == 0, judged.stderr
        verdicts = [json.loads(line) for line in judged.stdout.splitlines()]
        assert [item["number"] for item in verdicts] == [1, 2]
        # By their arrival: a busy machine may judge the short window first.
        assert {(item["window"], item["readings"]) for item in verdicts} == {(0, 16), (1, 4)}
        told = run("owner", "--config", "rooms/owner/config.yaml", "--after", "1", "--until", "2")
        assert len(told.stdout.splitlines()) == 1
        assert f"room-1, window {verdicts[1]['window']}: look at" in told.stdout
        # 20 readings of ε=5 are left; a file goes on behind what was sent.
        (tmp_path / READINGS).write_text("21\n" * 60)
        spent = run("sensor", "--config", config, "--input", READINGS)
        assert spent.returncode == 1
        assert "has stopped sending" in spent.stderr
        assert "36 readings sent, epsilon 180 spent, 20 left" in spent.stdout
        assert run("owner", "--config", "rooms/owner/config.yaml", "--until", "3").returncode == 0


def test_init_says_what_readings_lose_and_what_averages_out(run: Run) -> None:
    said = " ".join(run("init", "rooms", "--budget", "200").stdout.split())
    assert "A reading loses at most ε = 5, and 40 of one person ε = 200." in said
    assert "Sent 1,000 times it is known" in said
    assert "to the corrector, its distance from the centre within" in said


def test_a_party_takes_no_other_partys_file(run: Run) -> None:
    run("init", "rooms")
    refused = run("corrector", "--config", "rooms/detector/config.yaml")
    assert refused.returncode == 2
    assert "is the file of detector" in refused.stderr
    assert run("owner", "--config", "nowhere.yaml").returncode == 2


def test_both_shares_are_refused_with_exit_code_one(run: Run, tmp_path: Path) -> None:
    run("init", "rooms")
    stolen = (tmp_path / "rooms/corrector/private.key").read_bytes()
    (tmp_path / "rooms/detector/private.key").write_bytes(stolen)
    refused = run("detector", "--config", "rooms/detector/config.yaml", "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"] == "Refused"


def test_a_declaration_of_ones_own_reaches_every_party(run: Run, tmp_path: Path) -> None:
    columns = [
        {"name": name, "range": {"type": "interval", "low": 0, "high": 10},
         "outer": {"type": "interval", "low": -10, "high": 50}, "step": 0.5}
        for name in ("load", "volt")
    ]  # fmt: skip
    declared = {"columns": columns, "epsilon": "0.5", "window": 100, "layer": 1}
    (tmp_path / "stream.yaml").write_text(yaml.safe_dump(declared))
    made = run("init", "meters", "--declaration", "stream.yaml", "--sensor", "a", "--sensor", "b", "--json")
    assert json.loads(made.stdout)["budget"] == "10000"
    streams = [yaml.safe_load(path.read_text())["streams"] for path in tmp_path.glob("meters/*/config.yaml")]
    assert len(streams) == 5
    assert all(stream["window"] == 100 for declared in streams for stream in declared.values())
    (tmp_path / "stream.yaml").write_text("window: 100")
    assert run("init", "others", "--declaration", "stream.yaml").returncode == 2


@pytest.mark.slow
def test_the_demonstration_tells_of_every_window(run: Run) -> None:
    shown = run("demo", "--json")
    assert shown.returncode == 0, shown.stderr
    sensors = json.loads(shown.stdout)["sensors"]
    assert {name: (facts["windows"], facts["spent"]) for name, facts in sensors.items()} == {
        "room-1": (5, 960),
        "room-2": (5, 960),
    }


@pytest.mark.parametrize(
    ("lines", "columns", "readings"),
    [
        ([], ["a"], []),
        (["1,2", "3,4"], ["a", "b"], [(1, 2), (3, 4)]),
        (["b,x,a", "1,2,3"], ["a", "b"], [(3, 1)]),
        (["a", "nan", "inf", "", "x", "1e3", "-0.5,9"], ["a"], [(1000,), (-0.5,)]),
        (["1,2,3"], ["a"], [(1,)]),
    ],
)
def test_lines_become_readings_or_are_left_out(
    lines: list[str], columns: list[str], readings: list[tuple[float, ...]]
) -> None:
    assert list(read_lines(lines, columns)) == readings

# SPDX-License-Identifier: Apache-2.0
"""The programs as their users run them: what they print, when they stop, what they refuse."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from anonymaly.stream.programs.config import PartyConfig
from anonymaly.stream.programs.processes import READINGS, Processes
from anonymaly.stream.programs.readings import read_lines
from tests.stream.programs.conftest import Run

CORRECTION = ("--protocol", "correction")


def test_from_init_to_a_verdict_and_to_the_end_of_the_budget(run: Run, tmp_path: Path, port: int) -> None:
    """Sensor and owner as commands; the servers and the broker beside them."""
    made = run(
        "init", "rooms", *CORRECTION, "--port", str(port), "--budget", "200", "--mqtt", "3.1.1", "--json"
    )
    assert made.returncode == 0
    assert json.loads(made.stdout)["sensors"] == ["room-1"]
    again = run("init", "rooms", *CORRECTION, "--port", str(port))
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


def test_init_without_a_declaration_writes_a_pool_and_says_what_it_costs_and_needs(
    run: Run, tmp_path: Path
) -> None:
    said = " ".join(run("init", "rooms", "--sensors", "120").stdout.split())
    assert "one folder for each of 120 sensors, two counters and the owner" in said
    assert "ε = 0.5 in one window of 96, and nothing in others: ε = 0.5 a day and 182.5 a year" in said
    assert "enough for 100 counted windows: 100.0 days" in said
    assert "fewer than 100 sensors is neither counted nor judged, and about 63 readings must lie" in said
    config = yaml.safe_load((tmp_path / "rooms/sensor-unit-001/config.yaml").read_text())
    assert (config["pool"]["protocol"], config["broker"]["mqtt"]) == ("counting", "5")
    few = run("init", "few", "--sensor", "room-1")
    assert few.returncode == 2
    assert "a window needs at least 100" in few.stderr
    assert "--protocol correction" in " ".join(few.stderr.split())
    assert run("init", "few", "--sensor", "room-1", "--sensors", "100").returncode == 2
    # Of too few sensors nothing can be usual, whatever the declaration allows.
    declared = config["pool"] | {"windows": config["pool"]["windows"] | {"least_sensors": 20}}
    (tmp_path / "pool.yaml").write_text(yaml.safe_dump(declared))
    assert "nothing will be usual" in run("init", "small", "--declaration", "pool.yaml").stdout
    shown = run("init", "other", "--declaration", "pool.yaml", "--protocol", "correction", "--json")
    assert "the declaration names counting" in json.loads(shown.stdout)["problem"]


def test_init_says_what_readings_lose_and_what_averages_out(run: Run) -> None:
    said = " ".join(run("init", "rooms", *CORRECTION, "--budget", "200").stdout.split())
    assert "A reading loses at most ε = 5, and 40 of one person ε = 200." in said
    assert "Sent 1,000 times it is known" in said
    assert "to the corrector, its distance from the centre within" in said
    assert "the detector's guess which one was sent is right in at most 99.4 of 100 cases" in said
    assert "enough for 40 readings of a sensor: at one a minute, 0.0 days" in said


def test_init_writes_certificates_for_a_broker_elsewhere_and_says_who_keeps_the_authority(
    run: Run, tmp_path: Path
) -> None:
    assert "authority" in run("init", "far", "--host", "broker.example.org", "--port", "8883").stdout
    written = {str(path.relative_to(tmp_path / "far")) for path in (tmp_path / "far").rglob("*.crt")}
    assert {"authority/ca.crt", "broker/server.crt", "owner/client.crt", "counter-2/client.crt"} <= written
    assert "sensor-unit-100/client.crt" in written
    config = (tmp_path / "far/broker/mosquitto.conf").read_text()
    assert "listener 8883\n" in config
    assert "require_certificate true" in config
    assert not json.loads(run("init", "near", "--json").stdout)["tls"]
    assert "listener 1883 127.0.0.1\n" in (tmp_path / "near/broker/mosquitto.conf").read_text()
    for path in (tmp_path / "far").rglob("*"):
        assert path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_sensor_without_a_broker_spends_nothing_and_ends_when_it_is_told_to(
    run: Run, tmp_path: Path, port: int
) -> None:
    run("init", "rooms", *CORRECTION, "--port", str(port))
    config = "rooms/sensor-room-1/config.yaml"
    program = subprocess.Popen(
        [sys.executable, "-m", "anonymaly", "stream", "sensor", "--config", config],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert program.stdin is not None
    assert program.stderr is not None
    program.stdin.write("20\n" * 100)
    program.stdin.flush()
    assert any("waiting for the broker" in line for line in program.stderr)
    program.send_signal(signal.SIGTERM)
    program.communicate()
    assert program.returncode == 0
    shown = json.loads(run("budget", "--config", config, "--more", "1", "--reason", "x", "--json").stdout)
    assert (shown["spent"], shown["budget"]) == ("0", "8000")


def test_the_ledger_command_takes_a_sensors_file(run: Run, tmp_path: Path) -> None:
    run("init", "rooms", *CORRECTION, "--budget", "8000")
    with PartyConfig.load(tmp_path / "rooms/sensor-room-1/config.yaml").make_sensor() as sensor:
        sensor.send([20.0] * 10)
    config = "rooms/sensor-room-1/config.yaml"
    raised = run(config, "--raise-budget", "9000", "--verify", "--json", group="ledger")
    assert raised.returncode == 0, raised.stderr
    shown = json.loads(raised.stdout)
    assert shown["verification"]["ok"]
    assert "verified" in run(config, "--verify", group="ledger").stdout
    assert run(config, "--new-secret", group="ledger").returncode == 2
    assert "has no ledger" in run("rooms/owner/config.yaml", group="ledger").stderr
    with PartyConfig.load(tmp_path / "rooms/sensor-room-1/config.yaml").make_sensor() as sensor:
        assert (sensor.spent, sensor.remaining) == (50, 8950)


def test_a_party_takes_no_other_partys_file(run: Run) -> None:
    run("init", "rooms", *CORRECTION)
    refused = run("corrector", "--config", "rooms/detector/config.yaml")
    assert refused.returncode == 2
    assert "is the file of detector" in refused.stderr
    assert run("owner", "--config", "nowhere.yaml").returncode == 2


def test_both_shares_are_refused_with_exit_code_one(run: Run, tmp_path: Path) -> None:
    run("init", "rooms", *CORRECTION)
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
def test_the_demonstration_finds_the_planted_faults_and_tells_of_every_window(run: Run) -> None:
    shown = run("demo", "--json")
    assert shown.returncode == 0, shown.stderr
    told = json.loads(shown.stdout)
    assert (told["windows"], told["readings"], told["epsilon"]["spent_by_a_sensor"]) == (6, 360, 1)
    # The noise hides them once in about 5,000 runs.
    assert (told["judged"], told["recall"]) == (6, 1.0)


@pytest.mark.slow
def test_the_demonstration_of_correction_tells_of_every_window(run: Run) -> None:
    shown = run("demo", "--protocol", "correction", "--json")
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
    assert [reading.values for reading in read_lines(lines, columns)] == readings

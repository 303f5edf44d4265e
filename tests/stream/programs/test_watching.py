# SPDX-License-Identifier: Apache-2.0
"""What an owner sees of a stream, and whom a fault is told to."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymaly.core.stream_status import LARGEST, SensorStatus, StreamStatus
from anonymaly.errors import InputError
from anonymaly.stream import CountingDeclaration, Owner, PoolOwner, StreamDeclaration
from anonymaly.stream.counting.messages import VerdictShares, WindowState
from anonymaly.stream.counting.prime_field import PRIME
from anonymaly.stream.programs import hooks as hooks_module
from anonymaly.stream.programs.hooks import Hooks, Telling
from anonymaly.stream.programs.pool_config import LoadedPool, load_config
from anonymaly.stream.programs.pool_program import describe_judgement
from anonymaly.stream.programs.pool_setup import set_up_pool
from anonymaly.stream.programs.processes import reserved_port
from anonymaly.stream.programs.setup import example_declaration, set_up
from anonymaly.stream.programs.watch_metrics import metrics_of, serve_metrics
from anonymaly.stream.programs.watching import MOST_LISTED, MOST_RECENT, WatchedSensors
from anonymaly.stream.programs.watching_pool import WatchedPool
from anonymaly.stream.protocol.messages import Verdict
from tests.stream.counting.pool import NAMES, POOL
from tests.stream.programs.by_mqtt import HUNG, load
from tests.stream.programs.conftest import Run
from tests.stream.protocol.parties import ROOM

PROGRAM = """#!/bin/sh
cat >> {folder}/told
echo >> {folder}/told
test ! -e {folder}/broken
"""


def verdict(window: int, found: int = 0, **other: Any) -> dict[str, Any]:
    return {
        "event": "verdict", "number": window + 1, "sensor": "room-1", "window": window, "complete": True,
        "readings": 10, "found": found, "look_at": list(range(found)), **other,
    }  # fmt: skip


def sensors_of(status: StreamStatus) -> dict[str, SensorStatus]:
    return {sensor.name: sensor for sensor in status.listed}


def test_windows_readings_and_what_they_cost_are_summed_up() -> None:
    watched = WatchedSensors({"room-1": ROOM, "room-2": ROOM, "retired": ROOM}, ["retired"])
    watched.take(verdict(0), None)
    for window, now in ((1, 10.0), (2, 20.0), (3, 30.0)):
        watched.take(verdict(window, found=2), now)
    watched.take(verdict(4, readings=0, complete=False), 40.0)
    watched.take({"event": "alarm", "sensor": "room-2", "window": 0}, 41.0)
    watched.take(verdict(9, found=1, sensor="retired"), None)
    shown = sensors_of(watched.status(45.0))
    assert shown["room-1"].to_dict() == {
        "name": "room-1", "windows": 5, "newest": 4, "given_up": 1, "readings": 40, "to_look_at": 6,
        "epsilon_judged": "80", "alarms": 0, "lies": 0, "missed": 0, "waits": 5, "late": False,
    }  # fmt: skip
    assert (shown["room-2"].alarms, shown["room-2"].waits) == (1, None)
    late = watched.status(71.0)
    assert sensors_of(late)["room-1"].late, "three times as long as they took"
    assert (late.late, late.late_sensors, late.faulty_sensors) == (True, 1, 1)
    assert late.states == {"judged": 5, "given up by the owner": 1}
    text = metrics_of(watched, 71.0)
    assert 'anonymaly_stream_to_look_at_total{sensor="room-1"} 6\n' in text
    assert 'anonymaly_stream_late{sensor="room-1"} 1\n' in text
    assert 'anonymaly_stream_epsilon_judged{sensor="room-1"} 80\n' in text
    assert 'anonymaly_stream_given_up_total{sensor="room-1"} 1\n' in text
    assert "retired" not in text


def test_readings_cost_what_was_declared_of_their_window() -> None:
    loud = StreamDeclaration.read(ROOM.to_dict() | {"epsilon": "5"})
    watched = WatchedSensors({"room-1": ROOM}, earlier={"room-1": [(2, loud)]})
    for window in range(3):
        watched.take(verdict(window), None)
    assert ROOM.epsilon == "2"
    assert watched.spent("room-1") == "120", "20 readings at 5 and 10 at 2"


PERIODIC = CountingDeclaration.read(POOL.to_dict() | {"period": 4, "epsilon": "0.5"})


def judged(window: int, missing: tuple[str, ...] = (), **other: Any) -> dict[str, Any]:
    return {
        "event": "verdict", "number": window + 1, "window": window, "state": "judged",
        "faults": [], "lies": [], "missing": list(missing),
        "contributed": len(NAMES) - len(missing), "known": len(NAMES), **other,
    }  # fmt: skip


def test_a_pool_is_summed_up_by_its_sensors_and_its_windows() -> None:
    watched = WatchedPool(PERIODIC, NAMES)
    watched.take(judged(0, faults=["room-03"]), None)
    watched.take(judged(1, ("room-05",), faults=["room-03", "room-04"]), 10.0)
    watched.take(judged(2, state="too few sensors", contributed=0), 20.0)
    watched.take(judged(4, ("room-05",), lies=["room-06"]), 30.0)
    watched.take({"event": "alarm", "sensor": "room-07", "window": 0}, 30.0)
    status = watched.status(33.0)
    shown = sensors_of(status)
    assert (shown["room-03"].to_look_at, shown["room-03"].readings) == (2, 3)
    assert (shown["room-05"].missed, shown["room-05"].readings, shown["room-05"].newest) == (2, 1, 0)
    assert (shown["room-05"].epsilon_judged, shown["room-04"].epsilon_judged) == ("0.5", "1")
    assert [sensor.name for sensor in status.listed[:5]] == [
        "room-07", "room-06", "room-05", "room-03", "room-04",
    ], "alarms first, then lies, then who is missing, then faults"  # fmt: skip
    assert (status.name, status.least_sensors, status.counted, status.epsilon) == ("pool", 20, 2, "0.5")
    assert (status.absent_sensors, status.faulty_sensors, status.to_look_at, status.lies) == (1, 2, 3, 1)
    assert status.states == {"judged": 3, "too few sensors": 1}
    assert (status.waits, status.epsilon_judged) == (3, "1")
    first, *_, unjudged, last = status.recent
    assert (first.begins, first.named, first.missing) == ("2026-01-01T00:00:00+00:00", ("room-03",), 0)
    assert (unjudged.readings, unjudged.missing) == (None, None), "who contributed, the owner is not told"
    assert (last.counted, last.lies, last.missing) == (True, ("room-06",), 1)


def test_a_sensor_of_a_pool_is_late_by_its_own_pace() -> None:
    watched = WatchedPool(PERIODIC, NAMES)
    for window in range(24):
        silent = [name for name, there in {
            "room-01": window < 20, "room-02": window % 4 == 0, "room-03": False, "room-04": window < 21,
        }.items() if not there]  # fmt: skip
        watched.take(judged(window, tuple(silent)), None)
    late = {
        name: watched.is_late(name, 0.0) for name in ("room-00", "room-01", "room-02", "room-03", "room-04")
    }
    assert late == {
        "room-00": False, "room-01": True, "room-02": False, "room-03": True, "room-04": False,
    }, "room-02 is there every fourth time, and room-04 missed three windows only"  # fmt: skip
    watched.take(judged(24, ("room-03",)), None)
    assert not watched.is_late("room-01", 0.0)
    assert 'anonymaly_stream_missed{sensor="room-03"} 25\n' in metrics_of(watched, 0.0)


def test_after_a_burst_of_verdicts_the_next_window_of_a_pool_is_not_late() -> None:
    watched = WatchedPool(PERIODIC, NAMES)
    for window in range(5):
        watched.take(judged(window), window / 10)
    assert not watched.status(60.0).late, "windows last a minute"
    assert watched.status(190.0).late
    assert "anonymaly_stream_verdicts_late 1\n" in metrics_of(watched, 190.0)


def test_a_sensor_is_missing_from_no_window_before_it_joined_or_after_it_retired() -> None:
    watched = WatchedPool(PERIODIC, NAMES, retired=["room-00"])
    watched.take(judged(0, known=len(NAMES) - 1), None)
    watched.take(judged(1, (NAMES[-1],)), None)
    assert "room-00" not in watched.sensors
    assert (watched.sensors[NAMES[-1]].windows, watched.sensors[NAMES[-1]].missed) == (0, 1)
    assert watched.sensors[NAMES[-2]].windows == 2


def test_a_status_of_any_pool_stays_small(tmp_path: Path) -> None:
    names = [f"sensor-with-a-rather-long-name-{number:05}" for number in range(5000)]
    watched = WatchedPool(PERIODIC, names)
    for window in range(MOST_RECENT + 10):
        watched.take(judged(window, known=5000, faults=names[::2], lies=names[1::2], contributed=5000), None)
    status = watched.status(0.0)
    assert (len(status.listed), len(status.recent)) == (MOST_LISTED, MOST_RECENT)
    status.write(tmp_path / "status.json")
    assert (tmp_path / "status.json").stat().st_size < LARGEST / 4


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    with Owner(["room-1"], tmp_path / "owner.journal") as owner:
        yield owner


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "tell"
    path.write_text(PROGRAM.format(folder=tmp_path))
    path.chmod(0o700)
    return path


def told(folder: Path) -> list[int]:
    text = (folder / "told").read_text() if (folder / "told").exists() else ""
    return [json.loads(line)["number"] for line in text.splitlines() if line]


def tell(telling: Telling, events: list[dict[str, Any]], until: str) -> None:
    async def run() -> None:
        for event in events:
            telling.take(event)
        task = asyncio.create_task(telling.run())
        async with asyncio.timeout(HUNG):
            while telling._journal.read_note("told verdict") != until:
                await asyncio.sleep(0)
        task.cancel()

    asyncio.run(run())


def test_a_fault_is_told_once_and_what_was_before_the_hook_not_at_all(
    tmp_path: Path, owner: Owner, program: Path
) -> None:
    telling = Telling(Hooks(program), owner.journal, {"verdict": 2, "alarm": 0})
    events = [verdict(0, 1), verdict(1, 1), verdict(2, 1), verdict(3), verdict(4, complete=False)]
    tell(telling, events, until="5")
    assert told(tmp_path) == [3, 5], "1 and 2 were before, and 4 is no fault"
    again = Telling(Hooks(program), owner.journal, {"verdict": 5, "alarm": 0})
    tell(again, [*events, verdict(5, 1)], until="6")
    assert told(tmp_path) == [3, 5, 6]


def test_of_a_pool_faults_lies_and_windows_without_a_verdict_are_told(
    tmp_path: Path, owner: Owner, program: Path
) -> None:
    events = [
        judged(0), judged(1, faults=["room-01"]), judged(2, lies=["room-01"]), judged(3, ("room-01",)),
        judged(4, state="too few sensors", contributed=0),
    ]  # fmt: skip
    tell(Telling(Hooks(program), owner.journal, {"verdict": 0}), events, until="5")
    assert told(tmp_path) == [2, 3, 5]


def test_what_could_not_be_told_is_tried_again_a_few_times(
    tmp_path: Path, owner: Owner, program: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(hooks_module, "PAUSE", 0.0)
    (tmp_path / "broken").touch()
    tell(Telling(Hooks(program), owner.journal, {"verdict": 0}), [verdict(0, 1)], until="1")
    assert told(tmp_path) == [1, 1, 1]
    assert "try 3 of 3 to tell of a fault failed (CalledProcessError)" in caplog.text


class Posts(BaseHTTPRequestHandler):
    """Keeps what it gets, and sends whoever asks for /elsewhere there."""

    got: list[tuple[str, Any]]

    def do_POST(self) -> None:
        self.got.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        if self.path == "/garbage":
            self.wfile.write(b"garbage\r\n\r\n")
            return
        self.send_response(302 if self.path == "/elsewhere" else 204)
        self.send_header("Location", "/here")
        self.end_headers()

    def do_GET(self) -> None:
        self.got.append((self.path, None))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def posts() -> Iterator[HTTPServer]:
    Posts.got = []
    server = HTTPServer(("127.0.0.1", 0), Posts)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_fault_is_posted(owner: Owner, posts: HTTPServer) -> None:
    hooks = Hooks(address=f"http://127.0.0.1:{posts.server_port}/faults")
    hooks.check()
    tell(Telling(hooks, owner.journal, {"verdict": 0}), [verdict(0, 3)], until="1")
    assert [event["look_at"] for _, event in Posts.got] == [[0, 1, 2]]


def test_what_is_for_this_machine_goes_through_no_proxy(
    owner: Owner, posts: HTTPServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks_module, "PAUSE", 0.0)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{posts.server_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    with reserved_port() as port:  # where nobody listens
        hooks = Hooks(address=f"http://127.0.0.1:{port}/faults")
        hooks.check()
        tell(Telling(hooks, owner.journal, {"verdict": 0}), [verdict(0, 3)], until="1")
    assert Posts.got == []
    assert "to tell of a fault failed (URLError)" in caplog.text


@pytest.mark.parametrize("path", ["/elsewhere", "/garbage"])
def test_an_address_that_sends_elsewhere_or_says_what_is_no_answer_was_not_told(
    owner: Owner, posts: HTTPServer, path: str, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(hooks_module, "PAUSE", 0.0)
    hooks = Hooks(address=f"http://127.0.0.1:{posts.server_port}{path}")
    tell(Telling(hooks, owner.journal, {"verdict": 0}), [verdict(0, 1)], until="1")
    assert [where for where, _ in Posts.got] == [path] * 3
    assert "try 3 of 3 to tell of a fault failed" in caplog.text


@pytest.mark.parametrize(
    ("hooks", "words"),
    [
        (Hooks(Path("nowhere")), "is no file"),
        (Hooks(address="file:///etc/passwd"), "is no address"),
        (Hooks(address="https://"), "is no address"),
        (Hooks(address="https://[::1/x"), "is no address"),
        (Hooks(address="https://hooks.example:x/"), "is no address"),
        (Hooks(address="https://hooks..example/"), "is no address"),
        (Hooks(address="https://hooks.example/a b"), "is no address"),
        (Hooks(address="https://hooks.example/\u00e9"), "is no address"),
        (Hooks(address="https://me:secret@hooks.example/"), "give no user or password"),
        (Hooks(address="http://127.0.0.1@hooks.example/"), "is no address"),
        (Hooks(address="http://hooks.example/x"), "tell hooks.example which sensors are faults"),
    ],
)
def test_a_hook_that_cannot_work_or_tells_others_is_refused(hooks: Hooks, words: str) -> None:
    with pytest.raises(InputError, match=words):
        hooks.check()


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.example",
        "HTTPS://b\u00fccher.example:8443/x?y=%20#z",
        "http://[::1]:80/",
        "http://LOCALHOST/",
    ],
)
def test_addresses_that_something_can_be_posted_to_are_taken(address: str) -> None:
    Hooks(address=address).check()


def test_metrics_are_served_to_this_machine() -> None:
    async def fetch() -> bytes:
        watched = WatchedSensors({"room-1": ROOM})
        with reserved_port() as port:
            task = asyncio.create_task(serve_metrics(watched, port))
            async with asyncio.timeout(HUNG):
                while True:
                    try:
                        reader, writer = await asyncio.open_connection("127.0.0.1", port)
                        break
                    except ConnectionRefusedError:
                        await asyncio.sleep(0)
                writer.write(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
                answer = await reader.read()
                writer.close()
            task.cancel()
        return answer

    answer = asyncio.run(fetch())
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b'anonymaly_stream_windows_total{sensor="room-1"} 0\n' in answer


def test_the_watch_command_shows_what_the_owner_knows(run: Run, tmp_path: Path, port: int) -> None:
    set_up(tmp_path / "rooms", ["room-1"], example_declaration(), budget=100, port=port)
    found = np.array([True, False])
    with load(tmp_path / "rooms", "owner").make_owner() as owner:
        owner.handle(Verdict("room-1", 0, found, ~found & found, ~found & found, ~found & found))
    config = "rooms/owner/config.yaml"
    shown = run("watch", "--config", config, "--until", "1")
    assert shown.returncode == 0, shown.stderr
    assert ["room-1", "1", "0", "1", "of", "2", "0", "10", "0"] in [
        line.split() for line in shown.stdout.splitlines()
    ]
    (line,) = run("watch", "--config", config, "--until", "1", "--json").stdout.splitlines()
    assert json.loads(line)["look_at"] == [0]
    assert run("watch", "--config", config, "--on-fault", "nowhere").returncode == 2


@pytest.fixture
def pool(tmp_path: Path, port: int) -> Path:
    """A pool whose owner has two verdicts: a fault, and a window of too few sensors."""
    set_up_pool(tmp_path / "pool", NAMES, PERIODIC, budget=100, port=port)
    with owner_of(tmp_path / "pool") as owner:
        members = np.arange(len(NAMES)) != 5
        bits = np.where(np.arange(members.sum()) == 3, 1, 0)
        take_shares(owner, 0, WindowState.JUDGED, members, bits)
        take_shares(owner, 1, WindowState.TOO_FEW, ~members & members, bits[:0])
    return tmp_path / "pool"


def owner_of(folder: Path) -> PoolOwner:
    loaded = load_config(folder / "owner" / "config.yaml")
    assert isinstance(loaded, LoadedPool)
    owner = loaded.make_owner_of_pool()
    assert isinstance(owner, PoolOwner)
    return owner


def take_shares(owner: PoolOwner, window: int, state: WindowState, members: Any, bits: Any) -> None:
    """Hand an owner what both counters say of a window."""
    first = np.arange(len(bits)) * 7919
    for part, values in enumerate((first, (bits - first) % PRIME)):
        owner.handle(VerdictShares("pool", window, part, state, bytes(32), bytes(32), members, values))


def test_a_verdict_names_who_was_missing_but_only_if_it_was_judged(pool: Path) -> None:
    with owner_of(pool) as owner:
        first, second = map(describe_judgement, owner.verdicts())
    assert (first["missing"], first["faults"], first["known"]) == (["room-05"], ["room-03"], len(NAMES))
    assert (second["state"], second["missing"]) == ("too few sensors", [])


def test_the_watch_command_shows_a_pool_and_keeps_its_status(run: Run, tmp_path: Path, pool: Path) -> None:
    config = str(pool / "owner" / "config.yaml")
    shown = run("watch", "--config", config, "--until", "2", "--status", "status.json")
    assert shown.returncode == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["0", "(counted)", "judged", "23", "1", "room-03"] in lines
    assert ["room-03", "1", "0", "1", "of", "1", "0", "0.5", "0", "0"] in lines
    assert ["room-05", "0", "0", "of", "0", "1", "0", "0", "0"] in lines
    kept = StreamStatus.load(tmp_path / "status.json")
    assert (kept.runs, kept.connected, kept.windows, kept.absent_sensors) == (False, False, 2, 1)
    first, _ = run("watch", "--config", config, "--until", "2", "--json").stdout.splitlines()
    assert json.loads(first)["faults"] == ["room-03"]
    refused = run("watch", "--config", config, "--status", "nowhere/status.json")
    assert (refused.returncode, "there is no folder" in refused.stderr) == (2, True)

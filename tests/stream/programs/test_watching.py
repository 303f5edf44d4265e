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

from anonymaly.cli import stream_watch
from anonymaly.errors import InputError
from anonymaly.stream import Owner
from anonymaly.stream.programs import hooks as hooks_module
from anonymaly.stream.programs.hooks import Hooks, Telling
from anonymaly.stream.programs.processes import reserved_port
from anonymaly.stream.programs.setup import example_declaration, set_up
from anonymaly.stream.programs.watching import Watched
from anonymaly.stream.protocol.messages import Verdict
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


def test_windows_readings_and_what_they_cost_are_summed_up() -> None:
    watched = Watched({"room-1": ROOM, "room-2": ROOM})
    watched.take(verdict(0), None)
    for window, now in ((1, 10.0), (2, 20.0), (3, 30.0)):
        watched.take(verdict(window, found=2), now)
    watched.take(verdict(4, readings=0, complete=False), 40.0)
    watched.take({"event": "alarm", "sensor": "room-2"}, 41.0)
    shown = watched.to_dict(45.0)["sensors"]
    assert shown["room-1"] == {
        "windows": 5, "newest": 4, "given_up": 1, "readings": 40, "to_look_at": 6, "epsilon_judged": "80",
        "alarms": 0, "seconds_since_verdict": 5.0, "late": False,
    }  # fmt: skip
    assert (shown["room-2"]["alarms"], shown["room-2"]["seconds_since_verdict"]) == (1, None)
    assert watched.to_dict(71.0)["sensors"]["room-1"]["late"], "three times as long as they took"
    text = watched.metrics(71.0)
    assert 'anonymaly_stream_to_look_at_total{sensor="room-1"} 6\n' in text
    assert 'anonymaly_stream_late{sensor="room-1"} 1\n' in text
    assert 'anonymaly_stream_epsilon_judged{sensor="room-1"} 80\n' in text


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


def test_what_could_not_be_told_is_tried_again_a_few_times(
    tmp_path: Path, owner: Owner, program: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(hooks_module, "PAUSE", 0.0)
    (tmp_path / "broken").touch()
    tell(Telling(Hooks(program), owner.journal, {"verdict": 0}), [verdict(0, 1)], until="1")
    assert told(tmp_path) == [1, 1, 1]
    assert "try 3 of 3 to tell of a fault failed (CalledProcessError)" in caplog.text


def test_a_fault_is_posted(owner: Owner) -> None:
    posted: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        hooks = Hooks(address=f"http://127.0.0.1:{server.server_port}/faults")
        hooks.check()
        tell(Telling(hooks, owner.journal, {"verdict": 0}), [verdict(0, 3)], until="1")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert [event["look_at"] for event in posted] == [[0, 1, 2]]


@pytest.mark.parametrize("hooks", [Hooks(Path("nowhere")), Hooks(address="file:///etc/passwd")])
def test_a_hook_that_can_never_work_is_refused(hooks: Hooks) -> None:
    with pytest.raises(InputError, match="is no"):
        hooks.check()


def test_metrics_are_served_to_this_machine() -> None:
    async def fetch() -> bytes:
        watched = Watched({"room-1": ROOM})
        with reserved_port() as port:
            task = asyncio.create_task(stream_watch._serve(watched, port))
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

# SPDX-License-Identifier: Apache-2.0
"""The supervisor: what it makes before anything starts, and that what dies is started anew."""

from __future__ import annotations

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from anonymaly.errors import InputError
from anonymaly.server.keys import ApiKey
from anonymaly.server.run import Only, Supervisor, close_pipe, tell
from anonymaly.server.served_folder import make_private
from anonymaly.server.settings import ServerSettings
from anonymaly.server.state import State
from tests.server.places import PATIENCE, Place

KEY = re.compile(r"anm_[0-9a-f]{16}_[A-Za-z0-9_-]{43}")


def prepare(folder: Path, only: Only | None = "workers", *, anew: bool = False) -> list[str]:
    said: list[str] = []
    supervisor = Supervisor(folder, ServerSettings.load(folder, {"port": 0}), only)
    supervisor.prepare(said.append, new_owner_key=anew)
    supervisor.close()
    return said


def owners(folder: Path) -> list[str]:
    state = State.open(folder / "server.db")
    with state.read() as connection:
        found = (
            connection.execute(sa.text("SELECT hash FROM server_keys WHERE role = 'owner'")).scalars().all()
        )
    state.close()
    return list(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = Place.make(tmp_path / "served", None)
    place.state.close()
    (place.folder / "server.db").unlink()
    return place.folder


def test_the_first_start_leaves_an_owners_key_in_a_private_file_and_says_only_where(folder: Path) -> None:
    (said,) = prepare(folder)
    file = folder / "first-owner-key"
    key = ApiKey.read(file.read_text().strip())
    assert key is not None
    assert owners(folder) == [key.hash]
    assert file.stat().st_mode & 0o777 == 0o600
    assert not KEY.search(said)
    assert str(file) in said
    file.unlink()
    assert prepare(folder) == []
    assert not file.exists()
    assert owners(folder) == [key.hash]


def test_an_owner_who_lost_the_key_makes_another_by_starting_the_server(folder: Path) -> None:
    prepare(folder)
    prepare(folder, anew=True)
    key = ApiKey.read((folder / "first-owner-key").read_text().strip())
    assert key is not None
    assert owners(folder)[1:] == [key.hash] or owners(folder)[:1] == [key.hash]
    assert len(owners(folder)) == 2


def test_what_a_server_makes_is_its_owners_alone(folder: Path) -> None:
    prepare(folder)
    (folder / "server.db").chmod(0o644)
    prepare(folder)
    assert (folder / "server.db").stat().st_mode & 0o777 == 0o600
    assert (folder / "outbox").stat().st_mode & 0o777 == 0o700
    (folder / "outbox").chmod(0o755)
    with pytest.raises(InputError, match="everybody on this machine"):
        prepare(folder)


def test_a_folder_that_is_made_for_a_group_may_stay_so(tmp_path: Path) -> None:
    (tmp_path / "outbox").mkdir(mode=0o750)
    make_private(tmp_path / "outbox")


def test_web_processes_alone_read_no_table_and_need_a_server_that_began(folder: Path) -> None:
    with pytest.raises(InputError, match="Start a worker first"):
        prepare(folder, "web")
    prepare(folder)
    (folder / "patients.yaml").write_text("this: is no table")
    assert prepare(folder, "web") == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"state": "no folder/server.db"}, "folder"),
        ({"state": "mysql://me:geheim@db.example/clinic"}, "state"),
        ({"outbox": "patients.csv"}, "folder"),
        ({"host": "a..b"}, "host"),
        ({"tls_cert": "patients.csv", "tls_key": "patients.csv"}, "tls_cert"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_starts(
    folder: Path, options: dict[str, str], field: str
) -> None:
    before = {path.name for path in folder.iterdir()}
    with pytest.raises(InputError) as caught:
        Supervisor(folder, ServerSettings.load(folder, {"port": 0, **options})).prepare(lambda _: None)
    assert {path.name for path in folder.iterdir()} == before
    assert (caught.value.field, bool(caught.value.next_step)) == (field, True)
    assert "geheim" not in str(caught.value)


def test_a_port_that_is_taken_is_said_before_anything_starts(folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = ServerSettings.load(folder, {"port": taken.getsockname()[1]})
        with pytest.raises(InputError, match="cannot listen"):
            Supervisor(folder, settings).prepare(lambda _: None)
    assert {path.name for path in folder.iterdir()} == before


def test_a_start_that_fails_leaves_what_was_there_before(folder: Path) -> None:
    prepare(folder)
    files = sorted(path.name for path in folder.iterdir())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = ServerSettings.load(folder, {"port": taken.getsockname()[1]})
        with pytest.raises(InputError, match="cannot listen"):
            Supervisor(folder, settings).prepare(lambda _: None)
    assert sorted(path.name for path in folder.iterdir()) == files
    assert len(owners(folder)) == 1


def test_a_folder_is_served_by_one_at_a_time_unless_they_share_a_database(
    folder: Path, postgres: str
) -> None:
    def begin(only: Only | None, **options: str) -> Supervisor:
        supervisor = Supervisor(folder, ServerSettings.load(folder, {"port": 0, **options}), only)
        supervisor.prepare(lambda _: None)
        return supervisor

    first = begin(None)
    for only in (None, "workers"):
        with pytest.raises(InputError, match="another anonymaly serve has"):
            begin(only)
    begin("web").close()  # it has no workers, and a socket of its own
    begin(None, state=postgres).close()
    refused = run(folder, "--port", "0")
    assert (refused.returncode, "Stop that one first" in refused.stderr) == (2, True)
    first.close()
    begin(None).close()


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "anonymaly", "serve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_refuses_to_be_reached_from_elsewhere_without_tls(folder: Path) -> None:
    ended = run(folder, "--host", "0.0.0.0")  # noqa: S104
    assert ended.returncode == 2
    assert "--tls-cert" in ended.stderr
    assert not (folder / "server.db").exists()


def test_the_command_prints_what_the_role_of_a_web_process_needs(folder: Path) -> None:
    ended = run(folder, "--print-grants", "web_process")
    assert ended.returncode == 0
    assert "GRANT INSERT (id, kind, " in ended.stdout
    assert "GRANT SELECT ON ledger_head, " in ended.stdout
    assert "server_proofs" not in ended.stdout
    assert run(folder, "--print-grants", "x; DROP TABLE y").returncode == 2


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server on a terminal, whose other end is the second value."""
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "anonymaly",
        "serve",
        str(folder),
        "--port",
        "0",
        *options,
    ]
    process = subprocess.Popen(command, stdout=theirs, stderr=(folder / "log").open("wb"))
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def children(process: subprocess.Popen[bytes]) -> list[int]:
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(number) for task in tasks for number in task.read_text().split()]


def alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def patiently(found: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < until
        time.sleep(0.05)


def shown(terminal: int, wanted: str) -> str:
    """Read a terminal until it shows something; return what is wanted of it."""
    text = ""
    while (found := re.search(wanted, text)) is None:
        text += os.read(terminal, 4096).decode()
    return found[1]


@pytest.mark.slow
def test_on_a_terminal_the_key_is_shown_once_what_dies_is_started_anew_and_sigterm_ends_all(
    folder: Path,
) -> None:
    with serving(folder, "--only", "workers") as (process, terminal):
        key = ApiKey.read(shown(terminal, rf"({KEY.pattern})\r"))
        assert key is not None
        assert not (folder / "first-owner-key").exists()
        place = Place(folder, str(folder / "server.db"), str(folder / "patients.ledger"))
        place.state = State.open(place.state_at)
        place.keys["owner"] = key
        patiently(lambda: len(children(process)) == 1)
        (first,) = children(process)
        os.kill(first, signal.SIGKILL)
        patiently(lambda: bool(children(process)) and first not in children(process))
        assert place.ended(place.ask("owner"))[0].state == "done"
        (second,) = children(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert not alive(second)
        place.state.close()
    log = (folder / "log").read_text()
    assert key.text not in log
    assert key.text[-43:] not in log


def test_a_process_that_died_before_it_was_told_anything_is_no_error_of_its_keeper() -> None:
    process = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    process.wait()
    tell(process, b"settings\n")
    close_pipe(process)
    assert process.stdin is not None
    assert process.stdin.closed


@pytest.mark.slow
def test_when_the_supervisor_is_killed_its_workers_end(folder: Path) -> None:
    with serving(folder, "--only", "workers", "--workers", "2") as (process, _):
        patiently(lambda: len(children(process)) == 2)
        both = children(process)
        process.kill()
        process.wait()
        patiently(lambda: not any(map(alive, both)))


@pytest.mark.slow
def test_two_web_processes_share_one_socket_and_one_that_dies_is_replaced(folder: Path) -> None:
    with serving(folder, "--web", "2") as (process, terminal):
        address = shown(terminal, r"(http://[0-9.]+:[0-9]+)\r")
        for _ in range(2):
            with urllib.request.urlopen(f"{address}/v1") as answered:  # noqa: S310
                assert answered.status == 200
            for number in children(process):
                os.kill(number, signal.SIGKILL)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0

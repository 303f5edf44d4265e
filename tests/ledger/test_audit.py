# SPDX-License-Identifier: Apache-2.0
"""An auditor verifies what they may only read, and leaves no trace in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from anonymaly.errors import LedgerBehindAnchor, LedgerDamaged, LedgerError, LedgerMissing
from anonymaly.ledger import Account, Ledger
from tests.ledger.intruder import raw_engine

NANO = 10**9
WHY = {"by": "owner", "reason": "a study"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can reach: all but root are kept out of tmp_path's ancestors."""
    made = Path(tempfile.mkdtemp(prefix="anonymaly"))
    made.chmod(0o755)
    yield made
    made.chmod(0o700)
    shutil.rmtree(made)


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Be nobody for a while, if we are root: permissions do not bind root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def write(path: Path, questions: int = 3) -> None:
    with Ledger.open(path) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
        for number in range(questions):
            ledger.reserve("patients", analyst="owner", key=f"q{number}", cost=1, record={})


def seal(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Take away every permission to write, and return all there is."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    return state(folder)


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_copy_that_cannot_be_written_verifies_and_stays_as_it_is(folder: Path) -> None:
    path = folder / "data.ledger"
    write(path)
    before = seal(folder)
    with as_somebody_else(), Ledger.audit(path) as ledger:
        found = ledger.verify()
        assert (found.ok, found.entries, found.spent) == (True, 4, {"patients": 3})
        assert ledger.account("patients").remaining == NANO - 3
        assert len(ledger.entries()) == 4
    assert state(folder) == before


def test_a_copy_with_its_journal_verifies_what_the_journal_holds(folder: Path, tmp_path: Path) -> None:
    path = folder / "data.ledger"
    with Ledger.open(tmp_path / "live.ledger") as live:
        live.open_account("patients", {}, limit=NANO, rules={})
        live.reserve("patients", analyst="owner", key="q", cost=7, record={})
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"live.ledger{suffix}", f"{path}{suffix}")
    before = seal(folder)
    assert Path(f"{path}-wal").stat().st_size > 0
    with as_somebody_else(), Ledger.audit(path) as ledger:
        found = ledger.verify()
        assert (found.ok, found.spent) == (True, {"patients": 7})
        assert ledger.location == str(path)
    assert state(folder) == before


def test_the_private_copy_is_removed_at_the_end(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(tmp_path / "live.ledger") as live:
        live.open_account("patients", {}, limit=NANO, rules={})
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"live.ledger{suffix}", folder / f"data.ledger{suffix}")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with Ledger.audit(folder / "data.ledger") as ledger:
        assert ledger.verify().ok
        (private,) = scratch.iterdir()
        assert private.stat().st_mode & 0o077 == 0
    assert not list(scratch.iterdir())


@pytest.mark.skipif(
    shutil.which("unshare") is None, reason="needs unshare; install: apt-get install util-linux"
)
def test_on_a_read_only_file_system_a_ledger_is_verified_and_a_new_one_is_a_clear_error(
    folder: Path,
) -> None:
    write(folder / "data.ledger")
    script = (
        "import sys; from anonymaly.ledger import Ledger; from anonymaly.errors import LedgerError\n"
        "with Ledger.audit(sys.argv[1] + '/data.ledger') as ledger: print(ledger.verify().ok)\n"
        "for name in ('data.ledger', 'new.ledger'):\n"
        "    try: Ledger.open(sys.argv[1] + '/' + name)\n"
        "    except LedgerError as error: print(type(error).__name__)\n"
    )
    mount = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$0" -c "$2" "$1"'
    command = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        mount,
        sys.executable,
        str(folder),
        script,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("this machine allows no mounts of one's own")
    assert done.stdout.split() == ["True", "LedgerError", "LedgerError"], done.stderr


def test_a_folder_that_cannot_be_entered_is_a_clear_error(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    write(inner / "data.ledger")
    inner.chmod(0o600)
    with as_somebody_else():
        for use in (Ledger.open, Ledger.audit):
            with pytest.raises(LedgerError, match=r"cannot be looked for.*may enter every directory"):
                use(inner / "data.ledger")
    inner.chmod(0o700)


def test_a_file_that_cannot_be_read_is_a_clear_error(folder: Path) -> None:
    write(folder / "data.ledger")
    (folder / "data.ledger").chmod(0o000)
    with as_somebody_else(), pytest.raises(LedgerError, match=r"cannot be read.*may read the file"):
        Ledger.audit(folder / "data.ledger")


def test_a_ledger_that_is_not_there_is_missing_and_none_is_made(location: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerMissing, match="there is no ledger"):
        Ledger.audit(location)
    assert not list(tmp_path.iterdir())


def test_whatever_would_write_is_refused(location: str) -> None:
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
    with Ledger.audit(location) as ledger:
        for use in (
            lambda: ledger.reserve("patients", analyst="owner", key="q", cost=1, record={}),
            lambda: ledger.raise_limit("patients", 2 * NANO),
            lambda: ledger.pause("patients", **WHY),
        ):
            with pytest.raises(LedgerError, match="is open for an audit only"):
                use()
        assert ledger.verify().ok


def test_a_damaged_copy_is_reported_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.ledger"
    write(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with Ledger.audit(path) as ledger:
        assert not ledger.verify().ok
    path.write_text("no ledger at all " * 100)
    with Ledger.audit(path) as ledger:
        assert not ledger.verify().ok
        with pytest.raises(LedgerDamaged):
            ledger.account("patients")


def test_an_anchored_ledger_can_be_audited_without_its_anchor_and_is_compared_with_one_that_is_given(
    location: str, tmp_path: Path
) -> None:
    anchor = tmp_path / "elsewhere.anchor"
    with Ledger.open(location, anchor=anchor) as ledger:
        ledger.open_account("patients", {}, limit=NANO, rules={})
    before = anchor.read_bytes()
    for given in (None, anchor):
        with Ledger.audit(location, anchor=given) as ledger:
            assert ledger.verify().ok
    assert anchor.read_bytes() == before
    anchor.write_text(anchor.read_text().replace('"seq": 2', '"seq": 9', 1))
    with pytest.raises(LedgerBehindAnchor, match="older copy"):
        Ledger.audit(location, anchor=anchor)


def test_a_file_that_is_open_in_this_process_is_not_opened_a_second_way(tmp_path: Path) -> None:
    path = tmp_path / "data.ledger"
    with Ledger.open(path), pytest.raises(LedgerError, match=r"is open in this process.*verify\(\)"):
        Ledger.audit(path)
    with Ledger.audit(path) as ledger:
        assert ledger.verify().ok


def test_a_role_that_may_only_read_can_audit(postgres: str, account_in_postgres: Account) -> None:
    role = f"auditor_{os.getpid()}"
    with raw_engine(postgres).begin() as connection:
        connection.execute(sa.text(f"CREATE ROLE {role} LOGIN"))
        connection.execute(sa.text(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"))
    try:
        with Ledger.audit(postgres.replace("postgres:", f"{role}:")) as ledger:
            assert ledger.verify().problems == ()
            assert ledger.account("patients") == account_in_postgres
    finally:
        with raw_engine(postgres).begin() as connection:
            connection.execute(sa.text(f"DROP OWNED BY {role}"))
            connection.execute(sa.text(f"DROP ROLE {role}"))


@pytest.fixture
def account_in_postgres(postgres: str) -> Account:
    with Ledger.open(postgres) as ledger:
        return ledger.open_account("patients", {}, limit=NANO, rules={})

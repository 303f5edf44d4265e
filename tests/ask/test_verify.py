# SPDX-License-Identifier: Apache-2.0
"""Verification looks at the stored answers, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ask.store import Store, folder_of
from anonymaly.ask.verify import verify
from anonymaly.ledger import Ledger

Open = Callable[..., am.Curator]


def _alter(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda path: path.unlink(), r"^answer 2: the stored answer \w+… is missing in"),
    "altered": (_alter, r"^answer 2: the stored answer \w+… is altered in"),
    "renamed": (lambda path: path.rename(path.with_name("other")), r"is missing in"),
    "joined by a stranger": (lambda path: path.with_name("notes.txt").touch(), r"^'notes\.txt' in"),
    "joined by a folder": (lambda path: path.with_name(f"{path.name}-x").mkdir(), r"is no answer that"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_verification_reports_answers_that_are_missing_altered_or_nobodys(
    open_patients: Open, tmp_path: Path, how: str
) -> None:
    curator = open_patients()
    curator.ask(am.Count(epsilon="0.1"))
    assert curator.accountant.verify().ok
    (path,) = curator.accountant.store.folder.iterdir()
    damage, told = DAMAGE[how]
    damage(path)
    found = curator.accountant.verify()
    assert not found.ok
    assert re.search(told, found.problems[0])
    curator.close()
    with Ledger.open(tmp_path / "patients.ledger") as ledger:
        store = Store(folder_of(tmp_path / "patients.ledger.answers", ledger.head().ledger), create=False)
        assert verify(ledger, "patients", store) == found, "without the curator, as the program does it"
        assert ledger.verify().ok


def test_verification_knows_answers_of_every_account_failures_and_open_questions(
    open_patients: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = am.Dataset(pandas.DataFrame({"age": [1]}), name="ages", columns={"age": am.Interval(0, 120)})
    curator = open_patients()
    curator.ask(am.Count(epsilon="0.1"))
    account: dict[str, Any] = {"ledger": tmp_path / "patients.ledger", "budget": 1}
    am.Curator(other, **account).ask(am.Count(epsilon="0.1"))
    with monkeypatch.context() as patch:
        patch.setattr(
            Ledger, "commit", lambda *arguments, **options: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            curator.ask(am.Count(epsilon="0.2"))
    assert len(list(curator.accountant.store.folder.iterdir())) == 3
    assert curator.accountant.verify().problems == ()


def test_verification_of_an_account_whose_answers_folder_is_gone_makes_none(
    open_patients: Open, tmp_path: Path
) -> None:
    curator = open_patients()
    curator.ask(am.Count(epsilon="0.1"))
    folder = curator.accountant.store.folder
    folder.rename(tmp_path / "away")
    store = Store(folder, create=False)
    assert len(verify(curator.accountant.ledger, "patients", store).problems) == 1
    assert not folder.exists()

# SPDX-License-Identifier: Apache-2.0
"""What the ledger holds of a person is of no use without the owner's secret."""

from __future__ import annotations

import gc
import multiprocessing
import os
import re
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import anonymaly as am
from anonymaly.ask.secret import Secret, SecretFile
from anonymaly.errors import BudgetExceeded, InputError, LedgerError, RuleNotDeclared
from anonymaly.ledger import Ledger
from tests.ask.persons import explain, identify, patients

Open = Callable[..., am.Curator]


def test_a_question_is_found_again_by_every_process_that_has_the_secret(open_patients: Open) -> None:
    first = open_patients()
    answers = [first.ask(query) for query in (identify(97), explain(97))]
    first.close()
    again = open_patients()
    for query, answer in zip((identify(97), explain(97)), answers, strict=True):
        assert again.preview(query).charged_before == answer.number
        assert again.ask(query).receipt == answer.receipt
        assert again.accountant.ledger.verify_receipt(answer.receipt)
    assert again.spent == 0.2
    assert again.ask(identify(96)).charged > 0


def test_a_promise_names_the_same_record_alike_and_another_otherwise(open_patients: Open) -> None:
    curator = open_patients()
    promised = curator.preview(explain(97)).guarantee
    one = curator.ask(explain(97))
    assert one.guarantee == promised, "the draft of the preview becomes the secret"
    fresh = curator.ask(explain(97), repeat=1)
    assert len(curator.statement().lines) == 1
    assert one.guarantee.relation == fresh.guarantee.relation
    other = curator.ask(explain(96))
    assert other.guarantee.relation != one.guarantee.relation
    assert len(curator.statement().lines) == 2
    plain = explain(97).bind(curator.declaration).relation
    assert plain.to_dict() != one.guarantee.relation.to_dict()


def test_groups_that_an_asker_gives_hold_the_records_values_and_are_digests_too(open_patients: Open) -> None:
    curator = open_patients()
    given = {"search": "breadth_first", "start": {"ward": ["A"]}, "samples": 2}
    curator.ask(explain(97, **given))
    (kept,) = (item.record["query"] for item in curator.accountant.ledger.reservations("patients"))
    assert all(re.fullmatch("[0-9a-f]{64}", kept[name]) for name in ("record", "start", "target"))


def test_the_first_charge_makes_the_secret_and_nothing_before_does(
    open_patients: Open, tmp_path: Path
) -> None:
    secret = tmp_path / "patients.secret"
    curator = open_patients(budget="0.05")
    curator.preview(explain(97))
    assert curator.answers() == []
    with pytest.raises(RuleNotDeclared):
        curator.ask(am.Identify(record={"age": 97}, model="none", epsilon="0.01"))
    assert not secret.exists()
    curator.ask(am.Count(epsilon="0.01"))
    assert secret.stat().st_mode & 0o777 == 0o600
    assert len(secret.read_bytes()) == 32
    kept = secret.read_bytes()
    with pytest.raises(BudgetExceeded):
        curator.ask(identify(97))
    curator.ask(am.Count(epsilon="0.01"), repeat=1)
    assert secret.read_bytes() == kept
    assert sorted(path.name for path in tmp_path.iterdir() if ".ledger" not in path.name) == [secret.name]


def test_two_accounts_have_two_secrets(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        am.Curator(patients(), budget=1, ledger=tmp_path / name / "l").ask(identify(97))
    keys = [
        Ledger.open(tmp_path / name / "l").reservations("patients")[0].record["query"]["record"]
        for name in ("a", "b")
    ]
    assert keys[0] != keys[1]


def test_a_lost_secret_is_noticed_before_the_charge_and_brought_back(
    open_patients: Open, tmp_path: Path
) -> None:
    secret = tmp_path / "patients.secret"
    curator = open_patients()
    answer = curator.ask(identify(97))
    secret.rename(tmp_path / "away")
    for one in (curator, open_patients()):
        for attempt in (one.preview, one.ask):
            with pytest.raises(LedgerError, match=r"is gone.*nothing was charged.*Restore it.*--new-secret"):
                attempt(identify(97))
        assert one.spent == 0.1
        assert not secret.exists(), "and no other is made in its place"
        assert one.answer(answer.number or 0).value == answer.value, "answers are read without it"
    (tmp_path / "away").rename(secret)
    assert curator.ask(identify(97)).charged == 0
    assert open_patients().ask(identify(96)).charged > 0


def test_another_secret_is_noticed_before_the_charge(open_patients: Open, tmp_path: Path) -> None:
    curator = open_patients()
    curator.ask(identify(97))
    (tmp_path / "patients.secret").write_bytes(bytes(32))
    for one in (curator, open_patients()):
        with pytest.raises(LedgerError, match=r"another secret than that of the account's charges"):
            one.ask(identify(96))
        assert one.spent == 0.1


def test_a_secret_begun_anew_is_recorded_and_earlier_questions_cost_again(
    open_patients: Open, tmp_path: Path
) -> None:
    running = open_patients()
    first = running.ask(identify(97))
    lost = running.accountant.ledger.reservations("patients")[0].record["secret"]
    file = SecretFile(tmp_path / "patients.secret")
    with pytest.raises(InputError, match=r"may be the only copy.*move it away first"):
        file.begin_anew(lost)
    file.path.unlink()
    file.begin_anew(lost)
    for curator in (running, open_patients()):
        again = curator.ask(identify(97))
        assert again.number != first.number
    assert running.spent == 0.2
    assert running.ask(identify(95)).charged > 0
    records = [item.record for item in running.accountant.ledger.reservations("patients")]
    assert [record.get("secret_before") for record in records] == [None, lost, None]
    assert records[1]["secret"] == records[2]["secret"] != lost
    assert len(running.answers()) == 3


def test_nothing_is_begun_anew_in_an_account_that_has_no_secret(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no secret to replace"):
        SecretFile(tmp_path / "patients.secret").begin_anew(None)
    assert not list(tmp_path.iterdir())


def _linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


SPOILT: dict[str, tuple[Callable[[Path], Any], str]] = {
    "read by the group": (lambda path: path.chmod(0o640), r"may be read by others.*chmod 600"),
    "read by all": (lambda path: path.chmod(0o604), r"may be read by others.*chmod 600"),
    "a link": (_linked, "is a link"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:31]), "31 bytes long"),
    "empty": (lambda path: path.write_bytes(b""), "0 bytes long"),
    "too long": (lambda path: path.write_bytes(bytes(65)), "65 bytes long"),
    "a pipe": (_pipe, "no ordinary file"),
    "a folder": (_folder, "no ordinary file"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_is_no_secret_any_more_is_refused_with_the_next_step(
    open_patients: Open, tmp_path: Path, how: str
) -> None:
    curator = open_patients()
    curator.ask(identify(97))
    spoil, told = SPOILT[how]
    spoil(tmp_path / "patients.secret")
    for one in (curator, open_patients()):
        with pytest.raises(LedgerError, match=told) as refusal:
            one.ask(identify(96))
        assert refusal.value.field == "secret"
        assert one.spent == 0.1


def test_a_secret_that_cannot_be_written_is_refused_before_the_account_is_opened(
    open_patients: Open, tmp_path: Path
) -> None:
    curator = open_patients(secret=tmp_path / "no" / "folder.secret")
    with pytest.raises(LedgerError, match=r"cannot be written.*nothing was charged"):
        curator.ask(identify(97))
    assert not curator.accountant.ledger.entries()


def _begin(path: Path, ready: Any) -> str:
    ready.wait()
    return SecretFile(path).begin().check


def test_of_several_processes_that_make_a_secret_at_once_the_first_wins(tmp_path: Path) -> None:
    path = tmp_path / "patients.secret"
    # Not by fork: what collects garbage there would end threads of an engine that the child does not have.
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(4) as pool:
        ready = manager.Barrier(4)
        checks = pool.starmap(_begin, [(path, ready)] * 4, chunksize=1)
    secret = SecretFile(path).read()
    assert secret is not None
    assert set(checks) == {secret.check}
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_a_process_whose_first_charge_is_overtaken_takes_the_secret_of_the_other(
    open_patients: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, fast = open_patients(), open_patients()
    read, reads = SecretFile.read, []

    def overtaken(self: SecretFile) -> Secret | None:
        found = read(self)
        if self is slow.accountant.secret.file:
            reads.append(found)
            if len(reads) == 2:  # the first looks for an earlier charge, the second is about to charge
                fast.ask(explain(96))
        return found

    monkeypatch.setattr(SecretFile, "read", overtaken)
    answer = slow.ask(explain(97))
    assert reads[:2] == [None, None]
    monkeypatch.undo()
    assert open_patients().ask(explain(97)).receipt == answer.receipt
    checks = {item.record["secret"] for item in fast.accountant.ledger.reservations("patients")}
    assert len(checks) == 1


def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret(b"k" * 32)
    assert "k" * 4 not in repr(secret)
    assert b"k".hex() * 4 not in secret.check
    assert secret.digest("field:record", [1]) != secret.digest("field:records", [1])


def test_the_place_of_the_secret_is_declared_or_beside_the_ledger(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "name": "patients",
        "source": "patients.csv",
        "columns": {"age": {"type": "interval", "low": 0, "high": 120}},
    }
    default, remote = am.Manifest(**fields), am.Manifest(**fields, ledger="postgresql://host/books")
    elsewhere = am.Manifest(**{**fields, "ledger": "books/all.ledger", "secret": "keys/p.secret"})
    assert default.secret_location(tmp_path) == str(tmp_path / "patients.secret")
    assert remote.secret_location(tmp_path) == str(tmp_path / "patients.secret")
    assert elsewhere.secret_location(tmp_path) == str(tmp_path / "keys" / "p.secret")
    other = am.Manifest(**fields, ledger="books/all.ledger")
    assert other.secret_location(tmp_path) == str(tmp_path / "books" / "patients.secret")
    assert "secret" not in default.to_json(), "a manifest of before has its text of before"


def test_the_secret_of_a_ledger_in_postgresql_is_in_the_working_folder(
    open_patients: Open, postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    curator = open_patients(ledger=postgres)
    curator.ask(identify(97))
    assert (tmp_path / "patients.secret").stat().st_mode & 0o777 == 0o600
    assert open_patients(ledger=postgres).ask(identify(97)).charged == 0


def test_a_part_of_the_table_has_the_secret_of_its_account(tmp_path: Path) -> None:
    declared = am.Dataset(
        pandas.DataFrame({"age": [1, 2]}), name="ages", columns={"age": am.Interval(0, 120)}
    )
    options: dict[str, Any] = {"budget": 5, "adjacency": "replace", "ledger": tmp_path / "l"}
    curator = am.Curator(declared, **options, secret=tmp_path / "kept.secret")
    curator.about(pandas.DataFrame({"age": [1]})).ask(am.Count(epsilon=1))
    curator.ask(am.Count(epsilon=1))
    assert not (tmp_path / "ages.secret").exists()
    checks = {item.record["secret"] for item in curator.accountant.ledger.reservations("ages")}
    assert len(checks) == 1


def test_a_ledger_is_closed_when_its_curator_goes(tmp_path: Path) -> None:
    curator = am.Curator(patients(), budget=1.0, ledger=tmp_path / "patients.ledger")
    curator.ask(am.Count(epsilon="0.1"))
    held = weakref.ref(curator.accountant.ledger)
    gc.collect()
    gc.disable()
    try:
        del curator
        assert held() is None, "something in a circle of references keeps it open"
    finally:
        gc.enable()

# SPDX-License-Identifier: Apache-2.0
"""Errors at the n-th operation of an ask, a stride of them; ``REPLAY=seed:setting/kind:number`` repeats one.

All of them: ``python benchmarks/faults_by_number.py``.
"""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from anonymaly.ask.store import Store
from anonymaly.audit.system import numbered
from anonymaly.audit.system.call_operations import clock_operations
from anonymaly.audit.system.fault import SystemFault, found_as_it_is
from anonymaly.audit.system.file_operations import file_operations
from anonymaly.audit.system.invariants import AskOutcome, asked_again, everything_in
from anonymaly.audit.system.numbered import (
    Elsewhere,
    FaultRun,
    Place,
    count_operations,
    fault_of,
    problems_of,
    run,
    some_numbers,
)
from anonymaly.audit.system.numbered_faults import NUMBERED_FAULTS, ONE_KIND, numbered_problems
from anonymaly.audit.system.operations import ErrorName, Kind, NumberedFault, Operations
from anonymaly.audit.system.setting import NAME, AskSetting, Backend, TableSource, settings_of_all_questions
from anonymaly.audit.system.sqlite_sync import sqlite_operations
from anonymaly.core.files import PartialFile
from anonymaly.errors import InputError, LedgerDamaged, LedgerError
from anonymaly.ledger import Ledger

REPLAY = Place.read(os.environ["REPLAY"]) if "REPLAY" in os.environ else None
SEED = 14 if REPLAY is None else REPLAY.seed
MOST = 1  # of each phase: before the charge, charging, drawing, ending
SETTINGS: list[tuple[Backend, TableSource, Kind]] = [
    *(("sqlite", source, "file") for source in ("memory", "csv", "parquet", "duckdb", "postgres")),
    ("postgres", "memory", "file"),
    *(("sqlite", source, "database") for source in ("memory", "duckdb", "postgres")),
    *(("postgres", source, "database") for source in ("memory", "csv", "parquet", "duckdb", "postgres")),
    ("sqlite", "memory", "sqlite"),
    ("sqlite", "memory", "clock"),
    ("postgres", "memory", "clock"),
]


@pytest.fixture(scope="module", autouse=True)
def listening() -> None:
    try:
        with sqlite_operations(Operations()):
            pass
    except InputError as problem:
        pytest.skip(str(problem))


@pytest.fixture(scope="module")
def databases(server: str) -> Iterator[tuple[str, str]]:
    """Two empty databases: one for ledgers, one for tables."""
    import psycopg

    names = ("numbered_ledger", "numbered_table")
    with psycopg.connect(server, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres?", f"/{names[0]}?"), server.replace("/postgres?", f"/{names[1]}?")
    with psycopg.connect(server, autocommit=True) as connection:
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    """Another process, which asks what was asked here."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.warm"])
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda setting, folder, neighbour: pool.submit(asked_again, setting, folder, neighbour).result()


def _check(setting: AskSetting, kind: Kind, elsewhere: Elsewhere | None) -> None:
    if REPLAY is not None:
        if (REPLAY.setting, REPLAY.kind) != (setting.name, kind):
            pytest.skip(f"REPLAY={REPLAY}")
        numbers = [REPLAY.number]
    else:
        clean = count_operations(setting, kind, seed=SEED)
        assert (clean.outcome.kind, clean.problems) == ("an answer", [])
        numbers = some_numbers(SEED, f"{setting.name}/{kind}", clean.phases, MOST)
        assert len(set(clean.phases)) >= 3
        assert len(numbers) >= 3
    found: list[str] = []
    for number in numbers:
        # Another process once in each setting: it takes a while.
        other = elsewhere if number == numbers[-1] else None
        found += problems_of(setting, kind, number, seed=SEED, elsewhere=other)
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize(("ledger", "source", "kind"), SETTINGS, ids=str)
def test_an_error_at_the_nth_operation_breaks_no_promise(
    databases: tuple[str, str],
    elsewhere: Elsewhere,
    ledger: Backend,
    source: TableSource,
    kind: Kind,
) -> None:
    setting = AskSetting(
        ledger,
        source,
        ledger_address=databases[0] if ledger == "postgres" else None,
        source_address=databases[1] if source == "postgres" else None,
    )
    _check(setting, kind, elsewhere)


@pytest.mark.slow
@pytest.mark.parametrize("setting", settings_of_all_questions(), ids=lambda setting: setting.name)
def test_want_of_memory_in_whatever_handles_rows_breaks_no_promise(setting: AskSetting) -> None:
    _check(setting, "call", None)


@pytest.mark.slow
def test_the_layer_finds_nothing_where_nothing_is_planted() -> None:
    assert found_as_it_is(numbered_problems) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [it for it in NUMBERED_FAULTS if it not in ONE_KIND.values()], ids=lambda fault: fault.name
)
def test_what_a_fault_brings_to_light_is_rejected(fault: SystemFault) -> None:
    assert fault.is_rejected(numbered_problems)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ONE_KIND)
def test_each_kind_of_operation_shows_a_fault(kind: Kind) -> None:
    with ONE_KIND[kind].planted(), closing(numbered_problems(kinds=[kind])) as problems:
        assert next(problems, None) is not None


def test_operations_that_are_not_heard_are_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, seam in (
        ("file", "file_operations"),
        ("sqlite", "sqlite_operations"),
        ("clock", "clock_operations"),
    ):
        monkeypatch.setattr(numbered, seam, lambda *arguments: nullcontext())
        with closing(numbered_problems(kinds=[kind])) as problems:
            assert next(problems, "").startswith(f"0 operations of the kind {kind} were heard")


def test_files_are_heard_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    for folder, used in ((link, link), (link, tmp_path / "real"), (tmp_path / "real", tmp_path / "real")):
        heard = Operations()
        with file_operations(heard, [folder]):
            (used / "file").write_bytes(b"bytes")
            (tmp_path / "real-other").write_bytes(b"bytes")
        assert heard.names == ["open", "file.write", "file.close"]


def test_a_fault_that_strikes_on_one_table_alone_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = AskOutcome("LedgerError", "refused")
    answered = AskOutcome("an answer", "1")

    def ran(*arguments: object, neighbour: bool, **named: object) -> FaultRun:
        outcome, hit = (answered, None) if neighbour else (failed, "open")
        return FaultRun(outcome, [], [], hit, "", [])

    monkeypatch.setattr(numbered, "run", ran)
    assert len(list(problems_of(AskSetting(), "file", 300))) == 1


def test_the_same_place_is_the_same_fault() -> None:
    place = Place.read("7:sqlite+memory/file:31")
    assert str(place) == "7:sqlite+memory/file:31"
    faults = {fault_of(place.seed, AskSetting(), place.kind, place.number) for _ in range(3)}
    assert len(faults) == 1
    with pytest.raises(InputError, match="names no fault"):
        Place.read("31")


def test_a_draw_that_cannot_be_stored_for_want_of_memory_is_never_made_again(tmp_path: Path) -> None:
    setting = AskSetting()
    _, clean = (count_operations(setting, "call") for _ in range(2))  # the first looks for libraries
    number = 1 + clean.operations.index("ask/store._HashingFile.digest")
    found = run(setting, tmp_path, NumberedFault("call", number, "memory"), kind="call")
    assert found.hit == "ask/store._HashingFile.digest"
    assert (found.outcome.kind, found.problems) == ("AnswerFailed", [])
    (answers,) = (tmp_path / "answers").iterdir()
    assert list(answers.iterdir()) == []


def test_an_unfinished_file_is_removed_if_it_cannot_even_be_begun(tmp_path: Path) -> None:
    clean = Operations()
    with file_operations(clean, [tmp_path]):
        PartialFile(tmp_path).discard()
    begun = clean.names.index("file.close")
    errors: list[ErrorName] = ["memory", "interrupt"]
    for fault in (
        NumberedFault("file", begun, "input/output"),
        *(NumberedFault("file", number, error) for number in range(2, begun + 1) for error in errors),
    ):
        with (
            file_operations(Operations(fault), [tmp_path]),
            pytest.raises((MemoryError, KeyboardInterrupt, OSError)),
        ):
            PartialFile(tmp_path)
        assert list(tmp_path.iterdir()) == [], (fault, clean.names)


@pytest.mark.slow
def test_a_new_ledger_gets_its_name_only_with_all_that_is_in_it(tmp_path: Path) -> None:
    clean = Operations()
    with sqlite_operations(clean):
        Ledger.open(tmp_path / "clean.ledger").close()
    refused = 0
    for number in range(1, len(clean.names) + 1):
        path = tmp_path / f"{number}.ledger"
        with sqlite_operations(Operations(NumberedFault("sqlite", number, "input/output"))):
            try:
                Ledger.open(path).close()
            except LedgerError:
                refused += 1
        with Ledger.open(path) as ledger:  # nothing was lost, and the disk is well again
            assert ledger.verify().ok, clean.names[number - 1]
    assert refused > 10


def test_an_answer_that_cannot_be_read_for_a_moment_is_not_called_altered(tmp_path: Path) -> None:
    store, key = Store(tmp_path), "a" * 64
    stored = store.keep(key, lambda file: file.write(b"kept"))  # type: ignore[arg-type]
    for number in (1, 2):  # opened, and read
        with (
            file_operations(Operations(NumberedFault("file", number, "input/output")), [tmp_path]),
            pytest.raises(LedgerDamaged, match=r"cannot be read.*it is free"),
        ):
            store.open(key, stored.digest)
    store.open(key, stored.digest).close()


def test_a_ledger_that_cannot_be_looked_at_for_a_moment_is_not_called_replaced(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "people.ledger") as ledger:
        failing = Operations(NumberedFault("file", 1, "input/output", lasting=True))
        with file_operations(failing, [tmp_path]), pytest.raises(LedgerError) as caught:
            ledger.open_account("people", {}, limit=1, rules={})
        assert (type(caught.value), failing.hit) == (LedgerError, "stat")
        assert ledger.open_account("people", {}, limit=1, rules={}).limit == 1


def test_an_error_of_the_system_in_a_transaction_is_told_in_our_own_words(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "people.ledger") as ledger:
        failing = Operations(NumberedFault("clock", 2, "input/output"))
        with clock_operations(failing), pytest.raises(LedgerError, match="the system refused"):
            ledger.open_account("people", {}, limit=1, rules={})
        assert failing.hit == "datetime.now"
        assert ledger.accounts() == []


def test_draws_that_cannot_be_listed_do_not_hide_how_a_question_ended(tmp_path: Path) -> None:
    failing = Operations(NumberedFault("file", 1, "input/output", lasting=True))
    with file_operations(failing, [tmp_path]):
        Store(tmp_path, create=False).settle("a" * 64, None)
    assert failing.hit is not None


def _hiding() -> None:
    try:
        raise ValueError(NAME)
    except ValueError:
        raise LedgerError("hidden") from None


def test_everything_in_an_error_is_looked_at_whether_it_is_printed_or_not() -> None:
    with pytest.raises(LedgerError) as caught:
        _hiding()
    assert NAME in everything_in(caught.value)


def test_sqlite_says_what_failed_as_it_does_on_a_real_disk(tmp_path: Path) -> None:
    cases: dict[ErrorName, type[Exception]] = {
        "input/output": sqlite3.OperationalError,
        "memory": MemoryError,
    }
    for error, raised in cases.items():
        failing = Operations(NumberedFault("sqlite", 1, error, lasting=True))
        with sqlite_operations(failing), pytest.raises(raised):
            sqlite3.connect(tmp_path / "database").execute("CREATE TABLE t (x)")

# SPDX-License-Identifier: Apache-2.0
"""The layer of numbered faults as a check, and what is planted to see that the check is alive."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any, ClassVar

import duckdb

from anonymaly.ask import accountant, reader
from anonymaly.ask.accountant import Accountant
from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import StageFailure
from anonymaly.ask.curator import Curator
from anonymaly.ask.drawing import Draw, Failed
from anonymaly.ask.query import Query
from anonymaly.ask.reader import Reader, root_cause
from anonymaly.ask.store import Stored
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.audit.system.numbered import count_operations, fault_of, problems_of, some_numbers
from anonymaly.audit.system.operations import ERRORS, Kind
from anonymaly.audit.system.setting import AskSetting
from anonymaly.engine import statements, turns
from anonymaly.errors import LedgerError
from anonymaly.ledger import Ledger, Reservation, session, sqlite
from anonymaly.noise.entropy import fresh_key

SEED, MOST = 17, 2
# What finds most comes first. SQLite does much in each step, so more of it is tried.
_ORDER: Mapping[Kind, int] = {"database": 1, "call": 2, "file": 1, "clock": 2, "sqlite": 3}
# About half of what a count has, with its ledger in a file and its table in memory. Fewer are not all heard.
FLOORS: Mapping[Kind, int] = {"database": 100, "call": 70, "file": 100, "clock": 10, "sqlite": 90}


def numbered_problems(
    setting: AskSetting | None = None,
    *,
    seed: int = SEED,
    most: int = MOST,
    kinds: Sequence[Kind] = tuple(_ORDER),
) -> Problems:
    """Let some operations of each kind and phase of an ask fail, one by one, and yield what must not be.

    Parameters
    ----------
    setting : AskSetting, optional
        The account; by default a ledger in a file and a table in memory.
    seed : int
        Says which operations, and how they fail.
    most : int
        The most operations of each kind and phase, times a number for the kind.
    kinds : sequence of Kind
        Which kinds of operations fail.

    Examples
    --------
    >>> fault = NUMBERED_FAULTS[0]
    >>> fault.name, fault.is_rejected(numbered_problems)
    ('an answer drawn before its charge', True)
    """
    setting = setting or AskSetting()
    for kind in kinds:
        clean = count_operations(setting, kind, seed=seed)
        yield from clean.problems
        if len(clean.operations) < FLOORS[kind]:
            yield f"{len(clean.operations)} operations of the kind {kind} were heard, not {FLOORS[kind]}"
        numbers = some_numbers(seed, kind, clean.phases, _ORDER[kind] * most)
        phases = {number: clean.phases[number - 1] for number in numbers}
        by_phase = [[it for it in numbers if phases[it] == phase] for phase in dict.fromkeys(phases.values())]
        seeds = {number: _typical(seed, setting, kind, number) for found in by_phase for number in found[::2]}
        # From the end: what comes after the charge matters most.
        for number in reversed(numbers):
            yield from problems_of(setting, kind, number, seed=seeds.get(number, seed))


def _typical(seed: int, setting: AskSetting, kind: Kind, number: int) -> int:
    """Return a seed by which an operation fails once, and with what only its kind fails with."""
    return next(
        one
        for one in itertools.count(seed)
        if (found := fault_of(one, setting, kind, number)).error == ERRORS[kind][0] and not found.lasting
    )


def _drawn_first(curator: Curator, query: Query, **named: Any) -> Answer:
    curator._source.ready(curator.accountant.accept(query))(BytesIO())
    return _ASK(curator, query, **named)


def _stored_first(curator: Curator, query: Query, **named: Any) -> Answer:
    """Store the answer, and charge for it if that went well."""
    bound = curator.accountant.accept(query)
    draw = curator._source.ready(bound)
    stored = curator.accountant._keep("0" * 64, draw)
    assert isinstance(stored, Stored | Failed)  # noqa: S101 - for the reader
    return _ASK(curator, query, **named)


def _commit_anyway(ledger: Ledger, reservation: Reservation, **outcome: Any) -> Reservation:
    try:
        return _COMMIT(ledger, reservation, **outcome)
    except LedgerError:
        return replace(reservation, state="committed", **outcome)


def _reserve_anyway(ledger: Ledger, account: Any, **asked: Any) -> Reservation:
    try:
        return _RESERVE(ledger, account, **asked)
    except LedgerError:
        made = {name: asked[name] for name in ("analyst", "key", "cost", "record")}
        return Reservation(
            ledger="", account="people", state="reserved", seq=1, hash="", time="", charged=True, **made
        )


def _keep_or_raise(holder: Accountant, key: str, draw: Draw) -> Stored | Failed:
    """Leave a question open whose draw could not be stored."""

    def write(file: Any) -> None:
        failed = draw(file)
        if failed is not None:
            raise accountant._Dropped(failed)

    try:
        return holder.store.keep(key, write)
    except accountant._Dropped as dropped:
        return dropped.failed


def _with_cause(source: Reader, failure: StageFailure) -> Failed:
    return replace(_FAILED(source, failure), cause=root_cause(failure))


def _with_words_of(kind: type[Exception]) -> Any:
    """Return what hands on errors of one kind that have words."""

    def failed(source: Reader, failure: StageFailure) -> Failed:
        cause = root_cause(failure)
        return replace(
            _FAILED(source, failure), cause=cause if isinstance(cause, kind) and str(cause) else None
        )

    return failed


def _kept_again(holder: Accountant, key: str, draw: Draw) -> Stored | Failed:
    """Draw again if the disk refused the first."""
    kept = _KEEP(holder, key, draw)
    refused = isinstance(kept, Failed) and kept.error == "LedgerError"
    return _KEEP(holder, key, draw) if refused else kept


def _drawn_twice(source: Reader, bound: Any, table: Any, file: Any) -> Failed | None:
    """Begin a draw again that failed."""
    try:
        reader._encode(bound, bound.answer(table, vars(reader)["Noise"].system()), file)
    except Exception:
        return _DRAW(source, bound, table, file)
    return None


class _HeldTurn:
    """A turn at the engine that a statement which fails does not end."""

    kept: ClassVar[list[ExitStack]] = []

    def __init__(self) -> None:
        self._blocks = ExitStack()

    def __enter__(self) -> None:
        for block in turns.take_turn():
            self._blocks.enter_context(block)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._blocks.close()
        else:
            # Kept, so that it stays this thread's turn, and only others wait for ever.
            self.kept.append(self._blocks.pop_all())


@contextmanager
def _turn_held() -> Iterator[None]:
    with replaced(turns, "_turns", turns.Turns()), replaced(statements, "one_at_a_time", _HeldTurn):
        yield
    _HeldTurn.kept.clear()


class _Clock:
    """The module ``time`` whose clock fails with an error of its own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        try:
            return time.monotonic()
        except OSError:
            raise RuntimeError("the clock failed") from None


def _drawn_anew(holder: Accountant, reservation: Reservation, charged: int, kind: Any = None) -> Answer:
    """Hand over another draw than the one that is stored, to whoever asks a second time."""
    answer = _ANSWER(holder, reservation, charged, kind)
    return answer if charged else replace(answer, value=answer.value + 1)


def _spilling(source: Reader, bound: Any, table: Any, file: Any) -> Failed | None:
    descriptor, _ = tempfile.mkstemp()
    with os.fdopen(descriptor, "wb") as rows:
        rows.write(str(table.to_pyarrow().to_pylist()).encode())
    return _DRAW(source, bound, table, file)


def _logging_rows(source: Reader, bound: Any, table: Any, file: Any) -> Failed | None:
    accountant.logger.error("%d rows", table.count().to_pyarrow().as_py())
    return _DRAW(source, bound, table, file)


def _failure_unrecorded(ledger: Ledger, reservation: Reservation, **outcome: Any) -> Reservation:
    with suppress(LedgerError):
        ledger.find(reservation.account, reservation.key)
    return replace(reservation, state="failed", **outcome)


_ASK, _COMMIT, _RESERVE, _FAILED = Curator.ask, Ledger.commit, Ledger.reserve, Reader._failed
_DRAW, _ANSWER, _KEEP = Reader._draw, Accountant.answer, Accountant._keep


def _fault(name: str, owner: Any, attribute: str, new: Any) -> SystemFault:
    return SystemFault(name, "fault by number", partial(replaced, owner, attribute, new))


# For each kind of operation, what no other kind shows: without it, nobody would see that the kind is deaf.
ONE_KIND: Mapping[Kind, SystemFault] = {
    "database": _fault("a database's words in the error", Reader, "_failed", _with_words_of(duckdb.Error)),
    "call": _fault("words of a want of memory in the error", Reader, "_failed", _with_words_of(MemoryError)),
    "file": _fault("drawn again when the disk refuses", Accountant, "_keep", _kept_again),
    "clock": _fault("a clock's own error told", session, "time", _Clock()),
    "sqlite": _fault(
        "a new ledger named before its journal is in it", sqlite, "_fold_journal", lambda engine: None
    ),
}
NUMBERED_FAULTS: tuple[SystemFault, ...] = (
    _fault("an answer drawn before its charge", Curator, "ask", _drawn_first),
    _fault("an answer stored before its charge", Curator, "ask", _stored_first),
    _fault("a failed commit taken for one", Ledger, "commit", _commit_anyway),
    _fault("a failed charge taken for one", Ledger, "reserve", _reserve_anyway),
    _fault("a failed draw left open", Accountant, "_keep", _keep_or_raise),
    _fault("a failure that is not recorded", Ledger, "fail", _failure_unrecorded),
    _fault("an engine's words in the error", Reader, "_failed", _with_cause),
    _fault("charged anew when asked again", accountant, "_key", lambda secret, text: fresh_key().hex()),
    _fault("another draw for whoever asks again", Accountant, "answer", _drawn_anew),
    _fault("rows left in a temporary file", Reader, "_draw", _spilling),
    _fault("the number of rows logged", Reader, "_draw", _logging_rows),
    _fault("noise drawn twice for one charge", Reader, "_draw", _drawn_twice),
    SystemFault("a lock held after a failure", "fault by number", _turn_held),
    *ONE_KIND.values(),
)

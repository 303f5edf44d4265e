# SPDX-License-Identifier: Apache-2.0
"""The layer of numbered faults as a check, and what is planted to see that the check is alive."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from typing import Any

from anonymaly.ask import accountant
from anonymaly.ask.accountant import Accountant
from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import StageFailure
from anonymaly.ask.curator import Curator
from anonymaly.ask.drawing import Draw, Failed
from anonymaly.ask.query import Query
from anonymaly.ask.reader import Reader, root_cause
from anonymaly.ask.store import Stored
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.audit.system.numbered import count_operations, problems_of, some_numbers
from anonymaly.audit.system.operations import Kind
from anonymaly.audit.system.setting import AskSetting
from anonymaly.errors import LedgerError
from anonymaly.ledger import Ledger, Reservation, sqlite
from anonymaly.noise.entropy import fresh_key

SEED, MOST = 17, 2
# What finds most comes first. SQLite does much in each step, so more of it is tried.
_ORDER: Mapping[Kind, int] = {"database": 1, "call": 1, "sqlite": 4, "file": 1, "clock": 1}


def numbered_problems(setting: AskSetting | None = None, *, seed: int = SEED, most: int = MOST) -> Problems:
    """Let some operations of each kind and phase of an ask fail, one by one, and yield what must not be.

    Parameters
    ----------
    setting : AskSetting, optional
        The account; by default a ledger in a file and a table in memory.
    seed : int
        Says which operations, and how they fail.
    most : int
        The most operations of each kind and phase.

    Examples
    --------
    >>> fault = NUMBERED_FAULTS[0]
    >>> fault.name, fault.is_rejected(numbered_problems)
    ('an answer drawn before its charge', True)
    """
    setting = setting or AskSetting()
    for kind, more in _ORDER.items():
        clean = count_operations(setting, kind, seed=seed)
        yield from clean.problems
        # From the end: what comes after the charge matters most.
        for number in reversed(some_numbers(seed, kind, clean.phases, more * most)):
            yield from problems_of(setting, kind, number, seed=seed)


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
_DRAW, _ANSWER = Reader._draw, Accountant.answer


def _fault(name: str, owner: Any, attribute: str, new: Any) -> SystemFault:
    return SystemFault(name, "fault by number", partial(replaced, owner, attribute, new))


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
    _fault("a new ledger named before its journal is in it", sqlite, "_fold_journal", lambda engine: None),
)

# SPDX-License-Identifier: Apache-2.0
"""A power cut after every step of asking: no answer without its charge, and no charge's answer lost.

``kill -9`` cannot show this, because what a dead process wrote stays in the system's memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from anonymaly.ask import secret
from anonymaly.ask.accountant import Accountant
from anonymaly.ask.answer import Answer
from anonymaly.ask.binding import Binding
from anonymaly.ask.curator import Curator
from anonymaly.ask.drawing import Draw
from anonymaly.ask.query import Query
from anonymaly.ask.reader import Reader
from anonymaly.audit.system.disk import Disk, Image, watched
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.audit.system.power_sensor import SENSOR_FAULT, sensor_problems
from anonymaly.core import files
from anonymaly.core.files import sync_folder
from anonymaly.errors import AnonymalyError
from anonymaly.ledger import Ledger, Reservation, sqlite
from anonymaly.ledger.anchor import Anchor, Anchored
from anonymaly.questions.count.query import Count

COST = "0.01"
OPENINGS = 2  # each asks what the earlier ones asked, and one question more
SEED = 14  # says what is saved of that which was not synced
Place = tuple[int, int]  # of a ledger's head: its epoch, and the number of its last entry


@dataclass(frozen=True)
class Moment:
    """A moment at which the power may fail, and what the world outside knows by then."""

    after: str
    image: Image
    charged: frozenset[str]  # keys of the questions whose charge was reported
    draws: int  # how often rows were read
    told: frozenset[tuple[str, str | None]]  # keys and digests of the answers that were handed over
    head: Place  # of the ledger, when something was last reported
    partly: Image  # what may be left instead


@dataclass
class _Witness:
    """Writes down what is seen from outside, and an image of the disk after every step."""

    disk: Disk | None = None
    charged: set[str] = field(default_factory=set)
    draws: int = 0
    told: set[tuple[str, str | None]] = field(default_factory=set)
    head: Place = (0, 0)
    moments: list[Moment] = field(default_factory=list)

    def step(self, what: str) -> None:
        if self.disk is not None:
            seen = frozenset(self.charged), self.draws, frozenset(self.told), self.head
            partly = self.disk.image(random.Random(f"{SEED}:{len(self.moments)}"))
            self.moments.append(Moment(what, self.disk.image(), *seen, partly))


def power_moments(folder: Path, *, anchored: bool) -> tuple[Moment, ...]:
    """Ask questions in an empty folder, and return every moment at which the disk or the world changed."""
    witness = _Witness()
    reserve, draw = Ledger.reserve, Reader._draw

    def reserved(*arguments: Any, **named: Any) -> Reservation:
        reservation = reserve(*arguments, **named)
        witness.charged.add(reservation.key)
        witness.head = head_of(arguments[0])
        witness.step("reported a charge")
        return reservation

    def drawn(*arguments: Any) -> Any:
        witness.draws += 1
        witness.step("began to read rows")
        return draw(*arguments)

    for part in ("ledger", "anchor", "answers"):
        (folder / part).mkdir()
    with watched(folder, witness.step) as witness.disk:
        for existing in (folder, *folder.iterdir()):
            sync_folder(existing)  # what is there before the first question was there long before
        with replaced(Ledger, "reserve", reserved), replaced(Reader, "_draw", drawn):
            for opening in range(1, OPENINGS + 1):
                for curator, answer in _ask(folder, opening, anchored=anchored):
                    witness.head = head_of(curator.accountant.ledger)
                    witness.told.add((answer.receipt.key, answer.receipt.digest))
                    witness.step("handed over an answer")
    return tuple(witness.moments)


def head_of(ledger: Ledger) -> Place:
    """Return how far a ledger is."""
    head = ledger.head()
    return head.epoch, head.seq


def power_problems() -> Problems:
    """Cut the power at every moment of asking and of sending, open what is left, and yield what must not be.

    Examples
    --------
    >>> fault = POWER_FAULTS[0]
    >>> fault.name, fault.is_rejected(power_problems)
    ("SQLite's synchronous=NORMAL", True)
    """
    for anchored in (False, True):
        with TemporaryDirectory() as folder:
            moments = power_moments(Path(folder), anchored=anchored)
        for moment in moments:
            for image in (moment.image, moment.partly):
                for problem in _problems(moment, image, anchored=anchored):
                    saved = "" if image is moment.image else ", with a part saved"
                    yield f"after it {moment.after}{saved}: {problem}"
    yield from sensor_problems()


def _ask(folder: Path, questions: int, *, anchored: bool) -> Iterator[tuple[Curator, Answer]]:
    curator = _curator(folder, anchored=anchored)
    try:
        for number in range(questions):
            yield curator, curator.ask(Count(epsilon=COST), repeat=number)
    finally:
        curator.close()


def _curator(folder: Path, *, anchored: bool) -> Curator:
    return Curator(
        Count.example().dataset(name="patients"),
        budget=1,
        ledger=folder / "ledger" / "patients.ledger",
        anchor=folder / "anchor" / "patients.anchor" if anchored else None,
        store=folder / "answers",
    )


def _problems(moment: Moment, image: Image, *, anchored: bool) -> list[str]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        image.restore(folder)
        if anchored and anchored_at(folder / "anchor" / "patients.anchor") < moment.head:
            return ["the anchor is behind what was reported"]
        try:
            curator = _curator(folder, anchored=anchored)
        except AnonymalyError as problem:
            return [f"the account does not open: {problem}"]
        try:
            return list(_compare(moment, curator))
        except AnonymalyError as problem:
            return [str(problem)]
        finally:
            curator.close()


def anchored_at(path: Path) -> Place:
    """Return how far an anchor says that its ledger is, read by no code of the anchor's."""
    try:
        found = json.loads(path.read_bytes())
        return found["epoch"], found["seq"]
    except (FileNotFoundError, ValueError):
        return (0, 0)


def _compare(moment: Moment, curator: Curator) -> Iterator[str]:
    """Compare what was seen from outside with the account after the cut."""
    ledger = curator.accountant.ledger
    yield from ledger.verify().problems
    if curator.dataset.name not in ledger.accounts():
        if moment.charged or moment.draws:
            yield "the account is gone"
        return
    charges = {item.key for item in ledger.reservations(curator.dataset.name)}
    if not moment.charged <= charges:
        yield "a charge that was reported is gone"
    if moment.draws > len(charges):
        yield f"rows were read {moment.draws} times, and {len(charges)} charges are left"
    # Reading them checks that the bytes of each are those whose digest was committed.
    answers = {(answer.receipt.key, answer.receipt.digest) for answer in curator.answers()}
    if not moment.told <= answers:
        yield "an answer that was handed over is gone"
    spent, again = ledger.account(curator.dataset.name).spent, set[tuple[str, str | None]]()
    for number in range(len(moment.charged)):
        receipt = curator.ask(Count(epsilon=COST), repeat=number).receipt
        again.add((receipt.key, receipt.digest))
    if ledger.account(curator.dataset.name).spent != spent:
        yield "a question whose charge was reported is charged again"
    if not moment.told <= again:
        yield "whoever asks again gets another answer than the one that was handed over"


@contextmanager
def _pragma(setting: str) -> Iterator[None]:
    set_up = sqlite._set_up

    def changed(connection: Any, record: object) -> None:
        set_up(connection, record)
        connection.execute(f"PRAGMA {setting}")

    with replaced(sqlite, "_set_up", changed):
        yield


class _System:
    """The module ``os`` without the syncing of files; folders are synced."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fsync(self, descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.fsync(descriptor)


def _drawn_first(curator: Curator, query: Query, **named: Any) -> Answer:
    """Compute an answer before the charge, then ask as usual."""
    bound = curator.accountant.accept(query)
    curator._source.ready(bound)(BytesIO())
    return _ASK(curator, query, **named)


def _committed_first(
    accountant: Accountant, bound: Binding, reservation: Reservation, draw: Draw
) -> Reservation:
    """Commit the digest of an answer before the answer is stored."""
    file = BytesIO()
    draw(file)
    value = file.getvalue()
    ended = accountant.ledger.commit(
        reservation,
        digest=hashlib.sha256(value).hexdigest(),
        media_type=bound.query.media_type,
        size=len(value),
    )

    def write(stored: BinaryIO) -> None:
        stored.write(value)

    accountant.store.keep(reservation.key, write)
    return ended


def _advanced_once(anchor: Anchor, now: Anchored, **options: Any) -> None:
    if not anchor.exists():
        _ADVANCE(anchor, now, **options)


_ASK, _ADVANCE = Curator.ask, Anchor.advance

POWER_FAULTS: tuple[SystemFault, ...] = (
    SystemFault("SQLite's synchronous=NORMAL", "power cut", lambda: _pragma("synchronous=NORMAL")),
    SystemFault("SQLite's synchronous=OFF", "power cut", lambda: _pragma("synchronous=OFF")),
    SystemFault("answer not synced", "power cut", lambda: replaced(files, "os", _System())),
    SystemFault(
        "names of answers not synced",
        "power cut",
        lambda: replaced(files, "sync_folder", lambda path: None),
    ),
    SystemFault(
        "answer stored after the commit",
        "power cut",
        lambda: replaced(Accountant, "complete", _committed_first),
    ),
    SystemFault("rows read before the charge", "power cut", lambda: replaced(Curator, "ask", _drawn_first)),
    SystemFault("secret not synced", "power cut", lambda: replaced(secret, "os", _System())),
    SystemFault(
        "name of the secret not synced",
        "power cut",
        lambda: replaced(secret, "sync_folder", lambda path: None),
    ),
    SystemFault("anchor written once", "power cut", lambda: replaced(Anchor, "advance", _advanced_once)),
    SENSOR_FAULT,
)

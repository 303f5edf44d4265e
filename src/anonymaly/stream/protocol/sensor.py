# SPDX-License-Identifier: Apache-2.0
"""The sensor: charges, perturbs, and sends one share to each server. The only place where a stream spends."""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.core.epsilon import LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.errors import BudgetExceeded, InputError, LedgerError
from anonymaly.ledger import Account, Ledger, Reservation
from anonymaly.ledger.statement import Statement
from anonymaly.noise import Noise
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import LARGEST_BATCH, MOST_BATCHES, read_name, refused
from anonymaly.stream.protocol.messages import Message, Readings, Shifts
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.perturb import perturb, read_readings
from anonymaly.stream.protocol.promise import StreamPromise, batch_guarantee
from anonymaly.version import __version__

Place = tuple[int, int, int]  # window, batch, readings that the window has
MEDIA_TYPE = "application/vnd.anonymaly.stream"


class Sensor(Party):
    """Perturbs readings at their source, within a budget.

    Parameters
    ----------
    name : str
        What the others call it.
    declaration : StreamDeclaration
        What is public about its readings.
    journal : path
        The sensor's own file: what was sent and not yet acknowledged.
    ledger : path or PostgreSQL URL
        Where charges are kept.
    budget : number, optional
        The most ε that all readings together may cost, T·d·ε. Needed the first time; when it is spent, the
        sensor stops sending and says so.
    anchor : path, optional
        A file elsewhere that shows whether the ledger was set back.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> from anonymaly.stream import Column
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = StreamDeclaration(columns=[celsius], epsilon=0.5, window=4, layer=2.0)
    >>> sensor = Sensor("room-1", room, journal=folder / "s.journal", ledger=folder / "s.ledger", budget=2)
    >>> [(item.recipient, item.message.last) for item in sensor.send([20.1, 20.3, 19.8, 74.0])]
    [('detector', True), ('corrector', True)]
    >>> sensor.remaining
    0.0
    >>> sensor.send([20.2])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    anonymaly.errors.BudgetExceeded: epsilon: needs ε=0.5; 0 of 2 remain. The sensor room-1 has stopped ...
    """

    def __init__(
        self,
        name: str,
        declaration: StreamDeclaration,
        *,
        journal: str | Path,
        ledger: str | Path,
        budget: Number | None = None,
        anchor: str | Path | None = None,
    ) -> None:
        self.name = read_name(name, "name")
        self.declaration = declaration
        self._one_send = threading.RLock()  # two at once would be two batches in one place
        self._owed = False  # whether the charge of the newest batch may still have to be committed
        super().__init__(f"sensor/{name}", journal)
        try:
            self._ledger = Ledger.open(ledger, anchor=anchor)
            self._open_account(budget)
            self._sends = self._reconcile()
        except BaseException:
            with suppress(Exception):  # must not hide what went wrong
                self.close()
            raise

    def send(self, readings: Any) -> list[Outgoing]:
        """Charge the account, perturb the readings, and return what to send; all of them or none.

        Threads may share a sensor: one sends after the other. After a fork, it is the parent's alone.

        Raises
        ------
        BudgetExceeded
            Nothing was spent and nothing is sent: the budget does not suffice for these readings.
        InputError
            The readings are not what was declared; nothing was spent.
        LedgerError
            The ledger cannot be written, or does not say whether it was. The charge may stand, nothing was
            sent unless ``accepted`` has grown, and readings that are sent again are charged again.
        """
        self._journal.refuse_in_child()  # before the lock, which a thread of the parent may have held
        rows = read_readings(self.declaration, readings)
        with self._one_send:
            return self._send(rows) if len(rows) else []

    def flush(self) -> list[Outgoing]:
        """End the window that is not full yet, so that it is judged as it is; costs nothing."""
        self._journal.refuse_in_child()
        with self._one_send:
            return self._flush()

    def _flush(self) -> list[Outgoing]:
        window, part, filled = self._place()
        if filled == 0:
            return []
        none = np.zeros((0, len(self.declaration.columns)), np.int64)
        made: list[Message] = [
            Readings(self.name, window, none, part, last=True),
            Shifts(self.name, window, none[:, 0], part, last=True),
        ]
        with self._journal.transaction():
            for message in made:
                self._journal.keep(message)
            self._journal.note("place", f"{window + 1} 0 0")
        return [Outgoing(message.recipient, message) for message in made]

    @property
    def accepted(self) -> int:
        """How many readings were perturbed and kept so far: after a crash, the first that is not."""
        return int(self._journal.read_note("accepted") or 0)

    @property
    def spent(self) -> float:
        """The ε that is charged so far."""
        return float(to_text(self._account.spent))

    @property
    def remaining(self) -> float:
        """The ε that may still be spent."""
        return float(to_text(self._account.remaining))

    def promise(self, *, readings_a_day: int | None = None) -> StreamPromise:
        """Say what is promised of the readings sent so far, and what is not.

        Parameters
        ----------
        readings_a_day : int, optional
            How many readings of one person the sensor takes, to say the loss by day and by year, too.
        """
        return StreamPromise(self.declaration, self.accepted, readings_a_day)

    def statement(self) -> Statement:
        """Say what was spent, from the ledger."""
        ledger = self._ledger
        return Statement.of(self._account, ledger.reservations(self.name), ledger.entries(self.name))

    def raise_budget(self, *, to: Number) -> None:
        """Raise the budget; the ledger keeps when and to what."""
        self._ledger.raise_limit(self.name, to_nano(to, field="to", largest=LARGEST_TOTAL))

    def close(self) -> None:
        """Let go of journal and ledger."""
        try:
            super().close()
        finally:
            if hasattr(self, "_ledger"):
                self._ledger.close()

    def _send(self, rows: Floats) -> list[Outgoing]:
        # Charge, perturb, keep, hand over, in this order: what leaves was paid for, and has one version.
        if self._owed:
            self._settle()
        reservation = self._reserve(len(rows))
        made, place = self._batches(rows)
        parts = [message.to_bytes() for message in made]
        digest = hashlib.sha256(b"".join(parts)).hexdigest()
        with self._journal.transaction():
            for message in made:
                self._journal.keep(message)
            self._journal.note("place", "{} {} {}".format(*place))
            self._journal.note("accepted", str(self.accepted + len(rows)))
            self._journal.note("sent", f"{reservation.key} {digest} {sum(map(len, parts))}")
        self._owed = True
        self._ledger.commit(reservation, digest=digest, media_type=MEDIA_TYPE, size=sum(map(len, parts)))
        self._owed = False
        return [Outgoing(message.recipient, message) for message in made]

    def _settle(self) -> None:
        """Commit the newest charge whose readings are in the journal, if that failed before."""
        key, digest, size = (self._journal.read_note("sent") or "none - 0").split()
        charge = self._ledger.find(self.name, key)
        if charge is not None and charge.state == "reserved":
            self._ledger.commit(charge, digest=digest, media_type=MEDIA_TYPE, size=int(size))
        self._owed = False

    def _batches(self, rows: Floats) -> tuple[list[Message], Place]:
        """Perturb readings and cut them at the ends of windows; return also where the next ones go."""
        perturbed = perturb(self.declaration, rows, Noise.system())
        window, part, filled = self._place()
        most = max(1, LARGEST_BATCH // len(self.declaration.columns))
        made: list[Message] = []
        start = 0
        while start < len(rows):
            stop = min(len(rows), start + most, start + self.declaration.window - filled)
            filled += stop - start
            last = filled == self.declaration.window
            values, shifts = perturbed.values[start:stop], perturbed.shifts[start:stop]
            made += [
                Readings(self.name, window, values, part, last),
                Shifts(self.name, window, shifts, part, last),
            ]
            window, part, filled = (window + 1, 0, 0) if last else (window, part + 1, filled)
            start = stop
        return made, (window, part, filled)

    def _reserve(self, readings: int) -> Reservation:
        if self._place()[1] >= MOST_BATCHES // 2:  # what is left suffices for the largest window in one piece
            raise InputError(
                f"the window has {MOST_BATCHES // 2} batches already",
                field="readings",
                next_step="Call flush() to end the window, and send larger batches.",
            )
        window, part, _ = self._place()
        record = {
            "question": "stream",
            "asks": f"{readings} readings from window {window}, batch {part} on",
            "readings": readings,
            "guarantee": batch_guarantee(self.declaration, readings).to_dict(),
            "software": __version__,
        }
        try:
            reservation = self._ledger.reserve(
                self.name,
                analyst="stream",
                key=f"send-{self._sends}",
                cost=self.declaration.cost_of(readings),
                record=record,
            )
        except BudgetExceeded as exceeded:
            raise BudgetExceeded(
                exceeded.problem,
                field=exceeded.field,
                next_step=f"The sensor {self.name} has stopped sending; its owner may raise the budget.",
            ) from None
        finally:
            # Whatever came of it: a charge may be on the disk although an error was raised, and no two sends
            # may ever share one.
            self._sends += 1
        if not reservation.charged:
            raise LedgerError(
                f"knows charge {reservation.key} already: another process sends for {self.name}, too",
                field="ledger",
                next_step="Nothing was sent. Let one process send, and open the sensor there again.",
            )
        return reservation

    def _place(self) -> Place:
        """Return the window and batch that come next, and how many readings the window has."""
        window, part, filled = map(int, (self._journal.read_note("place") or "0 0 0").split())
        return window, part, filled

    @property
    def _account(self) -> Account:
        return self._ledger.account(self.name)

    def _open_account(self, budget: Number | None) -> None:
        if budget is None and self.name not in self._ledger.accounts():
            raise InputError(
                f"the account '{self.name}' is new and has no budget",
                field="budget",
                next_step="Give the total ε that all its readings may spend.",
            )
        limit = None if budget is None else to_nano(budget, field="budget", largest=LARGEST_TOTAL)
        declared = {"adjacency": "replace", "stream": self.declaration.to_dict()}
        self._ledger.open_account(self.name, declared, limit=limit, rules={})

    def _reconcile(self) -> int:
        """Settle what a crash left open; return the number of the next charge.

        A charge whose readings are in the journal is committed. One whose readings are not is forfeited:
        nothing of them left the sensor.
        """
        key, digest, size = (self._journal.read_note("sent") or "none - 0").split()
        charges = self._ledger.reservations(self.name)
        for charge in charges:
            if charge.state == "reserved" and charge.key == key:
                self._ledger.commit(charge, digest=digest, media_type=MEDIA_TYPE, size=int(size))
            elif charge.state == "reserved":
                self._ledger.fail(charge, stage="send", error="Interrupted")
        committed = [charge.key for charge in charges if charge.state == "committed" or charge.key == key]
        if (committed[-1] if committed else "none") != key:
            raise LedgerError(
                "and the journal do not belong together: one of them is older",
                field="ledger",
                next_step="Restore the newer copy, or begin again under another name, ledger and journal.",
            )
        return 1 + max((int(charge.key.removeprefix("send-")) for charge in charges), default=-1)

    def _take(self, message: Message) -> list[Message]:
        raise refused("is of a kind that a sensor does not take")

# SPDX-License-Identifier: Apache-2.0
"""The sensor of ``correction``: charges, perturbs, and sends one share to each server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.encoding import LARGEST_BATCH, MOST_BATCHES
from anonymaly.stream.protocol.kept_readings import KeptReading, times_of
from anonymaly.stream.protocol.messages import Message, Readings, Shifts
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.paying_sensor import PayingSensor
from anonymaly.stream.protocol.perturb import perturb, read_readings
from anonymaly.stream.protocol.promise import StreamPromise, batch_guarantee

Place = tuple[int, int, int]  # window, batch, readings that the window has


class Sensor(PayingSensor[StreamDeclaration]):
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
    keep : int, optional
        Of how many of its newest windows the sensor keeps the readings in clear, in its journal, so that the
        stream's owner may ask for one. None if not given, and then nobody can.
    consent : {"ask", "always"}, optional
        Whether the sensor's holder decides about each such request, or consented to all of them.

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

    def send(self, readings: Any, times: Iterable[object] | None = None) -> list[Outgoing]:
        """Charge the account, perturb the readings, and return what to send; all of them or none.

        Threads may share a sensor: one sends after the other. After a fork, it is the parent's alone.

        Parameters
        ----------
        readings
            A frame or mapping with the declared columns, or rows in their order; for one column also a list.
        times
            When each was taken, in any form; None among them, or no times, means now. Kept with readings
            that are kept, and sent to nobody else.

        Raises
        ------
        BudgetExceeded
            Nothing was spent and nothing is sent: the budget does not suffice for these readings.
        InputError
            The readings are not what was declared; nothing was spent.
        LedgerError
            The journal cannot be written: nothing was spent. Or the ledger cannot be written, or does not
            say whether it was: the charge may stand, nothing was sent unless ``accepted`` has grown, and
            readings that are sent again are charged again.
        """
        self._journal.refuse_in_child()  # before the lock, which a thread of the parent may have held
        rows = read_readings(self.declaration, readings)
        known = times_of(times, len(rows)) if self.keep else []
        with self._one_send:
            return self._send_rows(rows, known) if len(rows) else []

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
    def next_place(self) -> tuple[int, int]:
        """The window that the next reading goes to, and its place there, both counted from 0."""
        window, _, filled = self._place()
        return window, filled

    @property
    def beyond(self) -> int:
        """How many of the readings so far lay beyond the declared ranges; only the sensor itself knows.

        Each of them lost more than it was charged (``promise().beyond``). Many of them mean that the ranges
        do not fit, or no longer.
        """
        return int(self._journal.read_note("beyond") or 0)

    def promise(self, *, readings_a_day: int | None = None) -> StreamPromise:
        """Say what is promised of the readings sent so far, and what is not.

        Parameters
        ----------
        readings_a_day : int, optional
            How many readings of one person the sensor takes, to say the loss by day and by year, too.
        """
        earlier = tuple(self._sent_before())
        sent = self.accepted - self._counted_before()
        return StreamPromise(self.declaration, sent, readings_a_day, earlier, self.given, self.keep)

    def amend(self, declaration: StreamDeclaration, *, reason: str, learned_from_readings: bool) -> int:
        """Declare readings anew from the next window on, under the same account; return that window's number.

        What was spent stays spent. The window that is not full yet ends here: send what `resume` returns. The
        servers must know from which window on the new declaration holds.

        Parameters
        ----------
        declaration : StreamDeclaration
            All that is declared from now on.
        reason : str
            Why; the ledger keeps it.
        learned_from_readings : bool
            Whether it was learned from the readings that are protected: that is outside of the promise.
        """
        self._journal.refuse_in_child()
        with self._one_send:
            if self._account_of(declaration) != dict(self._account.declaration):
                self._flush()
                earlier = [*self._sent_before(), (self.declaration, self.accepted - self._counted_before())]
                kept = [{"stream": item.to_dict(), "readings": sent} for item, sent in earlier if sent]
                with self._journal.transaction():
                    self._journal.note("earlier", json.dumps(kept))
                self._ledger.amend(
                    self.name,
                    self._account_of(declaration),
                    rules={},
                    reason=reason,
                    learned_from_rows=learned_from_readings,
                )
            self.declaration = declaration
            return self._place()[0]

    def _sent_before(self) -> list[tuple[StreamDeclaration, int]]:
        """Return earlier declarations, and how many readings were sent under each."""
        kept = json.loads(self._journal.read_note("earlier") or "[]")
        return [(StreamDeclaration.read(item["stream"]), item["readings"]) for item in kept]

    def _counted_before(self) -> int:
        return sum(readings for _, readings in self._sent_before())

    def _send_rows(self, rows: Floats, times: Sequence[str]) -> list[Outgoing]:
        window, part, filled = self._place()
        if part >= MOST_BATCHES // 2:  # what is left suffices for the largest window in one piece
            raise InputError(
                f"the window has {MOST_BATCHES // 2} batches already",
                field="readings",
                next_step="Call flush() to end the window, and send larger batches.",
            )
        readings = len(rows)

        def make() -> tuple[list[Message], Mapping[str, str]]:
            made, place = self._batches(rows)
            return made, {
                "place": "{} {} {}".format(*place),
                "accepted": str(self.accepted + readings),
                "beyond": str(self.beyond + self.declaration.count_beyond(rows)),
            }

        asks = f"{readings} readings from window {window}, batch {part} on"
        size = self.declaration.window
        kept = [
            KeptReading(window + place // size, place % size, time, tuple(row))
            for place, (time, row) in enumerate(zip(times, rows.tolist(), strict=False), filled)
        ]
        newest = window + (filled + readings - 1) // size
        guarantee = batch_guarantee(self.declaration, readings)
        return self._send(guarantee, readings, asks, self._size_of(readings), make, kept, newest)

    def _size_of(self, readings: int) -> int:
        """Return about how many bytes so many readings take in the journal."""
        messages = 2 * (2 + readings // self.declaration.window)
        return 8 * readings * (1 + len(self.declaration.columns)) + 200 * messages

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

    def _place(self) -> Place:
        """Return the window and batch that come next, and how many readings the window has."""
        window, part, filled = map(int, (self._journal.read_note("place") or "0 0 0").split())
        return window, part, filled

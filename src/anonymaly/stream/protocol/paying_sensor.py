# SPDX-License-Identifier: Apache-2.0
"""What every sensor does with its account: charge, make messages, keep them, hand them over, in this order.

The only place where a stream spends; `Sensor.send` and `CountingSensor.send` lead here.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from anonymaly.core.epsilon import LARGEST_TOTAL, Number, to_nano, to_text
from anonymaly.errors import BudgetExceeded, InputError, LedgerError
from anonymaly.ledger import Account, Ledger, Reservation
from anonymaly.ledger.statement import Statement
from anonymaly.promise import Guarantee
from anonymaly.stream.protocol.encoding import read_name, refused
from anonymaly.stream.protocol.giving_sensor import Consent, GivingSensor
from anonymaly.stream.protocol.kept_readings import KeptReading
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.perturb import Named
from anonymaly.version import __version__

MEDIA_TYPE = "application/vnd.anonymaly.stream"
KEPT_BYTES = 256  # of a reading in clear in the journal, about


class Charged(Named, Protocol):
    """What is public about a sensor's readings, and what they cost."""

    def cost_of(self, readings: int) -> int:
        """Return the cost of so many readings, in billionths of ε."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""


Declared = TypeVar("Declared", bound=Charged)


class PayingSensor(GivingSensor, Generic[Declared]):
    """A sensor with an account.

    Parameters
    ----------
    name, declaration, journal, ledger, budget, anchor, keep, consent
        As of `Sensor`.
    """

    def __init__(
        self,
        name: str,
        declaration: Declared,
        *,
        journal: str | Path,
        ledger: str | Path,
        budget: Number | None = None,
        anchor: str | Path | None = None,
        keep: int = 0,
        consent: Consent = "ask",
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
            self._prepare(keep, consent)
        except BaseException:
            with suppress(Exception):  # must not hide what went wrong
                self.close()
            raise

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

    def _send(
        self,
        guarantee: Guarantee | None,
        readings: int,
        asks: str,
        size: int,
        make: Callable[[], tuple[list[Message], Mapping[str, str]]],
        kept: Sequence[KeptReading] = (),
        newest: int = -1,
    ) -> list[Outgoing]:
        """Send what ``make`` makes, and note what it notes; what leaves was paid for, and has one version.

        Parameters
        ----------
        guarantee
            What is promised of the readings that are paid for, and by its ε their price; None if none are.
        readings
            How many those are.
        asks
            What the ledger is told of them.
        size
            About how many bytes they take in the journal.
        make
            Called after the charge.
        kept
            The readings in clear, for a sensor that keeps them.
        newest
            The newest window that it contributes to.
        """
        if self._owed:
            self._settle()
        # A disk that is full, or that cannot be written, is found before the charge.
        room = self._journal.reserve_room(size + KEPT_BYTES * len(kept))
        try:
            reservation = None if guarantee is None else self._reserve(asks, readings, guarantee)
            made, notes = make()
        finally:
            room.unlink(missing_ok=True)
        parts = [message.to_bytes() for message in made]
        digest = hashlib.sha256(b"".join(parts)).hexdigest()
        with self._journal.transaction():
            for message in made:
                self._journal.keep(message)
            self._kept.add(kept, newest)
            for name, value in notes.items():
                self._journal.note(name, value)
            if reservation is not None:
                self._journal.note("sent", f"{reservation.key} {digest} {sum(map(len, parts))}")
        if reservation is not None:
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

    def _reserve(self, asks: str, readings: int, guarantee: Guarantee) -> Reservation:
        record = {
            "question": "stream",
            "asks": asks,
            "readings": readings,
            "guarantee": guarantee.to_dict(),
            "software": __version__,
        }
        try:
            reservation = self._ledger.reserve(
                self.name,
                analyst="stream",
                key=f"send-{self._sends}",
                cost=to_nano(guarantee.epsilon, largest=LARGEST_TOTAL),
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

    @property
    def _columns(self) -> int:
        return len(self.declaration.names)

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
        if limit is not None and self.name in self._ledger.accounts() and limit < self._account.limit:
            limit = None  # it was raised since, by an entry of the ledger
        self._ledger.open_account(self.name, self._account_of(self.declaration), limit=limit, rules={})

    def _account_of(self, declaration: Declared) -> dict[str, Any]:
        """Return what an account is opened under."""
        return {"adjacency": "replace", "stream": declaration.to_dict()}

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

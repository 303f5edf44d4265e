# SPDX-License-Identifier: Apache-2.0
"""What both servers of a pool do: gather one share of each sensor, in any order, into windows by time.

Windows are finished in order. Each step's message is in the journal before it is sent, is made once, and only
from what the journal holds, so that a killed server goes on where it was:

    detector    Gathered            whose readings it holds, once the window is closed
    corrector   Agreed              of whom it holds the same version; with too few the window ends
    detector    PooledSuspects      among all perturbed readings of the list
    corrector   Thresholds          the two distances
    detector    PooledCandidates    beyond them; the detector is done
    corrector   PooledVerdict       to the owner
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.stream.protocol.encoding import refused
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.notices import Skip
from anonymaly.stream.protocol.open_windows import OpenWindows
from anonymaly.stream.protocol.pool import declared_digest, read_sensors
from anonymaly.stream.protocol.pool_server import ServerOfPool, Waits
from anonymaly.stream.protocol.pooled.declaration import PooledDeclaration
from anonymaly.stream.protocol.pooled.messages import Gathered, PooledReading, PooledShift

Kind = TypeVar("Kind", bound=Message)


class PooledServer(ServerOfPool):
    """A server of a pool: the detector, the corrector.

    Parameters
    ----------
    declaration : PooledDeclaration
        What is public about the pool.
    sensors : list of str
        Whose readings to take. Lists name them by their places: new ones come last, for good.
    journal : path
        The server's own file.
    retired : list of str, optional
        Those of the sensors that contribute no more, so that no window waits for them.
    """

    role: ClassVar[str]
    """Its address."""
    share: ClassVar[type[PooledReading] | type[PooledShift]]
    """What it gets of a sensor."""
    answers: ClassVar[tuple[type[Message], ...]]
    """What it gets of the other server."""

    def __init__(
        self,
        declaration: PooledDeclaration,
        sensors: Iterable[str],
        journal: str | Path,
        retired: Iterable[str] = (),
    ) -> None:
        if not isinstance(declaration, PooledDeclaration):
            raise InputError(
                f"must be a PooledDeclaration, got {type(declaration).__name__}",
                field="declaration",
                next_step="Give am.stream.PooledDeclaration(pool=…, windows=…, columns=…, …).",
            )
        self.declaration = declaration
        self.retired = frozenset(retired)
        self.sensors = read_sensors(sensors, declaration.windows.least_sensors, self.retired)
        super().__init__(self.role, journal)

    def _find_open(self) -> OpenWindows:
        found = OpenWindows(self.sensors, self.retired)
        for message in self._journal.stored(self.share):
            found.add(message)
        return found

    def _take(self, message: Message) -> list[Message]:
        if isinstance(message, self.share):
            return self._gather(message)
        if not isinstance(message, self.answers):
            raise refused(f"is of a kind that a {self.address} does not take")
        if message.sensor != self.declaration.pool:
            raise refused("is about another pool")
        if message.window < self.floor:
            return self._answer_late(message)
        self._check(message)
        return self._advance() if self._journal.add(message) else []

    def _gather(self, message: PooledReading | PooledShift) -> list[Message]:
        if message.sensor not in self._open:
            raise refused(f"is about the sensor {message.sensor}, which is not declared")
        if len(message.values) != self._width or message.previous >= message.window:
            raise refused("does not fit the declaration")
        if message.window < self.floor or self._open.has(message):
            return []  # late, or seen: one reading a window, the first that arrived
        self._open.refuse_too_many(message)
        self._journal.add(message)
        self._open.add(message)
        return self._advance()

    def _skip(self, message: Skip) -> list[Message]:
        """Give up all windows up to one, by the owner's decision, and hand it on."""
        if message.source != self.overseer or message.sensor != self.declaration.pool:
            raise refused("is no decision of the pool's owner")
        if message.last >= self.floor:
            self._finish(message.last)
        return [
            *self._hand_on(message.sensor, message.window, message.last, message.part),
            *self._advance(),
        ]

    def _advance(self) -> list[Message]:
        """Do every step that can be done."""
        made: list[Message] = []
        while (window := self._next_window()) is not None:
            try:
                self._work_on(window, made)
            except Waits:
                return made
            self._finish(window)
        return made

    @property
    @abstractmethod
    def _width(self) -> int:
        """How many numbers a share has."""

    @abstractmethod
    def _next_window(self) -> int | None:
        """Return the window to work on."""

    @abstractmethod
    def _work_on(self, window: int, made: list[Message]) -> None:
        """Do what can be done for a window; end when it is finished."""

    @abstractmethod
    def _check(self, message: Message) -> None:
        """Refuse what does not fit what was said of its window before."""

    def _answer_late(self, message: Message) -> list[Message]:
        """Answer a message about a window that is finished here."""
        return []

    def _finish(self, window: int) -> None:
        """Forget a window and all before it; nothing of them stays."""
        self._journal.forget_until(window)
        self._journal.note("floor", str(window + 1))
        self._open.forget_until(window)

    def _said(self, window: int, kind: type[Kind]) -> Kind | None:
        """Return what either server said of a window, if it has."""
        found = self._journal.parts(self.declaration.pool, window, kind)
        return found[0] if found else None

    def _await(self, window: int, kind: type[Kind]) -> Kind:
        """Return what the other server said of a window, or wait for it."""
        said = self._said(window, kind)
        if said is None:
            raise Waits
        return said

    def _say(self, made: list[Message], window: int, kind: type[Kind], make: Callable[[], Kind]) -> Kind:
        """Return what this server says of a window, made at most once."""
        said = self._said(window, kind)
        if said is None:
            said = make()
            self._journal.add(said)
            made.append(said)
        return said

    def _is_late(self, window: int) -> bool:
        return self._now >= self.declaration.windows.closes(window)

    def _is_enough(self, members: Booleans) -> bool:
        return int(members.sum()) >= self.declaration.windows.least_sensors

    def _values(self, window: int, members: Booleans) -> Integers:
        """Return the shares of a list, in the order of the sensors."""
        return np.array(
            [
                self._journal.parts(self.sensors[place], window, self.share)[0].values
                for place in np.flatnonzero(members)
            ]
        )

    def _declared(self, places: int) -> bytes:
        # One that does not know the newest sensors yet names the others in the same places.
        return declared_digest(self.declaration.fingerprint(), self.sensors[:places])

    def _held(self, window: int) -> Gathered:
        """Return a list of whose shares of a window are held here."""
        members = np.array([self._open.holds(name, window) for name in self.sensors], np.bool_)
        digests = tuple(
            self._open.digest(name, window)
            for name, there in zip(self.sensors, members, strict=True)
            if there
        )
        places = len(members)
        return Gathered(self.declaration.pool, window, self._declared(places), members, digests)


def spread(chosen: Booleans, members: Booleans) -> Booleans:
    """Return which sensors are chosen, given which of the list are.

    Examples
    --------
    >>> spread(np.array([False, True]), np.array([True, False, True])).tolist()
    [False, False, True]
    """
    found = np.zeros(len(members), np.bool_)
    found[np.flatnonzero(members)[chosen]] = True
    return found

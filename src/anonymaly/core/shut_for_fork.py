# SPDX-License-Identifier: Apache-2.0
"""What has a connection is shut for a fork, so that no child inherits one."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from anonymaly.core.forks import Place, at_fork


class Shuttable(Protocol):
    """What a fork waits for and shuts."""

    def before_fork(self) -> None:
        """Wait for the end of what is under way, take the lock, and shut the connection."""

    def after_fork(self) -> None:
        """Go on, in the parent and in the child."""

    def renew_lock(self) -> None:
        """Have a lock of its own in a child, whatever thread of its parent was in it."""


Thing = TypeVar("Thing", bound=Shuttable)


class ShutForFork(Generic[Thing]):
    """All things of one kind that are in use, and what a fork does to them.

    Parameters
    ----------
    place : {"table", "compiler", "ledger", "anchor", "journal"}
        Their place in the order in which a fork waits.
    """

    def __init__(self, place: Place) -> None:
        self._things: weakref.WeakSet[Thing] = weakref.WeakSet()
        # Held by a fork from its first thing on, so that no other is opened meanwhile.
        self._listing = threading.RLock()
        self._shut: list[Thing] = []
        at_fork(place, before=self._before, in_parent=self._in_parent, in_child=self._in_child)

    def add(self, thing: Thing) -> None:
        """List one that is about to be used."""
        with self._listing:
            self._things.add(thing)

    def __iter__(self) -> Iterator[Thing]:
        with self._listing:
            return iter(list(self._things))

    def _before(self) -> None:
        self._listing.acquire()
        for thing in self:
            thing.before_fork()
            self._shut.append(thing)

    def _go_on(self) -> None:
        while self._shut:
            self._shut.pop().after_fork()

    def _in_parent(self) -> None:
        self._go_on()
        self._listing.release()

    def _in_child(self) -> None:
        self._go_on()
        self._listing = threading.RLock()
        for thing in self:
            thing.renew_lock()

# SPDX-License-Identifier: Apache-2.0
"""Says which tables could be read just now: without that word, web processes take no question for them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from anonymaly.server.held import HeldTable
from anonymaly.server.published import publish
from anonymaly.server.state import State, tables

CHECK_SECONDS = 4.0
OLDEST_CHECK_SECONDS = 10.0  # one that takes longer than this is no sign of a table that can be read
logger = logging.getLogger(__name__)


class Publisher:
    """Checks a worker's tables between jobs, and renews what it found while one runs.

    A worker that is busy stays ready: otherwise, how long an answer takes would show in whether others are
    taken. Only a check that does not return, such as of a database that hangs, ends it.
    """

    def __init__(self, state: State, held: Mapping[str, HeldTable]) -> None:
        self._state = state
        self._held = held
        self._lock = threading.Lock()
        self._checked: float | None = None
        self._ready: frozenset[str] = frozenset()

    def check_if_due(self, *, now: bool = False) -> None:
        """Check all tables and publish them, unless that was a moment ago."""
        if not now and self._checked is not None and time.monotonic() - self._checked < CHECK_SECONDS:
            return
        ready = set()
        for name, table in self._held.items():
            if table.check():
                publish(self._state, table.publish(), ready=True)
                ready.add(name)
        with self._lock:
            gone = self._ready - ready
            self._ready, self._checked = frozenset(ready), time.monotonic()
        for name in gone:
            self.withdraw(name)

    def renew(self, *, busy: bool) -> None:
        """Say once more that the tables are ready, as they were when they were last looked at."""
        with self._lock:
            known, checked = self._ready, self._checked
        fresh = checked is not None and time.monotonic() - checked < OLDEST_CHECK_SECONDS
        if not known or not (busy or fresh):
            return
        with self._state.write() as connection:
            connection.execute(
                tables.update().where(tables.c.name.in_(sorted(known))).values(ready_at=self._state.now)
            )

    def withdraw(self, name: str) -> None:
        """Say that a table could not be read; another worker that can will say otherwise."""
        with self._state.write() as connection:
            connection.execute(tables.update().where(tables.c.name == name).values(ready_at=None))

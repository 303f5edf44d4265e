# SPDX-License-Identifier: Apache-2.0
"""How many requests there were, by route and status, over all web processes.

Each process adds what it counted to the shared tables every few seconds. Files of one machine would not do:
web processes may run on several, and the database is all that they share.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter

import sqlalchemy as sa

from anonymaly.server.state import State, counts

WRITTEN_EVERY_SECONDS = 5.0
Which = tuple[str, str, int]  # method, template of the route, status
logger = logging.getLogger(__name__)


class RequestCounts:
    """The requests of one web process that are not written down yet, and all that are."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._new: Counter[Which] = Counter()
        self._gate = threading.Lock()
        self._over = threading.Event()
        self._writer: threading.Thread | None = None

    def add(self, method: str, route: str, status: int) -> None:
        """Count a request."""
        with self._gate:
            self._new[method, route, status] += 1
            if self._writer is None and not self._over.is_set():
                self._writer = threading.Thread(target=self._keep_writing, name="counts", daemon=True)
                self._writer.start()

    def write(self) -> None:
        """Add what was counted to the shared tables; what cannot be written now is kept for later."""
        with self._gate:
            new, self._new = self._new, Counter()
        for which, number in sorted(new.items()):
            try:
                self._write(which, number)
            except sa.exc.SQLAlchemyError as problem:
                logger.error("requests cannot be counted: %s", type(problem).__name__)
                with self._gate:
                    self._new[which] += number

    def read(self) -> dict[Which, int]:
        """Return all requests that were written down, with those of this process up to now."""
        self.write()
        of = sa.select(counts).order_by(counts.c.route, counts.c.method, counts.c.status)
        with self._state.read() as connection:
            return {(row.method, row.route, row.status): int(row.number) for row in connection.execute(of)}

    def close(self) -> None:
        """Write the last ones down."""
        self._over.set()
        if self._writer is not None:
            self._writer.join()
        self.write()

    def _keep_writing(self) -> None:
        while not self._over.wait(WRITTEN_EVERY_SECONDS):
            self.write()

    def _write(self, which: Which, number: int) -> None:
        method, route, status = which
        row = (counts.c.method == method, counts.c.route == route, counts.c.status == status)
        more = counts.update().where(*row).values(number=counts.c.number + number)
        with self._state.write() as connection:
            if connection.execute(more).rowcount:
                return
        try:
            with self._state.write() as connection:
                connection.execute(
                    counts.insert().values(method=method, route=route, status=status, number=number)
                )
        except sa.exc.IntegrityError:  # another process was faster
            with self._state.write() as connection:
                connection.execute(more)

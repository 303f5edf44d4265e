# SPDX-License-Identifier: Apache-2.0
"""Whether a server can answer: its tables, its ledgers and what its processes share.

Anyone may ask, so that it is looked at once a second at most, whoever asks how often.
"""

from __future__ import annotations

import threading
import time

import sqlalchemy as sa

from anonymaly.errors import LedgerError
from anonymaly.server.alive import ready_tables, wanted_tables
from anonymaly.server.ledgers import Ledgers
from anonymaly.server.published import list_tables
from anonymaly.server.state import State

KNOWN_FOR_SECONDS = 1.0


class Readiness:
    """What was found at the last look."""

    def __init__(self, state: State, ledgers: Ledgers) -> None:
        self._state = state
        self._ledgers = ledgers
        self._gate = threading.Lock()
        self._looked: float | None = None
        self._found = False

    def __call__(self) -> bool:
        """Say whether every table of every worker can be read, and so can its ledger from here."""
        with self._gate:
            if self._looked is None or time.monotonic() - self._looked > KNOWN_FOR_SECONDS:
                self._found = self._look()
                self._looked = time.monotonic()
            return self._found

    def _look(self) -> bool:
        try:
            wanted = wanted_tables(self._state)
            if not wanted or not wanted <= ready_tables(self._state):
                return False
            for table in list_tables(self._state):
                if table.name in wanted:
                    self._ledgers.account(table)  # a role that was not granted its tables cannot
        except (sa.exc.SQLAlchemyError, LedgerError):
            return False
        return True

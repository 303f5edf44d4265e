# SPDX-License-Identifier: Apache-2.0
"""The ledgers as a web process has them: to be read, each opened when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from anonymaly.errors import LedgerMissing
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.following import follow
from anonymaly.ledger.records import Grant


class Ledgers:
    """Table → its ledger."""

    def __init__(self, locate: Callable[[str], str | None]) -> None:
        self._locate = locate  # table → where its ledger is
        self._opened: dict[str, Ledger] = {}
        self._gate = threading.Lock()

    def of(self, table: str) -> Ledger | None:
        """Return a table's ledger; None if there is none yet."""
        location = self._locate(table)
        if location is None:
            return None
        with self._gate:
            if location not in self._opened:
                try:
                    self._opened[location] = follow(location)
                except LedgerMissing:
                    return None
            return self._opened[location]

    @contextmanager
    def anew(self, table: str) -> Iterator[Ledger | None]:
        """Open a ledger for a long look, which keeps nobody else from theirs."""
        location = self._locate(table)
        if location is None:
            yield None
            return
        try:
            ledger = follow(location)
        except LedgerMissing:
            yield None
            return
        with ledger:
            yield ledger

    def account(self, table: str) -> Account | None:
        """Return a table's account; None before it is opened."""
        ledger = self.of(table)
        if ledger is None or table not in ledger.accounts():
            return None
        return ledger.account(table)

    def grants(self, table: str) -> list[Grant]:
        """Return the newest grant of each analyst of a table."""
        ledger = self.of(table)
        return [] if ledger is None else ledger.grants(table)

    def grant(self, table: str, analyst: str) -> Grant | None:
        """Return an analyst's grant that stands."""
        found = (item for item in self.grants(table) if item.analyst == analyst and item.standing)
        return next(found, None)

    def close(self) -> None:
        """Close all of them."""
        with self._gate:
            for ledger in self._opened.values():
                ledger.close()
            self._opened.clear()

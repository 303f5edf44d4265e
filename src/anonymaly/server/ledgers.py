# SPDX-License-Identifier: Apache-2.0
"""The ledgers as a web process has them: to be read, each opened when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from anonymaly.errors import LedgerMissing
from anonymaly.ledger import Account, Ledger
from anonymaly.ledger.following import follow
from anonymaly.ledger.records import Grant
from anonymaly.ledger.seen_by import SeenAccount
from anonymaly.server.published import Published


class Ledgers:
    """Table → its ledger."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places  # table → where this process finds its ledger, if not as its worker publishes
        self._opened: dict[str, Ledger] = {}
        self._gate = threading.Lock()

    def of(self, table: Published) -> Ledger | None:
        """Return a table's ledger; None if there is none yet."""
        location = self._place(table)
        with self._gate:
            if location not in self._opened:
                try:
                    self._opened[location] = follow(location)
                except LedgerMissing:
                    return None
            return self._opened[location]

    @contextmanager
    def anew(self, table: Published) -> Iterator[Ledger | None]:
        """Open a ledger for a long look, which keeps nobody else from theirs."""
        try:
            ledger = follow(self._place(table))
        except LedgerMissing:
            yield None
            return
        with ledger:
            yield ledger

    def seen_by(self, table: Published, person: str) -> SeenAccount | None:
        """Return a table's account with a person's part of it; None before it is opened."""
        ledger = self.of(table)
        return None if ledger is None else ledger.seen_by(table.name, person)

    def account(self, table: Published) -> Account | None:
        """Return a table's account; None before it is opened."""
        ledger = self.of(table)
        return None if ledger is None else ledger.find_account(table.name)

    def grants(self, table: Published) -> list[Grant]:
        """Return the newest grant of each analyst of a table."""
        ledger = self.of(table)
        return [] if ledger is None else ledger.grants(table.name)

    def grant(self, table: Published, analyst: str) -> Grant | None:
        """Return an analyst's grant that stands."""
        seen = self.seen_by(table, analyst)
        return None if seen is None else seen.grant

    def _place(self, table: Published) -> str:
        return self._places.get(table.name, table.ledger)

    def close(self) -> None:
        """Close all of them."""
        with self._gate:
            for ledger in self._opened.values():
                ledger.close()
            self._opened.clear()

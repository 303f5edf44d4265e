# SPDX-License-Identifier: Apache-2.0
"""What routes use: the shared tables, the ledgers, who calls, and what they may see of a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from anonymaly.errors import LedgerError
from anonymaly.ledger import Account, Allowance, Ledger
from anonymaly.ledger.records import Grant
from anonymaly.server.authentication import Authenticator, Caller
from anonymaly.server.counting import RequestCounts
from anonymaly.server.ledgers import Ledgers
from anonymaly.server.limits import AtOnce, Rates
from anonymaly.server.problems import unknown
from anonymaly.server.published import Published, find_table
from anonymaly.server.readiness import Readiness
from anonymaly.server.settings import WebSettings
from anonymaly.server.state import State


class Services:
    """All that a web process has; nothing of it reaches rows, secrets or stores."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.state = State.open(settings.state)
        self.outbox = Path(settings.outbox)
        self.ledgers = Ledgers(self._locate)
        self.authenticator = Authenticator(self.state)
        self.counts = RequestCounts(self.state)
        self.is_ready = Readiness(self.state, self.ledgers)
        self.rates = Rates(settings.limits.rate, settings.limits.burst)
        self.at_once = AtOnce(settings.limits.at_once)

    def _locate(self, table: str) -> str | None:
        """Return where a table's ledger is: as the settings say, or as its worker publishes."""
        if table in self.settings.ledgers:
            return self.settings.ledgers[table]
        found = find_table(self.state, table)
        return None if found is None else found.ledger

    def close(self) -> None:
        """Close all connections."""
        self.counts.close()
        self.ledgers.close()
        self.state.close()


@dataclass(frozen=True, slots=True)
class View:
    """A table as a caller may see it."""

    table: Published
    person: str
    grant: Grant | None  # the caller's own, if it was not revoked
    account: Account | None  # for those who may see it
    ledger: Ledger | None  # None before there is one
    paused: bool

    def allowance(self) -> Allowance | None:
        """Return what the caller may spend now; refuse if their grant has ended or has not begun.

        Owners without a grant of their own see what the account has left.
        """
        name, account = self.table.name, self.account
        if self.grant is not None and self.ledger is not None:
            return self.ledger.allowance(name, self.person)
        return None if account is None else Allowance(name, self.person, account.limit, account.spent)


def services_of(request: Request) -> Services:
    """Return the services of the process."""
    found: Services = request.app.state.services
    return found


def caller_of(request: Request) -> Caller:
    """Return who calls; every route that is not for anyone has a caller."""
    found: Caller = request.state.caller
    return found


def view(services: Services, caller: Caller, name: str) -> View:
    """Return a table; raise the one 404 if there is none, or the caller may not see it."""
    table = find_table(services.state, name)
    if table is None:
        raise unknown()
    seen = try_view(services, caller, table)
    if seen is None:
        raise unknown()
    return seen


def try_view(services: Services, caller: Caller, table: Published) -> View | None:
    """Return a table as the caller may see it; None if they may not."""
    name, person = table.name, caller.person
    ledger, account = services.ledgers.of(name), services.ledgers.account(name)
    grant = None if caller.role == "auditor" else services.ledgers.grant(name, person)
    if caller.role == "analyst" and grant is None:
        return None
    shown = None if caller.role == "analyst" else account
    paused = table.paused if account is None else account.paused
    return View(table, person, grant, shown, ledger, paused)


def is_visible(services: Services, caller: Caller, table: Published) -> bool:
    """Say whether a list has a table for a caller: one whose ledger cannot be read hides no other."""
    try:
        return try_view(services, caller, table) is not None
    except LedgerError:
        return caller.role != "analyst"

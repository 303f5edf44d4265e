# SPDX-License-Identifier: Apache-2.0
"""What routes use: the shared tables, the ledgers, who calls, and what they may see of a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from anonymaly.errors import LedgerError, Refused
from anonymaly.ledger import Account, Allowance
from anonymaly.ledger.records import Grant
from anonymaly.ledger.seen_by import SeenAccount
from anonymaly.server.authentication import Authenticator, Caller
from anonymaly.server.ledgers import Ledgers
from anonymaly.server.limits import AtOnce, Rates
from anonymaly.server.problems import unknown
from anonymaly.server.published import Published, find_table
from anonymaly.server.settings import WebSettings
from anonymaly.server.state import State


class Services:
    """All that a web process has; nothing of it reaches rows, secrets or stores."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.state = State.open(settings.state)
        self.outbox = Path(settings.outbox)
        self.ledgers = Ledgers(settings.ledgers)
        self.authenticator = Authenticator(self.state)
        self.rates = Rates(settings.limits.rate, settings.limits.burst)
        self.at_once = AtOnce(settings.limits.at_once)

    def close(self) -> None:
        """Close all connections."""
        self.ledgers.close()
        self.state.close()


@dataclass(frozen=True, slots=True)
class View:
    """A table as a caller may see it."""

    table: Published
    person: str
    grant: Grant | None  # the caller's own, if it was not revoked
    account: Account | None  # for those who may see it
    paused: bool
    _seen: SeenAccount | None = None  # None before the account is opened

    def allowance(self) -> Allowance | None:
        """Return what the caller may spend now; refuse if their grant has ended or has not begun.

        Owners see what the account has left, until anybody has a grant: then they, too, need one to ask.
        """
        account, seen, name = self.account, self._seen, self.table.name
        if seen is None:
            return None
        if seen.refusal is not None and self.grant is None:
            raise Refused(
                f"'{self.person}' has no grant for '{name}', and from the first one on nobody asks without",
                field="analyst",
                next_step=f"Grant it to yourself: anonymaly owner grant URL {self.person} --epsilon …",
            )
        if seen.refusal is not None:
            raise seen.refusal
        if seen.allowance is not None or account is None:
            return seen.allowance
        return Allowance(name, self.person, account.limit, account.spent)


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
    seen = services.ledgers.seen_by(table, caller.person)
    grant = None if seen is None or caller.role == "auditor" else seen.grant
    if caller.role == "analyst" and grant is None:
        return None
    shown = None if seen is None or caller.role == "analyst" else seen.account
    paused = table.paused if seen is None else seen.account.paused
    return View(table, caller.person, grant, shown, paused, seen)


def is_visible(services: Services, caller: Caller, table: Published) -> bool:
    """Say whether a list has a table for a caller: one whose ledger cannot be read hides no other."""
    try:
        return try_view(services, caller, table) is not None
    except LedgerError:
        return caller.role != "analyst"

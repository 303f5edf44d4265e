# SPDX-License-Identifier: Apache-2.0
"""One way to open what is asked: the account of an owner's YAML file, or a table on a server."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from anonymaly.ask.accountant import Accountant
from anonymaly.ask.answer import Answer, Preview
from anonymaly.ask.curator import Curator
from anonymaly.ask.odds import BudgetInWords
from anonymaly.ask.plan import Plan
from anonymaly.ask.query import Query
from anonymaly.ask.server_address import is_url
from anonymaly.cli.output import err
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.manifest import Manifest
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.ask.remote import RemoteCurator
    from anonymaly.ask.remote_owner import RemoteOwner

ManifestOrUrl = Annotated[
    str,
    typer.Argument(metavar="MANIFEST", help="The owner's YAML file, or a table's address on a server."),
]
Analyst = Annotated[
    str | None,
    typer.Option(
        "--analyst", help="Who asks: a label in the ledger, owner if not given. A server knows by the key."
    ),
]


class OpenedAccount(Protocol):
    """What commands need of an account, wherever it is."""

    @property
    def curator(self) -> Curator | RemoteCurator:
        """The account itself."""

    @property
    def declaration(self) -> Declaration:
        """What the owner declared."""

    def preview(self, query: Query, *, repeat: int = 0) -> Preview:
        """Say what a question would cost and promise."""

    def plan(self, query: Query, for_error: str | None) -> Plan:
        """Say which ε gives a wanted error."""

    def rehearse(self, query: Query) -> Answer:
        """Answer from invented rows."""

    def ask(self, query: Query, *, repeat: int = 0) -> Answer:
        """Charge, and answer."""

    def in_words(self) -> BudgetInWords:
        """Say what the budget means."""


@contextmanager
def opened(place: str, analyst: str | None = None) -> Iterator[OpenedAccount]:
    """Open an account to be asked, and close it."""
    if not is_url(place):
        with closing(_Here(place, "owner" if analyst is None else analyst)) as here:
            yield here
        return
    if analyst is not None:
        raise InputError(
            "cannot be chosen on a server: the key says who asks", field="analyst", next_step="Leave it out."
        )
    with connected(place) as remote:
        yield _There(remote)


@contextmanager
def connected(url: str) -> Iterator[RemoteCurator]:
    """Connect to a table of a server, and say on the terminal what a program would be warned of."""
    from anonymaly.ask.remote import connect  # noqa: PLC0415  (for a server alone)

    with _noted():
        curator = connect(url)
    with curator:
        yield curator


@contextmanager
def administered(url: str) -> Iterator[RemoteOwner]:
    """Connect to a server as its owner; what is declared of the table is not needed for that."""
    from anonymaly.ask.connection import ServerConnection  # noqa: PLC0415  (for a server alone)
    from anonymaly.ask.remote_owner import RemoteOwner  # noqa: PLC0415

    with closing(ServerConnection(url, None)) as connection:
        with _noted():
            connection.compare_versions()
        yield RemoteOwner(connection)


@contextmanager
def _noted() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    for item in said:
        err.print(f"note: {item.message}", markup=False)


def declaration_of(place: str) -> Declaration:
    """Return what is declared of a table; its rows need not be there."""
    if not is_url(place):
        return Manifest.load(place).declaration()
    with connected(place) as remote:
        return remote.declaration


class _Here:
    """The account of a YAML file, asked in somebody's name; only what reads rows needs the source."""

    def __init__(self, manifest: str, analyst: str) -> None:
        self._manifest, self._analyst = manifest, analyst
        self._open = ExitStack()

    @cached_property
    def curator(self) -> Curator:
        return self._open.enter_context(closing(Curator.open(self._manifest)))

    @cached_property
    def declaration(self) -> Declaration:
        return Manifest.load(self._manifest).declaration()

    @cached_property
    def _accountant(self) -> Accountant:
        accountant = Accountant.of(self._manifest)
        self._open.callback(accountant.ledger.close)
        return accountant

    def preview(self, query: Query, *, repeat: int = 0) -> Preview:
        return self.curator.preview(query, repeat=repeat)

    def plan(self, query: Query, for_error: str | None) -> Plan:
        return self._accountant.plan(query, for_error)

    def rehearse(self, query: Query) -> Answer:
        declared = Manifest.load(self._manifest)
        stand_in = declared.place(Path(self._manifest).parent, declared.stand_in)
        return self._accountant.rehearse(query, stand_in=stand_in)

    def ask(self, query: Query, *, repeat: int = 0) -> Answer:
        return self.curator.ask(query, analyst=self._analyst, repeat=repeat)

    def in_words(self) -> BudgetInWords:
        return self._accountant.in_words()

    def close(self) -> None:
        self._open.close()


class _There:
    """A table of a server, asked with a key."""

    def __init__(self, curator: RemoteCurator) -> None:
        self.curator = curator

    @property
    def declaration(self) -> Declaration:
        return self.curator.declaration

    def preview(self, query: Query, *, repeat: int = 0) -> Preview:
        return self.curator.preview(query, repeat=repeat)

    def plan(self, query: Query, for_error: str | None) -> Plan:
        return self.curator.plan(query, for_error=for_error)

    def rehearse(self, query: Query) -> Answer:
        return self.curator.rehearse(query)

    def ask(self, query: Query, *, repeat: int = 0) -> Answer:
        return self.curator.ask(query, repeat=repeat)

    def in_words(self) -> BudgetInWords:
        return self.curator.in_words()

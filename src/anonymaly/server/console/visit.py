# SPDX-License-Identifier: Apache-2.0
"""What a page is given, and what it may give back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from anonymaly.server.authentication import Caller
from anonymaly.server.console.forms import Sent
from anonymaly.server.console.sessions import ConsoleSession
from anonymaly.server.services import Services


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page."""

    services: Services
    address: str  # whom the request comes from
    session: ConsoleSession | None  # of every page that is not for anyone
    places: Mapping[str, str] = field(default_factory=dict)  # the named parts of the path
    query: Sent = field(default_factory=Sent)  # what is behind the question mark
    form: Sent = field(default_factory=Sent)  # what a form sent
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)

    @property
    def caller(self) -> Caller:
        """Who visits; every page that is not for anyone has a caller."""
        if self.session is None:
            raise AssertionError("a page that is for anyone asked who visits it")
        return self.session.caller


@dataclass(frozen=True, slots=True)
class Shown:
    """A page: its template, and the plain data that is the template's and is behind ``.json``.

    ``pictures`` are for the template alone: SVG that says nothing which the data does not say.
    """

    template: str
    data: Mapping[str, Any]
    status: int = 200
    pictures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moved:
    """To another page, by GET: what a form that was sent ends in."""

    place: str


Outcome = Shown | Moved | Response
Show = Callable[[Visit], Outcome | Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """A page: its name in the table of permissions is the function's. ``{…}`` in the path are its places.

    What is got, ``/tables/patients``, is there as plain data, too: ``/tables/patients.json``.
    """

    method: str
    path: str
    show: Show

    @property
    def name(self) -> str:
        """The name in `PAGES`."""
        return self.show.__name__

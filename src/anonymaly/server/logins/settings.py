# SPDX-License-Identifier: Apache-2.0
"""What an owner sets of logins by OpenID Connect, and which part of it each kind of process is told."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, StrictStr

from anonymaly.core.value import Value
from anonymaly.errors import InputError
from anonymaly.server.keys import Role
from anonymaly.server.people import NewKey

Claim = Literal["sub", "email", "preferred_username", "oid"]
CALLBACK = "/login/callback"
LONGEST_SECRET = 1000
# What is to be asked for, so that the token has the claim; no more than that.
_SCOPES: dict[Claim, str] = {
    "sub": "openid",
    "oid": "openid profile",
    "email": "openid email",
    "preferred_username": "openid profile",
}


class LoginPerson(Value):
    """Whom somebody is here."""

    person: StrictStr
    """The name that grants and charges go by."""
    role: Role
    """What the person may do."""


class LoginPeople(Value):
    """Who may log in: nobody who is not named."""

    claim: Claim = "sub"
    """By what the provider names people."""
    names: dict[str, LoginPerson] = Field(default_factory=dict)
    """What the claim says, letter by letter → who that is here."""


class WebLogin(Value):
    """What a web process knows of logins: not who may log in."""

    issuer: StrictStr
    """The provider's address."""
    client_id: StrictStr
    """What the provider calls this server."""
    client_secret: StrictStr | None = None
    """By which the provider knows that it is this server; None for a public client."""
    callback: StrictStr
    """Where the provider sends people back to."""
    scope: StrictStr
    """What is asked for."""
    name: StrictStr
    """What people call the provider."""


class WorkerLogin(Value):
    """What a worker knows of logins: not this server's secret at the provider."""

    issuer: StrictStr
    """The provider's address: tokens of any other are refused."""
    client_id: StrictStr
    """Whom a token must be for."""
    people: LoginPeople
    """Who may log in."""


class LoginSettings(Value):
    """Login by OpenID Connect, as an owner sets it."""

    issuer: StrictStr
    """The provider's address, as its tokens say it."""
    client_id: StrictStr = Field(min_length=1)
    """What the provider calls this server."""
    client_secret: StrictStr | None = None
    """The secret that the provider gave this server."""
    client_secret_file: StrictStr | None = None
    """A file that holds it; relative to the folder."""
    address: StrictStr | None = None
    """Where browsers reach this server; web processes need it."""
    name: StrictStr = Field(default="your institution", min_length=1, max_length=60)
    """What people call the provider; the login page says it."""
    people: LoginPeople = LoginPeople()
    """Who may log in."""

    def check(self) -> None:
        """Refuse what could not work, or would not be safe."""
        _refuse_unsafe(self.issuer, "login.issuer", "https://login.example.org/realms/clinic")
        if self.client_secret is not None and self.client_secret_file is not None:
            raise InputError(
                "is given twice, as a text and as a file",
                field="login.client_secret",
                next_step="Keep client_secret_file alone.",
            )
        if self.address is not None:
            parts = _refuse_unsafe(self.address, "login.address", "https://curator.example.org")
            if parts.path not in ("", "/"):
                raise InputError(
                    "must be a host without a path",
                    field="login.address",
                    next_step=f"Write {parts.scheme}://{parts.netloc}.",
                )
        for name, found in self.people.names.items():
            try:
                NewKey.read({"person": found.person, "role": found.role})
            except InputError as error:
                raise InputError(
                    error.problem,
                    field=f"login.people.names.{name}.{error.field}",
                    next_step=error.next_step or "",
                ) from None

    def for_web(self, folder: Path) -> WebLogin:
        """Return what web processes are told."""
        if self.address is None:
            raise InputError(
                "the provider must know where to send people back to",
                field="login.address",
                next_step="Write where browsers reach this server, such as https://curator.example.org.",
            )
        secret = self.client_secret
        if self.client_secret_file is not None:
            secret = _read_secret(folder / self.client_secret_file)
        return WebLogin(
            issuer=self.issuer,
            client_id=self.client_id,
            client_secret=secret,
            callback=self.address.rstrip("/") + CALLBACK,
            scope=_SCOPES[self.people.claim],
            name=self.name,
        )

    def for_workers(self) -> WorkerLogin:
        """Return what workers are told."""
        return WorkerLogin(issuer=self.issuer, client_id=self.client_id, people=self.people)


def is_safe(address: str) -> bool:
    """Say whether nobody on the way can read or change what goes to an address.

    Examples
    --------
    >>> [is_safe(text) for text in ("https://a.org", "http://127.0.0.1:80", "http://a.org", "ftp://a.org")]
    [True, True, False, False]
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if not host or "@" in parts.netloc or not address.isascii() or not address.isprintable():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refuse_unsafe(address: str, field: str, example: str) -> SplitResult:
    parts = urlsplit(address) if is_safe(address) else None
    if parts is None or parts.query or parts.fragment:
        raise InputError(
            f"must be an address of https, without a question mark, got {address[:200]!r}",
            field=field,
            next_step=f"Write it as in {example}; http is for this machine alone.",
        )
    return parts


def _read_secret(path: Path) -> str:
    field = "login.client_secret_file"
    try:
        mode, text = path.stat().st_mode, path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{path} cannot be read ({type(problem).__name__})",
            field=field,
            next_step="Give a file that holds the secret and that web processes' user may read.",
        ) from None
    if mode & 0o007:
        raise InputError(
            f"everybody on this machine can read {path}", field=field, next_step=f"Run: chmod o-rwx {path}"
        )
    if not 0 < len(text) <= LONGEST_SECRET or not text.isprintable():
        raise InputError(
            f"{path} holds no secret", field=field, next_step="Write the provider's client secret into it."
        )
    return text

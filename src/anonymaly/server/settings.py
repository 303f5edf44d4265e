# SPDX-License-Identifier: Apache-2.0
"""What an owner sets of a server: ``server.yaml`` in its folder, with the command's options above it."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from anonymaly.core.value import Value
from anonymaly.declare.manifest import read_yaml
from anonymaly.errors import InputError, ManifestError
from anonymaly.server.logins.settings import LoginSettings, WebLogin, WorkerLogin
from anonymaly.server.security_txt import refuse_unusable
from anonymaly.server.slots import SHORTEST

FILE = "server.yaml"
ADVICE = "A server needs no server.yaml; the page on the server lists what it may hold."
LOOPBACK = "127.0.0.1"
_STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class RequestLimits(Value):
    """What a web process takes before it looks any further."""

    body: StrictInt = Field(default=4 * 2**20, ge=1024)
    """The most bytes of a request."""
    depth: StrictInt = Field(default=32, ge=4, le=100)
    """The most levels of a request's JSON."""
    rate: StrictInt = Field(default=20, ge=1)
    """The most requests with one key in a second, on average."""
    burst: StrictInt = Field(default=40, ge=1)
    """The most requests with one key at once."""
    jobs_of_person: StrictInt = Field(default=8, ge=1)
    """The most jobs of one person that have not ended."""
    jobs: StrictInt = Field(default=200, ge=1)
    """The most jobs of all that have not ended."""
    at_once: StrictInt = Field(default=8, ge=1)
    """The most requests with questions of one person that a web process works out at a time."""
    wait: StrictInt = Field(default=60, ge=0, le=600)
    """The most seconds that a request may wait for its job."""


class WebSettings(Value):
    """All that a web process knows: no manifest, no rows, no secret and no store."""

    state: StrictStr
    """The shared tables: a SQLite file or a PostgreSQL address."""
    outbox: StrictStr
    """The folder in which workers put the files of answers."""
    ledgers: dict[str, StrictStr] = Field(default_factory=dict)
    """Table → its ledger, where that is not the place that its worker publishes."""
    limits: RequestLimits = RequestLimits()
    """What is refused before anything is looked at."""
    only_from: StrictStr | None = None
    """The address of the proxy in front, if there is one: nobody else is answered."""
    security_contact: StrictStr | None = None
    """Whom somebody tells who found a weakness: mailto:, https:// or tel:."""
    security_expires: StrictStr | None = None
    """The day until which that contact holds."""
    encrypted: StrictBool = False
    """Whether browsers reach it by TLS: their cookies then go no other way."""
    login: WebLogin | None = None
    """Login by OpenID Connect, if the owner set it."""
    streams: dict[str, StrictStr] = Field(default_factory=dict)
    """Stream → the file that its owner's program keeps for the console."""


class WorkerSettings(Value):
    """What a worker knows of the server; all about the tables is in their own files."""

    folder: StrictStr
    """The folder of the tables' YAML files."""
    state: StrictStr
    """The shared tables: a SQLite file or a PostgreSQL address."""
    outbox: StrictStr
    """The folder in which answers are put for web processes."""
    slots: dict[str, float] = Field(default_factory=dict)
    """Question → the seconds of its slots."""
    slots_of: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Table → question → the seconds of its slots, where they differ."""
    memory: StrictInt | None = None
    """The most bytes that a worker may hold; what needs more ends in the failure."""
    seconds: StrictInt | StrictFloat = 600
    """The most seconds that a job may take; what takes longer ends in the failure."""
    confirm: StrictBool = False
    """Whether what loosens is a proposal until it is confirmed on this machine."""
    login: WorkerLogin | None = None
    """Login by OpenID Connect, if the owner set it."""


class ServerSettings(Value):
    """A server as its owner sets it; paths are relative to the folder."""

    host: StrictStr = LOOPBACK
    """The address to listen at."""
    port: StrictInt = Field(default=8765, ge=0, le=65535)
    """The port to listen at; 0 for any that is free."""
    web: StrictInt = Field(default=1, ge=1, le=64)
    """How many web processes there are."""
    workers: StrictInt = Field(default=1, ge=1, le=64)
    """How many workers there are."""
    state: StrictStr = "server.db"
    """The shared tables: a file, or a PostgreSQL address."""
    web_state: StrictStr | None = None
    """The same database as web processes see it: with a role of their own."""
    outbox: StrictStr = "outbox"
    """The folder in which workers put the files of answers."""
    ledgers: dict[str, StrictStr] = Field(default_factory=dict)
    """Table → its ledger as web processes see it: with a role that only reads."""
    slots: dict[str, StrictInt | StrictFloat] = Field(default_factory=dict)
    """Question → the seconds of its slots."""
    slots_of: dict[str, dict[str, StrictInt | StrictFloat]] = Field(default_factory=dict)
    """Table → question → the seconds of its slots, where they differ."""
    limits: RequestLimits = RequestLimits()
    """What web processes refuse before they look at anything."""
    memory_mib: StrictInt | None = Field(default=4096, ge=256)
    """The most memory of a worker in MiB."""
    seconds: StrictInt | StrictFloat = Field(default=600, gt=0, le=86_400)
    """The most seconds that a job may take."""
    stop_seconds: StrictInt = Field(default=30, ge=1, le=3600)
    """The most seconds that requests and jobs under way may take when the server is told to stop."""
    tls_cert: StrictStr | None = None
    """The file of the certificates for TLS."""
    tls_key: StrictStr | None = None
    """The file of the private key for TLS."""
    behind_proxy: StrictStr | None = None
    """The address of a proxy that does TLS: nobody else is answered."""
    log: StrictStr | None = None
    """The file of the log; standard error if there is none."""
    log_json: StrictBool = False
    """Whether each line of the log is a JSON object."""
    security_contact: StrictStr | None = None
    """Whom somebody tells who found a weakness: mailto:, https:// or tel:."""
    security_expires: StrictStr | None = None
    """The day until which that contact holds."""
    confirm: StrictBool | None = None
    """Whether what loosens waits for the host; if not said, where others than this machine reach it."""
    login: LoginSettings | None = None
    """Login by OpenID Connect; None lets people in by keys alone."""
    streams: dict[str, StrictStr] = Field(default_factory=dict)
    """Stream → the file that `anonymaly stream watch --status` keeps, for the console's owners."""

    @classmethod
    def load(cls, folder: Path, options: Mapping[str, Any] | None = None) -> ServerSettings:
        """Read ``server.yaml`` of a folder, if there is one; options that are not None go before it."""
        if not folder.is_dir():
            raise InputError(
                f"there is no folder {folder}",
                field="folder",
                next_step="Give the folder that holds the tables' YAML files.",
            )
        path = folder / FILE
        written = dict(read_yaml(path, ADVICE)) if path.exists() else {}
        if isinstance(day := written.get("security_expires"), date):
            written["security_expires"] = day.isoformat()  # without quotes YAML reads it as a day
        given = {name: item for name, item in (options or {}).items() if item is not None}
        try:
            settings = cls.read({**written, **given})
        except InputError as error:
            raise ManifestError(error.problem, field=error.field, next_step=error.next_step) from None
        settings._check()
        return settings

    def _check(self) -> None:
        for table, slots in (("", self.slots), *self.slots_of.items()):
            for question, seconds in slots.items():
                if not seconds >= SHORTEST:
                    field = f"slots_of.{table}.{question}" if table else f"slots.{question}"
                    raise InputError(
                        f"must be at least {SHORTEST} seconds, got {seconds}",
                        field=field,
                        next_step="In shorter slots the time of an answer tells more of the rows.",
                    )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InputError(
                "TLS needs both a certificate and its key",
                field="tls_cert" if self.tls_cert is None else "tls_key",
                next_step="Give --tls-cert and --tls-key.",
            )
        for name in self.streams:
            if not _STREAM.fullmatch(name):
                raise InputError(
                    f"names a stream {name!r}, which no address can hold",
                    field="streams",
                    next_step="Use at most 64 letters, digits, - and _.",
                )
        refuse_unusable(self.security_contact, self.security_expires)
        if self.login is not None:
            self.login.check()
        if self.behind_proxy is not None:
            _refuse_no_address(self.behind_proxy)
        if self.tls_cert is None and self.behind_proxy is None and not is_loopback(self.host):
            raise InputError(
                f"{self.host} is reached from other machines, and keys would travel unencrypted",
                field="host",
                next_step="Give --tls-cert and --tls-key, or --behind-proxy ADDRESS of a proxy that does "
                "TLS, or listen at 127.0.0.1.",
            )

    def for_web(self, folder: Path, ledgers: Mapping[str, str] | None = None) -> WebSettings:
        """Return what web processes are told; ``ledgers`` are those of tables that none is set for."""
        return WebSettings(
            state=_place(folder, self.web_state or self.state),
            outbox=_place(folder, self.outbox),
            ledgers={**(ledgers or {}), **{name: _place(folder, at) for name, at in self.ledgers.items()}},
            limits=self.limits,
            only_from=self.behind_proxy,
            security_contact=self.security_contact,
            security_expires=self.security_expires,
            encrypted=self.tls_cert is not None or self.behind_proxy is not None,
            login=None if self.login is None else self.login.for_web(folder),
            streams={name: _place(folder, at) for name, at in self.streams.items()},
        )

    def log_at(self, folder: Path) -> str | None:
        """Return the file of the log."""
        return None if self.log is None else _place(folder, self.log)

    def for_workers(self, folder: Path, *, alone: bool = False) -> WorkerSettings:
        """Return what workers are told; ``alone`` are those whose web processes run elsewhere."""
        beyond = alone or self.behind_proxy is not None or not is_loopback(self.host)
        return WorkerSettings(
            folder=str(folder.absolute()),
            state=_place(folder, self.state),
            outbox=_place(folder, self.outbox),
            slots=self.slots,
            slots_of=self.slots_of,
            memory=None if self.memory_mib is None else self.memory_mib * 2**20,
            seconds=self.seconds,
            confirm=beyond if self.confirm is None else self.confirm,
            login=None if self.login is None else self.login.for_workers(),
        )


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "0.0.0.0", "::", "10.0.0.1")]
    [True, True, False, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = {str(item[4][0]).partition("%")[0] for item in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(ipaddress.ip_address(item).is_loopback for item in found)


def _refuse_no_address(text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise InputError(
            f"must be the address of one proxy, got {text!r}",
            field="behind_proxy",
            next_step="Give the address that it connects from, such as 10.0.0.2.",
        ) from None


def _place(folder: Path, text: str) -> str:
    return text if "://" in text else str((folder / text).absolute())

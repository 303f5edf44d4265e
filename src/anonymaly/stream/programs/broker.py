# SPDX-License-Identifier: Apache-2.0
"""A small broker for trying out and for tests; it enforces the same password and access files as Mosquitto.

It keeps everything in memory: a restart forgets sessions and messages, which the parties survive.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqtt.broker import Broker
from amqtt.contexts import Action, BaseContext, BrokerConfig, ListenerConfig
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from anonymaly.errors import InputError
from anonymaly.stream.programs.mosquitto import AccessList, password_matches


class Passwords(BaseAuthPlugin):  # type: ignore[misc]  # untyped
    """Lets in the users that the password file names."""

    @dataclass
    class Config:
        """Where the file is."""

        path: str

    def __init__(self, context: BaseContext) -> None:
        super().__init__(context)
        lines = Path(self.config.path).read_text("ascii").splitlines()
        self._lines = {line.partition(":")[0]: line for line in lines}

    async def authenticate(self, *, session: Session) -> bool | None:
        """Check a password; a session belongs to the user of the same name alone."""
        user, password = session.username or "", session.password or ""
        known = password_matches(self._lines.get(user, ""), user, password)
        return known and session.client_id == user


class Access(BaseTopicPlugin):  # type: ignore[misc]
    """Allows what the access file grants."""

    @dataclass
    class Config:
        """Where the file is."""

        path: str

    def __init__(self, context: BaseContext) -> None:
        super().__init__(context)
        self._access = AccessList.parse(Path(self.config.path).read_text("ascii"))

    async def topic_filtering(
        self, *, session: Session | None = None, topic: str | None = None, action: Action | None = None
    ) -> bool | None:
        """Check one topic."""
        user = (session.username if session else None) or ""
        return self._access.allows(user, "write" if action == Action.PUBLISH else "read", topic or "")


def run_broker(folder: Path, listening: Callable[[], object] | None = None) -> None:
    """Serve, on this machine alone, the users and topics of a folder that `set_up` wrote.

    ``listening`` is called once parties can connect. A signal ends the broker at once: it has nothing to
    save, and closing its connections one by one may never end (`asyncio.wait_for` may swallow a cancellation
    in Python 3.11).
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    for name in ("amqtt", "transitions", "asyncio"):  # they log every connection that ends
        logging.getLogger(name).setLevel(logging.CRITICAL)
    asyncio.run(_serve(folder, listening))


async def _serve(folder: Path, listening: Callable[[], object] | None) -> None:
    plugins = {"Passwords": "passwords", "Access": "access"}
    broker = Broker(
        BrokerConfig(
            listeners={"default": ListenerConfig(bind=f"127.0.0.1:{port_of(folder)}", **_tls(folder))},
            plugins={f"{__name__}.{name}": {"path": str(folder / file)} for name, file in plugins.items()},
        )
    )
    await broker.start()
    if listening is not None:
        listening()
    await asyncio.Event().wait()


def _tls(folder: Path) -> dict[str, Any]:
    """Return the broker's certificate, if it has one; it asks for none."""
    if not (folder / "server.crt").exists():
        return {}
    return {"ssl": True, "certfile": folder / "server.crt", "keyfile": folder / "server.key"}


def port_of(folder: Path) -> int:
    """Return the port that a folder's ``mosquitto.conf`` names."""
    for line in (folder / "mosquitto.conf").read_text("utf-8").splitlines():
        if line.startswith("listener "):
            return int(line.split()[1])
    raise InputError("mosquitto.conf names no listener", field="DIR", next_step="Run: anonymaly stream init")

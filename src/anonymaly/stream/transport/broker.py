# SPDX-License-Identifier: Apache-2.0
"""A small broker for trying out and for tests; it enforces the same password and access files as Mosquitto.

It keeps everything in memory: a restart forgets sessions and messages, which the parties survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amqtt.broker import Broker
from amqtt.contexts import Action, BaseContext, BrokerConfig, ListenerConfig
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from anonymaly.stream.transport.mosquitto import AccessList, password_matches


class Passwords(BaseAuthPlugin):
    """Lets in whoever the password file names."""

    @dataclass
    class Config:
        """Where the file is."""

        path: str

    def __init__(self, context: BaseContext) -> None:
        super().__init__(context)
        lines = Path(self.config.path).read_text("ascii").splitlines()
        self._lines = {line.partition(":")[0]: line for line in lines}

    async def authenticate(self, *, session: Session) -> bool | None:
        """Check a password; a session belongs to the user of the same name, and to nobody else."""
        user, password = session.username or "", session.password or ""
        known = password_matches(self._lines.get(user, ""), user, password)
        return known and session.client_id == user


class Access(BaseTopicPlugin):
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


def small_broker(folder: Path, port: int) -> Broker:
    """Return a broker on this machine alone; ``start`` and ``shutdown`` are coroutines."""
    here = __name__
    return Broker(
        BrokerConfig(
            listeners={"default": ListenerConfig(bind=f"127.0.0.1:{port}")},
            plugins={
                f"{here}.Passwords": {"path": str(folder / "passwords")},
                f"{here}.Access": {"path": str(folder / "access")},
            },
        )
    )

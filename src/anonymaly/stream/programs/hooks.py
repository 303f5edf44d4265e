# SPDX-License-Identifier: Apache-2.0
"""Tell somebody of a fault: a program that gets the event, or an address that it is posted to.

An event is told until that worked, a few times over; after a restart it goes on with the first that was not.
Those from before there was a hook are left out. No shell is involved: what is told is no part of a command.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from anonymaly.errors import InputError
from anonymaly.stream.programs.setup import is_local
from anonymaly.stream.programs.watching import Event, is_fault
from anonymaly.stream.protocol.journal import Journal

logger = logging.getLogger("anonymaly.stream")
LONGEST = 30.0  # seconds for a program or an address
TRIES, PAUSE = 3, 5.0  # and seconds between them
NOT_TOLD = (OSError, http.client.HTTPException, subprocess.SubprocessError)  # what telling may fail by


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows nobody elsewhere: the event would stay behind, and the new address was not checked."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the answer what it is, which is a failure."""


@dataclass(frozen=True)
class Hooks:
    """Whom to tell."""

    program: Path | None = None
    address: str | None = None

    def check(self) -> None:
        """Refuse what could never work."""
        if self.program is not None and not self.program.is_file():
            raise InputError(f"{self.program} is no file", field="on-fault", next_step="Give a program.")
        if self.address is None:
            return
        parts = _split(self.address)
        if parts.scheme == "http" and not is_local(parts.hostname or ""):
            raise InputError(
                f"would tell {parts.hostname} which sensors are faults where anybody on the way can read it",
                field="webhook",
                next_step="Use https, or have a program send it: --on-fault.",
            )

    @property
    def wanted(self) -> bool:
        """Whether anybody is to be told."""
        return self.program is not None or self.address is not None

    def tell(self, event: Event) -> None:
        """Tell of one event, or raise one of `NOT_TOLD`."""
        body = json.dumps(event).encode()
        if self.program is not None:
            subprocess.run(  # noqa: S603  (the owner's own program, without a shell)
                [str(self.program.absolute())], input=body, check=True, timeout=LONGEST
            )
        if self.address is not None:
            request = urllib.request.Request(  # noqa: S310  (checked above)
                self.address, body, {"Content-Type": "application/json"}
            )
            # A proxy would read what goes to this machine in clear; through it https is a tunnel.
            proxies: dict[str, str] | None = None if urlsplit(self.address).scheme == "https" else {}
            opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _StayHere)
            with opener.open(request, timeout=LONGEST):
                pass


class Telling:
    """What was told, from the owner's journal; and the queue of what is to be told."""

    def __init__(self, hooks: Hooks, journal: Journal, newest: dict[str, int]) -> None:
        self._hooks = hooks
        self._journal = journal
        self._queue: asyncio.Queue[Event] = asyncio.Queue()
        with journal.transaction():
            for kind, number in newest.items():
                if journal.read_note(_note(kind)) is None:  # the first time: nothing of what was before
                    journal.note(_note(kind), str(number))

    def take(self, event: Event) -> None:
        """Queue an event if it is a fault that was not told before."""
        if event["event"] == "reading":
            return  # in clear: it goes nowhere by itself
        last = self._journal.read_note(_note(event["event"]))
        if is_fault(event) and event["number"] > int(last or 0):
            self._queue.put_nowait(event)

    async def run(self) -> None:
        """Tell of one event after the other, until cancelled."""
        while True:
            event = await self._queue.get()
            await self._tell(event)
            with self._journal.transaction():
                self._journal.note(_note(event["event"]), str(event["number"]))

    async def _tell(self, event: Event) -> None:
        for tries in range(1, TRIES + 1):
            try:
                await asyncio.to_thread(self._hooks.tell, event)
            except NOT_TOLD as problem:
                name = type(problem).__name__
                logger.warning("owner: try %d of %d to tell of a fault failed (%s)", tries, TRIES, name)
                await asyncio.sleep(PAUSE)
            else:
                return


def _split(address: str) -> SplitResult:
    """Return the parts of an address to which something can be posted as it stands."""
    try:
        parts = urlsplit(address)
        # What is not looked at before somebody connects.
        _ = parts.port, (parts.hostname or "").encode("idna")
        asked = parts.path + parts.query
        is_plain = asked.isascii() and asked.isprintable() and " " not in asked and "@" not in parts.netloc
        if is_plain and parts.scheme in ("https", "http") and parts.hostname:
            return parts
    except ValueError:
        pass
    raise InputError(
        "is no address that can be posted to",
        field="webhook",
        next_step="Begin it with https://, write other letters, and spaces, as %C3%A9, and give no user or "
        "password: a program can send them, --on-fault.",
    )


def _note(kind: str) -> str:
    return f"told {kind}"

# SPDX-License-Identifier: Apache-2.0
"""All parties and a broker in one event loop, each with its own key, password, journal and connection."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from anonymaly.stream.programs.broker import run_broker
from anonymaly.stream.programs.carrier import Carrier, Watcher, end
from anonymaly.stream.programs.config import LoadedConfig
from anonymaly.stream.programs.connection import Connection
from anonymaly.stream.programs.pool_config import load_config
from anonymaly.stream.programs.register import BROKER, CONFIG
from anonymaly.stream.programs.setup import set_up
from anonymaly.stream.protocol.declaration import StreamDeclaration
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.owner import Owner
from anonymaly.stream.protocol.parties import Outgoing, Party

BUDGET = 10**6
HUNG = 60.0  # seconds without what must come; only a test that would never end gets there
# Imported once; the fork server's children have it at once.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["anonymaly.stream.programs.program", "anonymaly.stream.programs.broker"])


def prepare(
    folder: Path, port: int, declaration: StreamDeclaration, sensors: tuple[str, ...] = ("room-1",)
) -> None:
    """Write everything that the parties need."""
    set_up(folder, sensors, declaration, budget=BUDGET, port=port)


def load(folder: Path, party: str) -> LoadedConfig:
    return load_config(folder / party / CONFIG)


@asynccontextmanager
async def broker(folder: Path) -> AsyncIterator[None]:
    """A broker in a process of its own, which is killed when the block ends and takes all it had with it."""
    listening = PROCESSES.Event()
    process = PROCESSES.Process(target=run_broker, args=(folder / BROKER, listening.set), daemon=True)
    process.start()
    try:
        assert await asyncio.to_thread(listening.wait, HUNG), "the broker does not start"
        yield
    finally:
        process.kill()
        process.join()


class WatchedCarrier(Carrier):
    """A carrier that a test can wait for."""

    def __init__(self, party: Party, connection: Connection, watch: Watcher | None) -> None:
        self._news = asyncio.Event()
        self._also = watch
        super().__init__(party, connection, self._note)

    def _note(self, message: Message, outgoing: list[Outgoing]) -> None:
        if self._also is not None:
            self._also(message, outgoing)
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the messages that this party took in make a condition true."""
        async with asyncio.timeout(HUNG):
            while True:
                self._news.clear()
                if condition():
                    return
                await self._news.wait()

    async def connected(self) -> None:
        """Wait until the broker has let the party in."""
        async with asyncio.timeout(HUNG):
            await self.connection.connected.wait()


@asynccontextmanager
async def running(folder: Path, party: str, watch: Watcher | None = None) -> AsyncIterator[WatchedCarrier]:
    """One party, carried until the block ends."""
    loaded = load(folder, party)
    with loaded.make_party() as machine:
        carrier = WatchedCarrier(machine, loaded.make_connection(), watch)
        task = asyncio.create_task(carrier.run())
        try:
            yield carrier
            if task.done():
                task.result()
        finally:
            await carrier.hand_over()
            await end([task])


def judged(party: Party) -> dict[tuple[str, int], bytes]:
    assert isinstance(party, Owner)
    return {(item.verdict.sensor, item.verdict.window): item.verdict.to_bytes() for item in party.verdicts()}

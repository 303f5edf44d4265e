# SPDX-License-Identifier: Apache-2.0
"""All parties and a broker in one event loop, each with its own key, password, journal and connection."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from anonymaly.stream.config import LoadedConfig, PartyConfig
from anonymaly.stream.declaration import Declaration
from anonymaly.stream.owner import Owner
from anonymaly.stream.parties import Party
from anonymaly.stream.setup import BROKER, CONFIG, set_up
from anonymaly.stream.transport.broker import small_broker
from anonymaly.stream.transport.courier import Courier, Watcher

BUDGET = 10**6


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def prepare(folder: Path, declaration: Declaration, sensors: tuple[str, ...] = ("room-1",)) -> None:
    """Write everything that the parties need."""
    set_up(folder, sensors, declaration, budget=BUDGET, port=free_port())


def load(folder: Path, party: str) -> LoadedConfig:
    return PartyConfig.load(folder / party / CONFIG)


@asynccontextmanager
async def broker(folder: Path) -> AsyncIterator[None]:
    running = small_broker(folder / BROKER)
    await running.start()
    try:
        yield
    finally:
        await running.shutdown()


@asynccontextmanager
async def running(folder: Path, party: str, watch: Watcher | None = None) -> AsyncIterator[Courier]:
    """One party, carried until the block ends."""
    loaded = load(folder, party)
    with loaded.make_party() as machine:
        courier = Courier(machine, loaded.make_post(), watch)
        task = asyncio.create_task(courier.run())
        try:
            yield courier
            if task.done():
                task.result()
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what must come; what never comes ends as the test's own failure."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def judged(party: Party) -> dict[tuple[str, int], bytes]:
    assert isinstance(party, Owner)
    return {(item.verdict.sensor, item.verdict.window): item.verdict.to_bytes() for item in party.verdicts()}

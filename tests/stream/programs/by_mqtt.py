# SPDX-License-Identifier: Apache-2.0
"""All parties and a broker in one event loop, each with its own key, password, journal and connection."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from anonymaly.stream.programs.broker import port_of, run_broker
from anonymaly.stream.programs.carrier import Courier, Watcher, end
from anonymaly.stream.programs.config import LoadedConfig, PartyConfig
from anonymaly.stream.programs.setup import BROKER, CONFIG, set_up
from anonymaly.stream.protocol.declaration import Declaration
from anonymaly.stream.protocol.owner import Owner
from anonymaly.stream.protocol.parties import Party

BUDGET = 10**6
# Imported once; the fork server's children have it at once.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["anonymaly.stream.programs.program", "anonymaly.stream.programs.broker"])


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
    """A broker in a process of its own, which is killed when the block ends and takes all it had with it."""
    process = PROCESSES.Process(target=run_broker, args=(folder / BROKER,), daemon=True)
    process.start()
    try:
        async with asyncio.timeout(60):
            while not is_open(port_of(folder / BROKER)):
                await asyncio.sleep(0.01)
        yield
    finally:
        process.kill()
        process.join()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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
            await courier.hand_over()
            await end([task])


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what must come; what never comes ends as the test's own failure."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def judged(party: Party) -> dict[tuple[str, int], bytes]:
    assert isinstance(party, Owner)
    return {(item.verdict.sensor, item.verdict.window): item.verdict.to_bytes() for item in party.verdicts()}

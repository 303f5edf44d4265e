# SPDX-License-Identifier: Apache-2.0
"""The parties of a pool as programs: servers that look at the clock, sensors with times, an owner."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

from anonymaly.errors import BudgetExceeded, InputError
from anonymaly.stream.counting.messages import VerdictShares
from anonymaly.stream.counting.owner import PoolJudgement, PoolOwner
from anonymaly.stream.counting.sensor import CountingSensor
from anonymaly.stream.programs.answering import answering
from anonymaly.stream.programs.carrier import Carrier, end
from anonymaly.stream.programs.inputs import STANDARD_INPUT
from anonymaly.stream.programs.pool_config import LoadedPool
from anonymaly.stream.programs.pool_origins import note_origins
from anonymaly.stream.programs.program import (
    MOST_UNSETTLED,
    Event,
    Report,
    Work,
    owner_work,
    read_ahead,
    run,
    send_paid,
)
from anonymaly.stream.programs.readings import Batch, Form, read_lines
from anonymaly.stream.protocol.messages import Message
from anonymaly.stream.protocol.parties import Outgoing
from anonymaly.stream.protocol.pool import WORDS
from anonymaly.stream.protocol.pooled.messages import PooledSuspects, PooledVerdict
from anonymaly.stream.protocol.pooled.owner import PooledJudgement, PooledOwner
from anonymaly.stream.protocol.pooled.sensor import PooledSensor
from anonymaly.stream.protocol.windows import Moment

TICK = 1.0  # seconds between looks at the clock
READ_AT_ONCE = 64  # readings of a file
NANOSECONDS = 10**9
LARGEST_SECONDS = 10**11  # numbers beyond are nanoseconds, as in line protocol

PoolSensor = CountingSensor | PooledSensor
Batches = Callable[[PoolSensor], Iterator[Batch]]


def run_pool_server(loaded: LoadedPool, report: Report) -> None:
    """Run a server until it is stopped; report every window that it finished, or named suspects of."""

    def tell(outgoing: Iterable[Outgoing]) -> None:
        for item in outgoing:
            if isinstance(item.message, VerdictShares | PooledVerdict | PooledSuspects):
                report(describe_window(item.message))

    with loaded.make_server_of_pool() as server:

        async def work(carrier: Carrier) -> None:
            while True:
                made = await carrier.call(server.tick, time.time())
                await carrier.send(made)
                tell(made)
                await asyncio.sleep(TICK)

        def watch(_: Message, outgoing: list[Outgoing]) -> None:
            tell(outgoing)

        asyncio.run(run(loaded, server, work, watch))


def run_pool_owner(
    loaded: LoadedPool,
    report: Report,
    *,
    after: int = 0,
    until: int | None = None,
    beside: Work | None = None,
    owner: PoolOwner | PooledOwner | None = None,
) -> None:
    """Run the owner of a pool, as `run_owner` does that of other streams."""
    with nullcontext(owner) if owner is not None else loaded.make_owner_of_pool() as party:
        news = asyncio.Event()
        work = owner_work(party, describe_judgement, report, news, after=after, until=until, beside=beside)
        asyncio.run(run(loaded, party, work, lambda *_: news.set()))


def run_pool_sensor(
    loaded: LoadedPool,
    report: Report,
    batches: Batches,
    name: str = STANDARD_INPUT,
    *,
    wait: bool = False,
    stay: bool = False,
) -> None:
    """Send readings until none are left, the budget is spent or it is stopped; report every batch.

    A file that was sent before may be given again: windows only go up, so nothing of it is sent twice.
    ``name`` is what the sensor remembers of the input. With ``wait`` a spent budget does not end it, and with
    ``stay`` a sensor that keeps readings goes on answering requests.
    """
    with loaded.make_sensor_of_pool() as sensor:
        work = answering(sensor, report, sensor_work(sensor, report, batches, name, wait=wait), stay=stay)
        asyncio.run(run(loaded, sensor, work, None))


def run_pool_sensors(parties: Sequence[LoadedPool], report: Report, batches: Batches, name: str) -> None:
    """Run many sensors in one process, each over its own connection: to show a pool, not to run one."""

    async def work(loaded: LoadedPool, sensor: PoolSensor) -> None:
        carrier = Carrier(sensor, loaded.make_connection())
        carrying = asyncio.create_task(carrier.run())
        working = asyncio.ensure_future(sensor_work(sensor, report, batches, name)(carrier))
        done, _ = await asyncio.wait([carrying, working], return_when=asyncio.FIRST_COMPLETED)
        await end([carrying, working])
        for task in done:
            task.result()

    async def work_all(sensors: list[PoolSensor]) -> None:
        await asyncio.gather(*map(work, parties, sensors))

    with ExitStack() as stack:
        sensors: list[PoolSensor] = []
        for loaded in parties:
            sensors.append(loaded.make_sensor_of_pool())
            stack.enter_context(sensors[-1])
        asyncio.run(work_all(sensors))


def sensor_work(
    sensor: PoolSensor, report: Report, batches: Batches, name: str, *, wait: bool = False
) -> Callable[[Carrier], Coroutine[Any, Any, None]]:
    """Return what a sensor does once its messages are carried."""

    def send(batch: Batch) -> list[Outgoing]:
        moments = [moment_of(reading.time) for reading in batch]
        note_origins(sensor, name, batch, moments)
        return sensor.send([reading.values for reading in batch], moments)

    async def work(carrier: Carrier) -> None:
        await carrier.call(sensor.warm_up)
        await carrier.connection.connected.wait()
        try:
            async for batch in read_ahead(batches(sensor)):
                await carrier.settled(MOST_UNSETTLED)
                await carrier.send(await send_paid(carrier, send, batch, wait=wait))
                report(await carrier.call(describe_sensor, sensor, "sent"))
        except BudgetExceeded:
            await carrier.settled(0)  # what was paid for still arrives
            raise
        await carrier.settled(0)
        report(await carrier.call(describe_sensor, sensor, "arrived"))

    return work


def from_file(path: str | Path, sensor: PoolSensor, form: Form | None = None) -> Iterator[Batch]:
    """Return a file's readings, some at a time."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as lines:
            readings = read_lines(lines, sensor.declaration.names, form)
            while batch := list(itertools.islice(readings, READ_AT_ONCE)):
                yield batch
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(
            f"cannot read {path} ({type(problem).__name__})",
            field="input",
            next_step="Give a file in UTF-8 that you may read.",
        ) from None


def from_pipe(lines: Iterable[str], sensor: PoolSensor, form: Form | None = None) -> Iterator[Batch]:
    """Return the readings of a pipe one by one: each leaves at once."""
    for reading in read_lines(lines, sensor.declaration.names, form):
        yield [reading]


def moment_of(text: str | None) -> Moment:
    """Return a reading's time as it was given; now, if it was not.

    Examples
    --------
    >>> moment_of("1700000000"), moment_of("1700000000000000000"), moment_of("2026-01-01T00:00:00+00:00")
    (1700000000.0, 1700000000.0, '2026-01-01T00:00:00+00:00')
    """
    if text is None:
        return time.time()
    try:
        number = float(text)
    except ValueError:
        return text
    return number / NANOSECONDS if abs(number) > LARGEST_SECONDS else number


def describe_sensor(sensor: PoolSensor, event: str) -> Event:
    """Return how far a sensor is and what it has spent, as plain data."""
    return {
        "event": event, "sensor": sensor.name, "readings": sensor.accepted, "spent": sensor.spent,
        "remaining": sensor.remaining, "repeated": sensor.repeated, "late": sensor.late,
        "unacknowledged": sensor.waiting,
    }  # fmt: skip


def describe_window(message: VerdictShares | PooledVerdict | PooledSuspects) -> Event:
    """Return how a window ended at a server, or how many suspects a detector named, as plain data."""
    about = {"pool": message.sensor, "window": message.window, "contributed": int(message.members.sum())}
    if isinstance(message, PooledSuspects):
        return {"event": "suspects", **about, "suspects": int(message.suspects.sum())}
    return {"event": "window", **about, "state": WORDS[message.state]}


def describe_judgement(judgement: PoolJudgement | PooledJudgement) -> Event:
    """Return a verdict as plain data."""
    about = {
        "event": "verdict", "number": judgement.number, "window": judgement.window,
        "state": judgement.state, "contributed": len(judgement.contributed),
        "missing": list(judgement.missing), "known": judgement.known,
    }  # fmt: skip
    if isinstance(judgement, PoolJudgement):
        return {**about, "faults": list(judgement.faults), "lies": list(judgement.lies)}
    return {
        **about, "look_at": list(judgement.look_at), "confirmed": len(judgement.confirmed),
        "inward": len(judgement.inward), "covered": len(judgement.covered),
    }  # fmt: skip

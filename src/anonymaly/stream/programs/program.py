# SPDX-License-Identifier: Apache-2.0
"""A party as a program: it connects, works until it is stopped, and hands over what it has to send."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import nullcontext, suppress
from typing import Any, Protocol

import numpy as np

from anonymaly.errors import BudgetExceeded
from anonymaly.noise import Noise
from anonymaly.stream.programs.answering import NewAnswers, answering
from anonymaly.stream.programs.carrier import Carrier, end
from anonymaly.stream.programs.config import LoadedConfig
from anonymaly.stream.programs.inputs import Inputs
from anonymaly.stream.programs.readings import Batch
from anonymaly.stream.protocol.fetching_owner import Fetch
from anonymaly.stream.protocol.messages import Message, Suspects, Verdict
from anonymaly.stream.protocol.owner import AlarmEntry, Judgement, Owner
from anonymaly.stream.protocol.parties import Outgoing, Party
from anonymaly.stream.protocol.perturb import perturb
from anonymaly.stream.protocol.sensor import Sensor

logger = logging.getLogger("anonymaly.stream")
MOST_UNSETTLED = 16  # messages of a sensor without a receipt, beyond which it takes no more readings
MOST_BATCHES = 2  # read ahead
LOOK_AGAIN = 5.0  # seconds until a sensor without budget looks whether it was raised

Event = dict[str, Any]
Report = Callable[[Event], object]
Work = Callable[[Carrier], Awaitable[None]]


def run_server(loaded: LoadedConfig, report: Report) -> None:
    """Run the detector or the corrector until it is stopped; report every window."""

    def watch(_: Message, outgoing: list[Outgoing]) -> None:
        for item in outgoing:
            if isinstance(item.message, Suspects | Verdict):
                report(describe(item.message))

    with loaded.make_party() as party:
        asyncio.run(run(loaded, party, None, watch))


class Judging(Protocol):
    """An owner, whatever the protocol."""

    def verdicts(self, after: int = 0) -> Iterator[Any]:
        """Return what was judged behind a number, oldest first."""

    def alarms(self, after: int = 0) -> list[AlarmEntry]:
        """Return what was found wrong behind a number, oldest first."""

    def fetches(self) -> list[Fetch]:
        """Return all that was asked for, oldest first."""


def run_owner(
    loaded: LoadedConfig,
    report: Report,
    *,
    after: int = 0,
    until: int | None = None,
    beside: Work | None = None,
    owner: Owner | None = None,
) -> None:
    """Run the owner until it is stopped or has ``until`` verdicts; report every verdict and alarm once.

    ``beside`` runs beside it, once what an earlier run had is reported; ``owner`` is one that is open.
    """
    with nullcontext(owner) if owner is not None else loaded.make_owner() as party:
        news = asyncio.Event()
        work = owner_work(party, describe_judgement, report, news, after=after, until=until, beside=beside)
        asyncio.run(run(loaded, party, work, lambda *_: news.set()))


def owner_work(
    owner: Judging,
    describe_verdict: Callable[[Any], Event],
    report: Report,
    news: asyncio.Event,
    *,
    after: int = 0,
    until: int | None = None,
    beside: Work | None = None,
) -> Work:
    """Return what an owner does once its messages are carried; ``news`` is set when one has come."""
    last, alarms, answers = after, 0, NewAnswers(owner.fetches)

    def report_new() -> None:
        nonlocal last, alarms
        for event in answers.take():
            report(event)
        for alarm in owner.alarms(alarms):
            report(describe_alarm(alarm))
            alarms = alarm.number
        for judgement in owner.verdicts(last):
            report(describe_verdict(judgement))
            last = judgement.number

    async def follow() -> None:
        while until is None or last < until:
            news.clear()
            await news.wait()
            report_new()

    async def work(carrier: Carrier) -> None:
        report_new()
        if until is not None and last >= until:
            return
        tasks = [asyncio.create_task(follow())]
        if beside is not None:
            tasks.append(asyncio.create_task(_await(beside(carrier))))
        try:
            # What runs beside it ends only by failing, and that must not wait for the next verdict.
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await end(tasks)

    return work


def run_sensor(
    loaded: LoadedConfig,
    report: Report,
    batches: Callable[[Inputs], Iterator[Batch]],
    size: int | None = None,
    *,
    wait: bool = False,
    stay: bool = False,
) -> None:
    """Send readings until none are left, the budget is spent or it is stopped; report every batch.

    With ``wait`` a spent budget does not end it: it goes on once the budget was raised. With ``stay`` a
    sensor that keeps readings goes on answering requests.
    """
    with loaded.make_sensor() as sensor:
        inputs = Inputs(sensor, size)

        def send(batch: Batch) -> list[Outgoing]:
            inputs.note(batch, *sensor.next_place)
            return sensor.send([reading.values for reading in batch], [reading.time for reading in batch])

        async def work(carrier: Carrier) -> None:
            await carrier.call(_warm_up, sensor)
            await carrier.connection.connected.wait()  # a broker that never lets it in costs nothing
            try:
                async for batch in read_ahead(batches(inputs)):
                    await carrier.settled(MOST_UNSETTLED)
                    await carrier.send(await send_paid(carrier, send, batch, wait=wait))
                    report(await carrier.call(describe_sensor, sensor, "sent"))
                await carrier.send(await carrier.call(sensor.flush))
            except BudgetExceeded:
                await carrier.settled(0)  # what was paid for still arrives
                raise
            await carrier.settled(0)
            report(await carrier.call(describe_sensor, sensor, "arrived"))

        asyncio.run(run(loaded, sensor, answering(sensor, report, work, stay=stay), None))


async def send_paid(
    carrier: Carrier, send: Callable[[Batch], list[Outgoing]], batch: Batch, *, wait: bool
) -> list[Outgoing]:
    """Have a sensor send a batch; with ``wait`` a spent budget does not end it, and it looks for more."""
    told = False
    while True:
        try:
            return await carrier.call(send, batch)
        except BudgetExceeded as problem:
            if not wait:
                raise
            if not told:
                logger.warning("%s: waiting: %s", carrier.party.address, problem)
            told = True
        await asyncio.sleep(LOOK_AGAIN)


def _warm_up(sensor: Sensor) -> None:
    """Load the compiled noise before anything is charged: it takes a while, and a kill would cost budget."""
    perturb(sensor.declaration, np.zeros((1, len(sensor.declaration.columns))), Noise.system())


async def run(
    loaded: LoadedConfig,
    party: Party,
    work: Work | None,
    watch: Callable[[Message, list[Outgoing]], object] | None,
) -> None:
    """Carry a party's messages until its work is done or a signal comes."""
    carrier = Carrier(party, loaded.make_connection(), watch)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    # The client leaves tasks behind when a connection breaks, which asyncio would log at length.
    loop.set_exception_handler(lambda _, context: logger.debug("%s", context.get("message")))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(carrier.run()),
        asyncio.create_task(stopped.wait()),
    ]
    if work is not None:
        tasks.append(asyncio.create_task(_await(work(carrier))))
    told = asyncio.create_task(_tell_once_connected(carrier, loaded))
    done, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await carrier.hand_over()
    await end([*running, told])
    for task in done:
        task.result()


async def _tell_once_connected(carrier: Carrier, loaded: LoadedConfig) -> None:
    await carrier.connection.connected.wait()
    loaded.when_connected()


async def _await(work: Awaitable[None]) -> None:
    await work


async def read_ahead(batches: Iterable[Batch]) -> AsyncIterator[Batch]:
    """Yield what a thread reads, a little ahead; its wait for input does not keep the program running."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Batch | BaseException | None] = asyncio.Queue(MOST_BATCHES)

    def put(item: Batch | BaseException | None) -> None:
        asyncio.run_coroutine_threadsafe(queue.put(item), loop).result()

    def read() -> None:
        try:
            for batch in batches:
                put(batch)
            put(None)
        except (RuntimeError, CancelledError):  # the program has ended
            return
        except BaseException as problem:
            with suppress(RuntimeError, CancelledError):
                put(problem)

    threading.Thread(target=read, daemon=True, name="input").start()
    while (item := await queue.get()) is not None:
        if isinstance(item, BaseException):
            raise item
        yield item


def describe_sensor(sensor: Sensor, event: str) -> Event:
    """Return how far a sensor is and what it has spent, as plain data."""
    return {
        "event": event,
        "sensor": sensor.name,
        "readings": sensor.accepted,
        "spent": sensor.spent,
        "remaining": sensor.remaining,
        "beyond": sensor.beyond,
        "unacknowledged": sensor.waiting,
    }


def describe(message: Suspects | Verdict) -> Event:
    """Return what a server says about a window, as plain data."""
    about = {"sensor": message.sensor, "window": message.window}
    if isinstance(message, Suspects):
        return {
            "event": "suspects", **about, "readings": len(message.members),
            "suspects": int(message.members.sum()),
        }  # fmt: skip
    return {
        "event": "verdict", **about, "complete": message.complete, "readings": len(message.found),
        "found": int(message.found.sum()), "confirmed": int(message.confirmed.sum()),
        "inward": int(message.inward.sum()), "covered": int(message.covered.sum()),
        "covered_far": int(message.covered_far.sum()),
    }  # fmt: skip


def describe_alarm(alarm: AlarmEntry) -> Event:
    """Return what is wrong with a sensor, as plain data."""
    return {
        "event": "alarm", "number": alarm.number, "sensor": alarm.sensor, "window": alarm.window,
        "reporter": alarm.reporter, "reason": alarm.reason.name.lower(), "says": alarm.reason.words,
    }  # fmt: skip


def describe_judgement(judgement: Judgement) -> Event:
    """Return a verdict with its number and the readings to look at, counted from 0 in their window."""
    verdict = judgement.verdict
    return {"number": judgement.number, **describe(verdict), "look_at": verdict.found.nonzero()[0].tolist()}

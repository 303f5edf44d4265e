# SPDX-License-Identifier: Apache-2.0
"""Carries a party's messages over its connection, and sends each again until a receipt comes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from anonymaly.errors import InputError
from anonymaly.stream.programs.connection import Connection
from anonymaly.stream.programs.outbox import Outbox
from anonymaly.stream.protocol.messages import Message, MessageReceipt
from anonymaly.stream.protocol.notices import Alarm
from anonymaly.stream.protocol.parties import Outgoing, Party

MOST_SENT = 128  # messages whose receipts one party waits for at a time
MOST_KEPT = 256  # messages without a receipt in a server's journal, beyond which it takes no readings
MOST_QUEUED = 64  # messages about to be handed to the broker
LONGEST_HAND_OVER = 2.0  # seconds
PUBLISHERS = 8  # handed over at the same time, so that one slow acknowledgement delays no other

logger = logging.getLogger("anonymaly.stream")
Result = TypeVar("Result")
Watcher = Callable[[Message, list[Outgoing]], object]


class Carrier:
    """A party and its connection.

    The party works in a thread of its own, so that a large window does not keep the connection waiting.

    Parameters
    ----------
    party : Party
        Whose messages to carry.
    connection : Connection
        Over what.
    watch : callable, optional
        Called with every message that the party has taken in, and what it sends in return.
    """

    def __init__(self, party: Party, connection: Connection, watch: Watcher | None = None) -> None:
        self.party = party
        self.connection = connection
        self._watch = watch
        self._thread = ThreadPoolExecutor(1, "party")
        self._outbox = Outbox(MOST_SENT)
        self._queue: asyncio.Queue[Message] = asyncio.Queue(MOST_QUEUED)
        self._receipt_came = asyncio.Event()

    async def run(self) -> None:
        """Carry messages until cancelled."""
        work = [self.connection.run(), self._take_in(), self._start_again(), self._send_again()]
        work += [self._publish() for _ in range(PUBLISHERS)]
        tasks = [asyncio.create_task(part) for part in work]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:  # none ends but by failing
                task.result()
        finally:
            await end(tasks)
            self._thread.shutdown()

    async def hand_over(self) -> None:
        """Wait until everything is handed to the broker, or it takes too long: the journal has it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_HAND_OVER):
                await self._queue.join()

    async def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Run something of the party's in its thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def send(self, outgoing: Iterable[Outgoing]) -> None:
        """Send what the party wants sent; what there is no room for is in its journal and follows later."""
        messages = [item.message for item in outgoing]
        receipts = [message for message in messages if isinstance(message, MessageReceipt)]
        others = [message for message in messages if not isinstance(message, MessageReceipt)]
        for message in receipts + self._outbox.add(others, self._now()):
            await self._queue.put(message)

    async def settled(self, most: int) -> None:
        """Wait until at most ``most`` messages lack a receipt."""
        while True:
            self._receipt_came.clear()
            if await self.call(lambda: self.party.waiting) <= most:
                return
            await self._receipt_came.wait()

    async def _take_in(self) -> None:
        while True:
            message = await self.connection.arrived()
            try:
                outgoing = await self.call(self._handle, message)
            except InputError as problem:
                self.connection.drop(message.sender, problem)
                continue
            await self.send(outgoing)
            self._tell_of_alarms(message, outgoing)
            if isinstance(message, MessageReceipt):
                self._outbox.confirm(message)
                self._receipt_came.set()
                if self._outbox.behind and len(self._outbox) <= MOST_SENT // 2:
                    await self._catch_up()
            if self._watch is not None:
                self._watch(message, outgoing)

    def _handle(self, message: Message) -> list[Outgoing]:
        # A recipient that is away for long must not fill the disk; windows that were begun are finished.
        if message.sender.startswith("sensor/") and self.party.waiting >= MOST_KEPT:
            raise InputError(
                f"came when {MOST_KEPT} messages had no receipt",
                field="message",
                next_step="Nothing is lost: its sender sends it again.",
            )
        return self.party.handle(message)

    def _tell_of_alarms(self, message: Message, outgoing: list[Outgoing]) -> None:
        for found in (message, *(item.message for item in outgoing)):
            # What this party noticed itself, and what the owner is told.
            if isinstance(found, Alarm) and self.party.address in (found.reporter, found.recipient):
                about = (self.party.address, found.sensor, found.window, found.reason.words)
                logger.warning("%s: ALARM: sensor/%s, window %d: it %s", *about)

    async def _catch_up(self) -> None:
        unsettled = [item.message for item in await self.call(self.party.resume)]
        for message in self._outbox.catch_up(unsettled, self._now()):
            await self._queue.put(message)

    async def _start_again(self) -> None:
        """Send everything again over a new connection: the broker may have forgotten."""
        while True:
            await self.connection.connected.wait()
            self._outbox.clear()
            await self._catch_up()
            await self.connection.lost.wait()

    async def _send_again(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            for message in self._outbox.take_due(self._now()):
                await self._queue.put(message)

    async def _publish(self) -> None:
        while True:
            message = await self._queue.get()
            try:
                await self.connection.publish(message)
            finally:
                self._queue.task_done()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()  # does not depend on the date


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended: `asyncio.wait_for` may swallow a cancellation (Python 3.11)."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=1)

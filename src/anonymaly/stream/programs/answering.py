# SPDX-License-Identifier: Apache-2.0
"""Requests for single readings in the programs of sensor and owner: told of, decided, answered, shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from anonymaly.stream.programs.carrier import Carrier, end
from anonymaly.stream.protocol.fetching_owner import Fetch
from anonymaly.stream.protocol.giving_sensor import GivingSensor, WaitingRequest

LOOK_AGAIN = 5.0  # seconds until a sensor looks whether its holder decided

Event = dict[str, Any]
Work = Callable[[Carrier], Awaitable[None]]


def answering(sensor: GivingSensor, report: Callable[[Event], object], work: Work, *, stay: bool) -> Work:
    """Return what a sensor does that can be asked for readings: its work, and answers beside it.

    With ``stay`` it goes on answering when its work is done.
    """

    async def answer(carrier: Carrier) -> None:
        told: set[str] = set()
        while True:
            await carrier.send(await carrier.call(sensor.answer))
            for request in await carrier.call(sensor.requests):
                if request.name not in told:
                    report(describe_request(sensor.name, request))
                    told.add(request.name)
            await asyncio.sleep(LOOK_AGAIN)

    async def both(carrier: Carrier) -> None:
        working, beside = asyncio.ensure_future(work(carrier)), asyncio.create_task(answer(carrier))
        try:
            done, _ = await asyncio.wait([working, beside], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if stay:
                await beside
        finally:
            await end([working, beside])

    return both if sensor.keep else work


class NewAnswers:
    """What came of requests since an owner's program started."""

    def __init__(self, fetches: Callable[[], list[Fetch]]) -> None:
        self._fetches = fetches
        self._last = max((item.answered or 0 for item in fetches()), default=0)

    def take(self) -> list[Event]:
        """Return the answers that are new, in the order of their arrival."""
        new = [item for item in self._fetches() if (item.answered or 0) > self._last]
        new.sort(key=lambda item: item.answered or 0)
        self._last = max((item.answered or 0 for item in new), default=self._last)
        return [describe_fetch(item) for item in new]


def describe_fetch(fetch: Fetch) -> Event:
    """Return what came of a request, but not the reading: a program's output may lie in logs for long."""
    return {
        "event": "reading", "number": fetch.number, "sensor": fetch.sensor, "window": fetch.window,
        "place": fetch.place, "state": fetch.state,
    }  # fmt: skip


def describe_request(sensor: str, request: WaitingRequest) -> Event:
    """Return a request that waits for a decision, as plain data."""
    return {
        "event": "request", "sensor": sensor, "request": request.name, "window": request.window,
        "place": request.place, "reason": request.reason, "kept": request.kept,
    }  # fmt: skip

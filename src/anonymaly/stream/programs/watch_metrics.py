# SPDX-License-Identifier: Apache-2.0
"""What an owner sees of a stream, for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping

from anonymaly.errors import InputError
from anonymaly.stream.programs.watching import SensorState, Watched
from anonymaly.stream.programs.watching_pool import WatchedPool

LONGEST = 5  # seconds of a request
_Of = list[tuple[str, str, str, Callable[[SensorState], int]]]
_OF_SENSORS: _Of = [
    ("windows_total", "counter", "windows with a verdict on the sensor", lambda state: state.windows),
    ("readings_total", "counter", "readings that were judged", lambda state: state.readings),
    ("to_look_at_total", "counter", "readings to look at", lambda state: state.to_look_at),
    ("alarms_total", "counter", "alarms", lambda state: state.alarms),
]
_OF_STREAMS: _Of = [
    ("given_up_total", "counter", "windows of which nothing was judged", lambda state: state.given_up)
]
_OF_POOLS: _Of = [
    ("missed", "gauge", "newest judged windows in a row without it", lambda state: state.missed),
    ("lies_total", "counter", "windows in which a counter lied about it", lambda state: state.lies),
]


def metrics_of(watched: Watched, now: float) -> str:
    """Return everything in the text format of Prometheus."""
    return "\n".join([*_metrics(watched, now), ""])


async def serve_metrics(watched: Watched, port: int) -> None:
    """Answer every request of this machine with the metrics."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(LONGEST):
                while (await reader.readline()).strip():  # to the end of the request's head
                    pass
                body = metrics_of(watched, asyncio.get_running_loop().time()).encode()
                head = (
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                )
                writer.write(head.encode() + body)
                await writer.drain()
        except (TimeoutError, OSError, ValueError):
            pass
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(answer, "127.0.0.1", port)
    except OSError as problem:
        raise InputError(
            f"cannot be listened at ({type(problem).__name__})",
            field="metrics",
            next_step="Give a port that no other program has.",
        ) from None
    async with server:
        await server.serve_forever()


def _metrics(watched: Watched, now: float) -> Iterator[str]:
    yield from _metric("connected", "gauge", "1 while the broker is there", {"": int(watched.connected)})
    yield from _metric("unacknowledged", "gauge", "messages without a receipt", {"": watched.unacknowledged})
    late = {"": int(watched.has_late_verdict(now))}
    yield from _metric("verdicts_late", "gauge", "1 while any verdict takes much longer than before", late)
    ended = {f'{{state="{state}"}}': number for state, number in sorted(watched.states.items())}
    yield from _metric("ended_total", "counter", "windows by how they ended", ended)
    for name, kind, text, value in _OF_SENSORS + (
        _OF_POOLS if isinstance(watched, WatchedPool) else _OF_STREAMS
    ):
        yield from _by_sensor(name, kind, text, {of: value(item) for of, item in watched.sensors.items()})
    behind = {name: int(watched.is_late(name, now)) for name in watched.sensors}
    yield from _by_sensor("late", "gauge", "1 while it takes much longer than before", behind)
    spent = {name: watched.spent(name) for name in watched.sensors}
    yield from _by_sensor("epsilon_judged", "gauge", "epsilon of the readings that were judged", spent)


def _by_sensor(name: str, kind: str, text: str, values: Mapping[str, object]) -> Iterator[str]:
    labelled = {f'{{sensor="{sensor}"}}': value for sensor, value in values.items()}
    return _metric(name, kind, text, labelled)


def _metric(name: str, kind: str, text: str, values: Mapping[str, object]) -> Iterator[str]:
    yield f"# HELP anonymaly_stream_{name} {text}"
    yield f"# TYPE anonymaly_stream_{name} {kind}"
    for labels, value in values.items():
        yield f"anonymaly_stream_{name}{labels} {value}"

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream watch``: the owner's program with a table of all sensors, hooks and metrics."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from anonymaly.cli.output import out, plain
from anonymaly.cli.stream import Config, Lines, app, load_party

if TYPE_CHECKING:
    from anonymaly.stream.programs.carrier import Carrier
    from anonymaly.stream.programs.watching import Watched

REFRESH = 1.0  # seconds


@app.command("watch")
def watch(
    config: Config,
    until: Annotated[int | None, typer.Option("--until", min=1, help="End with this verdict.")] = None,
    on_fault: Annotated[
        Path | None,
        typer.Option("--on-fault", metavar="PROGRAM", help="Run it for each fault, with JSON on its input."),
    ] = None,
    webhook: Annotated[
        str | None, typer.Option("--webhook", metavar="URL", help="Post each fault there, as JSON.")
    ] = None,
    metrics: Annotated[
        int | None,
        typer.Option("--metrics", metavar="PORT", min=1, max=65535, help="For Prometheus, on this machine."),
    ] = None,
    lines: Lines = False,
) -> None:
    """Run the owner and show windows, verdicts, late sensors, what was spent and alarms."""
    from anonymaly.stream.programs.hooks import Hooks, Telling  # noqa: PLC0415
    from anonymaly.stream.programs.program import run_owner  # noqa: PLC0415
    from anonymaly.stream.programs.watching import Watched  # noqa: PLC0415

    hooks = Hooks(on_fault, webhook)
    hooks.check()
    loaded = load_party(config, "owner")
    watched = Watched(loaded.config.streams)
    live = nullcontext() if lines or not out.is_terminal else Live(console=out, auto_refresh=False)
    telling: Telling | None = None
    began = False

    def report(event: dict[str, Any]) -> None:
        watched.take(event, asyncio.get_running_loop().time() if began else None)
        if telling is not None:
            telling.take(event)
        if lines:
            print(json.dumps(event), flush=True)

    async def beside(carrier: Carrier) -> None:
        nonlocal began
        began = True
        tasks = [asyncio.create_task(_show(carrier, watched, live if isinstance(live, Live) else None))]
        if telling is not None:
            tasks.append(asyncio.create_task(telling.run()))
        if metrics is not None:
            tasks.append(asyncio.create_task(_serve(watched, metrics)))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    with loaded.make_owner() as owner:
        if hooks.wanted:
            newest = {
                "verdict": max((item.number for item in owner.verdicts()), default=0),
                "alarm": max((item.number for item in owner.alarms()), default=0),
            }
            telling = Telling(hooks, owner.journal, newest)
        with live:
            run_owner(loaded, report, until=until, owner=owner, beside=beside)
    if not lines:
        out.print(table_of(watched, 0.0))


async def _show(carrier: Carrier, watched: Watched, live: Live | None) -> None:
    while True:
        watched.connected = carrier.connection.connected.is_set()
        watched.unacknowledged = await carrier.call(lambda: carrier.party.waiting)
        if live is not None:
            live.update(table_of(watched, asyncio.get_running_loop().time()), refresh=True)
        await asyncio.sleep(REFRESH)


async def _serve(watched: Watched, port: int) -> None:
    """Answer every request with the metrics."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(5):
                while (await reader.readline()).strip():  # to the end of the request's head
                    pass
                body = watched.metrics(asyncio.get_running_loop().time()).encode()
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

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


def table_of(watched: Watched, now: float) -> Table:
    """Return all sensors as a table."""
    state = "connected" if watched.connected else "not connected"
    table = Table(box=None, pad_edge=False, title=f"{state}, {watched.unacknowledged} messages on their way")
    for title in (
        "sensor",
        "windows",
        "newest",
        "to look at",
        "given up",
        "ε judged",
        "last verdict",
        "alarms",
    ):
        table.add_column(title, justify="left" if title in ("sensor", "last verdict") else "right")
    for name, sensor in watched.sensors.items():
        waits = sensor.waits(now) if now else None
        last = "" if waits is None else f"{waits:,.0f} s ago{', LATE' if sensor.is_late(now) else ''}"
        newest = "" if sensor.newest is None else str(sensor.newest)
        table.add_row(
            *plain(
                name, f"{sensor.windows:,}", newest, f"{sensor.to_look_at:,} of {sensor.readings:,}",
                f"{sensor.given_up:,}", watched.spent(name), last, f"{sensor.alarms:,}",
            )
        )  # fmt: skip
    return table

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream watch``: the owner's program with a table, hooks, metrics and a status to keep."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.live import Live

from anonymaly.cli.output import out
from anonymaly.cli.stream import Config, Lines, app, load_party
from anonymaly.cli.stream_tables import shown_of
from anonymaly.core.files import why_not_written
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.stream.counting.owner import PoolOwner
    from anonymaly.stream.programs.carrier import Carrier
    from anonymaly.stream.programs.config import LoadedConfig
    from anonymaly.stream.programs.watching import Watched
    from anonymaly.stream.protocol.owner import Owner
    from anonymaly.stream.protocol.pooled.owner import PooledOwner

    Run = Callable[..., None]

REFRESH = 1.0  # seconds
KEEP_EVERY = 10  # refreshes after which a status is written anew though nothing has come

logger = logging.getLogger("anonymaly.stream")


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
    status: Annotated[
        Path | None,
        typer.Option("--status", metavar="FILE", help="Keep what is shown there, for a server's console."),
    ] = None,
    lines: Lines = False,
) -> None:
    """Run the owner and show windows, verdicts, late sensors, what was spent and alarms."""
    from anonymaly.stream.programs.hooks import Hooks, Telling  # noqa: PLC0415
    from anonymaly.stream.programs.watch_metrics import serve_metrics  # noqa: PLC0415

    hooks = Hooks(on_fault, webhook)
    hooks.check()
    if status is not None and (wrong := why_not_written(status)) is not None:
        raise InputError(wrong, field="status", next_step="Name a file in a folder that there is.")
    owner, watched, run = _open(load_party(config, "owner"))
    beside: list[Callable[[Carrier], Coroutine[Any, Any, None]]] = []
    telling: Telling | None = None
    began = False

    def report(event: dict[str, Any]) -> None:
        watched.take(event, asyncio.get_running_loop().time() if began else None)
        if telling is not None:
            telling.take(event)
        if lines:
            print(json.dumps(event), flush=True)

    async def work(carrier: Carrier) -> None:
        nonlocal began
        began = True
        tasks = [asyncio.create_task(start(carrier)) for start in beside]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    with ExitStack() as stack:
        stack.enter_context(owner)
        if hooks.wanted:
            newest = {
                "verdict": max((item.number for item in owner.verdicts()), default=0),
                "alarm": max((item.number for item in owner.alarms()), default=0),
            }
            told = telling = Telling(hooks, owner.journal, newest)
            beside.append(lambda _: told.run())
        if metrics is not None:
            beside.append(lambda _: serve_metrics(watched, metrics))
        live = None
        if out.is_terminal and not lines:
            live = stack.enter_context(Live(console=out, auto_refresh=False))
        beside.append(partial(_show, watched, live, status))
        run(report, until=until, owner=owner, beside=work)
    watched.connected = False
    if status is not None:
        _keep(watched, status, runs=False)
    if not lines:
        out.print(_drawn(watched, 0.0, runs=False))


def _open(loaded: LoadedConfig) -> tuple[Owner | PoolOwner | PooledOwner, Watched, Run]:
    """Open the owner; return it with what is to be watched, and what runs it."""
    from anonymaly.stream.programs.pool_config import LoadedPool  # noqa: PLC0415
    from anonymaly.stream.programs.pool_program import run_pool_owner  # noqa: PLC0415
    from anonymaly.stream.programs.program import run_owner  # noqa: PLC0415
    from anonymaly.stream.programs.watching import WatchedSensors  # noqa: PLC0415
    from anonymaly.stream.programs.watching_pool import WatchedPool  # noqa: PLC0415

    watched: Watched
    if isinstance(loaded, LoadedPool):
        config = loaded.config
        watched = WatchedPool(config.pool, config.sensors, config.retired, config.earlier)
        return loaded.make_owner_of_pool(), watched, partial(run_pool_owner, loaded)
    watched = WatchedSensors(loaded.config.streams, loaded.config.retired, loaded.config.before)
    return loaded.make_owner(), watched, partial(run_owner, loaded)


async def _show(watched: Watched, live: Live | None, status: Path | None, carrier: Carrier) -> None:
    """Look at the connection, draw, and keep the status, again and again."""
    kept: tuple[Any, ...] | None = None
    ago = 0
    while True:
        watched.connected = carrier.connection.connected.is_set()
        watched.unacknowledged = await carrier.call(lambda: carrier.party.waiting)
        now = asyncio.get_running_loop().time()
        if live is not None:
            live.update(_drawn(watched, now), refresh=True)
        if status is not None:
            seen = (watched.connected, watched.states.total(), len(watched.alarms))
            ago += 1
            if seen != kept or ago >= KEEP_EVERY:
                await asyncio.to_thread(_keep, watched, status, now)
                kept, ago = seen, 0
        await asyncio.sleep(REFRESH)


def _keep(watched: Watched, path: Path, now: float = 0.0, *, runs: bool = True) -> None:
    """Write the status; a disk that is full stops no stream."""
    try:
        watched.status(now, runs=runs).write(path)
    except OSError as problem:
        logger.warning("owner: cannot write %s (%s)", path, type(problem).__name__)


def _drawn(watched: Watched, now: float, *, runs: bool = True) -> RenderableType:
    return Group(*shown_of(watched.status(now, runs=runs)))

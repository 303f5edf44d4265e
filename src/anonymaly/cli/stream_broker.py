# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream broker``: a small broker, to try a stream without Mosquitto."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from anonymaly.cli.output import err
from anonymaly.errors import InputError
from anonymaly.stream.setup import BROKER

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `stream init` wrote.")]


def broker(folder: Folder) -> None:
    """Run a small broker on this machine, to try a stream without Mosquitto; it forgets when it ends."""
    run_broker = broker_here()

    async def serve() -> None:
        task = asyncio.ensure_future(run_broker(folder / BROKER))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await task

    try:
        asyncio.run(serve())
    except asyncio.CancelledError:
        err.print("stopped")


def broker_here() -> Callable[[Path], Coroutine[Any, Any, None]]:
    """Return the small broker, if what it needs is installed."""
    try:
        from anonymaly.stream.transport.broker import run_broker  # noqa: PLC0415  (an extra)
    except ImportError:
        raise InputError(
            "the small broker is not installed",
            next_step="Run: pip install 'anonymaly[broker]', or use Mosquitto.",
        ) from None
    for name in ("amqtt", "transitions"):  # they tell of every connection that ends
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return run_broker

# SPDX-License-Identifier: Apache-2.0
"""``anonymaly stream broker``: a small broker, to try a stream without Mosquitto."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from anonymaly.errors import InputError
from anonymaly.stream.programs.setup import BROKER

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `stream init` wrote.")]


def broker(folder: Folder) -> None:
    """Run a small broker on this machine, to try a stream without Mosquitto; it forgets when it ends."""
    broker_here()(folder / BROKER)


def broker_here() -> Callable[[Path], None]:
    """Return the small broker, if what it needs is installed."""
    try:
        from anonymaly.stream.programs.broker import run_broker  # noqa: PLC0415  (an extra)
    except ImportError:
        raise InputError(
            "the small broker is not installed",
            next_step="Run: pip install 'anonymaly[broker]', or use Mosquitto.",
        ) from None
    return run_broker

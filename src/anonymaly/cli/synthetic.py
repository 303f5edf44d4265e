# SPDX-License-Identifier: Apache-2.0
"""``--synthetic`` and ``--draw``, of commands whose answers rows can be drawn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymaly.ask.synthetic import read_count
from anonymaly.ask.table_files import WRITERS, writer_for
from anonymaly.errors import InputError

Synthetic = Annotated[
    Path | None,
    typer.Option(
        "--synthetic",
        metavar="FILE",
        help=f"Also write synthetic rows, marked as such; free. Endings: {', '.join(WRITERS)}.",
    ),
]
Draw = Annotated[int, typer.Option("--draw", min=0, help="How many synthetic rows.")]
USUAL_ROWS = 1000


def refuse_rows(path: Path | None, count: int) -> None:
    """Raise an error, before anything is charged, if synthetic rows could not be written."""
    if path is None and count != USUAL_ROWS:
        raise InputError(
            "says how many synthetic rows, and none are written",
            field="draw",
            next_step="Name a file with --synthetic as well.",
        )
    if path is not None:
        writer_for(path, field="synthetic")
        read_count(count, field="draw")


def said_of(path: Path, count: int) -> str:
    """Say that rows were written."""
    return f"{count:,} synthetic rows, marked as such: {path}"

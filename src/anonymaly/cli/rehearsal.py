# SPDX-License-Identifier: Apache-2.0
"""``--rehearse``, which every question's command has: it answers from invented rows, and prints only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from anonymaly.ask.query import Query
from anonymaly.cli.opening import opened
from anonymaly.cli.output import progress_bar, say, say_json
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError

Rehearse = Annotated[
    bool,
    typer.Option("--rehearse", help="Answer from invented rows: free, and the table is not read."),
]


def refuse_files(*, preview: bool, **files: Path | None) -> None:
    """Refuse what a rehearsal must not do: write files that nothing tells from real ones."""
    for field, path in files.items():
        if path is not None:
            raise InputError(
                "would be a file of invented rows that nothing tells from a real one",
                field=field,
                next_step="Leave it out of a rehearsal: what is printed says that it is invented.",
            )
    if preview:
        raise InputError(
            "and rehearse are two things", field="preview", next_step="Give one of them at a time."
        )


def say_rehearsal(manifest: str, query_for: Callable[[Declaration], Query], as_json: bool) -> None:
    """Rehearse a question and print the answer, which says that its rows are invented."""
    with opened(manifest) as asker, progress_bar():  # the table need not even be there
        answer = asker.rehearse(query_for(asker.declaration))
    if not as_json:
        say(str(answer))
        return
    value = answer.value
    # A model's numbers would fill the screen; they are not worth a file.
    described = {"value": dict(value.describe())} if hasattr(value, "describe") else {}
    say_json({**answer.to_dict(), **described})

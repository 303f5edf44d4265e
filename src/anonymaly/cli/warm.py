# SPDX-License-Identifier: Apache-2.0
"""``anonymaly warm``: compile everything now, or remove what was compiled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from anonymaly.cli.output import AsJson, err, on_screen, say, say_json
from anonymaly.core.code_folder import SETTING, CodeFolder, code_folder
from anonymaly.core.compiling import heard_by
from anonymaly.errors import InputError

Clear = Annotated[
    bool, typer.Option("--clear", help="Remove what was compiled, of all versions, and nothing else.")
]


def warm(clear: Clear = False, as_json: AsJson = False) -> None:
    """Compile everything now, so that no command waits for it later; reads no rows, spends nothing.

    Questions are asked about invented rows. What is compiled is kept in the folder that is named, and is
    compiled again only by another version, for another processor, or after --clear.
    """
    folder = code_folder()
    if clear:
        _say({**_facts(folder), "removed": folder.clear(), "size": folder.size()}, as_json)
        return
    if folder.problem is not None:
        raise InputError(
            f"cannot keep what is compiled: {folder.problem}",
            field=SETTING,
            next_step=f"Set {SETTING} to a folder that only you can write to.",
        )
    started = time.monotonic()
    compiled = _compile_all()
    seconds = round(time.monotonic() - started, 1)
    _say({**_facts(folder), "compiled": compiled, "seconds": seconds}, as_json)


def _facts(folder: CodeFolder) -> dict[str, Any]:
    return {"folder": None if folder.path is None else str(folder.path), "size": folder.size()}


def _say(facts: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(facts)
        return
    if "removed" in facts:
        say(f"removed {facts['removed']} compiled functions; what is left takes {_bytes(facts['size'])}")
    elif facts["compiled"]:
        say(f"compiled {facts['compiled']} functions in {facts['seconds']} seconds")
    else:
        say("everything was compiled already")
    say(f"folder: {facts['folder']} ({_bytes(facts['size'])})")


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _compile_all() -> int:
    """Use every compiled function; return how many were compiled for it."""
    from anonymaly.cli.kernel_families import all_kernels, use_all  # noqa: PLC0415  (heavy)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    compiled: list[str] = []
    hidden = not err.is_terminal
    with Progress(*columns, console=err, transient=True, disable=hidden) as bars, on_screen(bars):
        total = len(all_kernels())
        task = bars.add_task("functions", total=total)

        def hear(name: str, began: bool) -> None:
            if not began:
                compiled.append(name)
                bars.update(task, completed=min(len(compiled), total))

        with heard_by(hear):
            for family in use_all():
                bars.update(task, description=family)
        bars.update(task, completed=total)
    return len(compiled)

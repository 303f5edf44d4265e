# SPDX-License-Identifier: Apache-2.0
"""``anonymaly owner confirm``: on the host, by the server's files; never over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymaly.ask.server_words import printable
from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.cli.owner_keys import Output, reserve, warn
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.server.confirming import Host

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The served folder, on the machine of the tables.")
]
Number = Annotated[
    int | None, typer.Argument(metavar="[NUMBER]", help="The proposal; without it, all that wait are listed.")
]
Decline = Annotated[bool, typer.Option("--decline", help="End the proposal; nothing is changed.")]
StateAt = Annotated[
    str | None,
    typer.Option("--state", metavar="URL", help="What the server's processes share, if serve was told."),
]


def confirm(
    folder: Folder,
    number: Number = None,
    decline: Decline = False,
    state: StateAt = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Confirm on the host what an owner proposed over HTTP; without a number, list what waits."""
    from anonymaly.server.confirming import Host  # noqa: PLC0415  (--help needs no database)

    with Host.open(folder, state) as host:
        waiting = host.waiting()
        if number is None:
            _list(waiting, as_json)
            return
        found = next((item for item in waiting if item["number"] == number), None)
        if found is not None and not as_json:
            warn(printable(f"Proposal {number} of {found['person']} (key {found['key']}): {found['says']}."))
            for line in found.get("changes", ()):
                warn(f"  {line}")
        done: Mapping[str, Any] = {}
        if decline:
            host.decline(number)
        elif found is not None and found["kind"] == "key":
            _confirm_key(host, number, output)
        else:
            done = host.confirm(number, say)
    ended = "declined" if decline else "confirmed"
    if as_json:
        files = {name: done[name] for name in ("entry", "file", "before", "left") if name in done}
        say_json({"number": number, "state": ended, **files})
    else:
        say(f"Proposal {number} is {ended}.")
        _say_files(done)


def _say_files(done: Mapping[str, Any]) -> None:
    """Say which file an amendment changed, or which one is to be changed by hand."""
    if "left" in done:
        say(f"Entry {done['entry']} is in force, and {done['file']} could not be changed ({done['why']}).")
        say(f"No worker answers for the table until it is: mv {done['left']} {done['file']}")
    elif "file" in done:
        say(f"Entry {done['entry']} is in force. {done['file']} says the same now; what it was before is in")
        say(f"{done['before']}.")


def _confirm_key(host: Host, number: int, output: Path | None) -> None:
    """Make a key that was proposed, into a new file or onto a terminal."""
    if output is None:
        if not sys.stdout.isatty():
            raise InputError(
                "is needed where no terminal is: a key must not end up in a log",
                field="output",
                next_step="Give, for instance, --output new.key.",
            )
        host.confirm(number, lambda text: say(f"The new key, shown only now:\n\n    {text}\n"))
        return
    file = reserve(output)

    def write(text: str) -> None:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())

    try:
        with file:
            host.confirm(number, write)
    except BaseException:
        output.unlink(missing_ok=True)
        raise


def _list(waiting: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        say_json({"proposals": waiting})
    elif not waiting:
        say("Nothing waits to be confirmed.")
    for item in () if as_json else waiting:
        why = "" if item["reason"] is None else f" ({' '.join(str(item['reason']).split())})"
        who = f"{item['person']}, key {item['key']}"
        say(printable(f"{item['number']}  {item['created_at']}  {who}: {item['says']}{why}"))
        for line in item.get("changes", ()):
            say(f"     {line}")
        if "declaration" in item:
            say("     Long lists are cut here: --json has all that it declares.")

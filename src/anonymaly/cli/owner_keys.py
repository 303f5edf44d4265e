# SPDX-License-Identifier: Apache-2.0
"""``anonymaly owner``, its keys: list, make and revoke them. The text of a new one is shown once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO

import typer

from anonymaly.ask.remote_owner import USUAL_DAYS, IssuedKey, RemoteOwner, Role
from anonymaly.cli.opening import administered
from anonymaly.cli.output import AsJson, err, out, say, say_json
from anonymaly.cli.owner_words import as_typed, day, keys_table
from anonymaly.errors import InputError

MOST_DAYS = 3650

Url = Annotated[
    str, typer.Argument(metavar="URL", help="A table's address on a server; ANONYMALY_KEY is an owner's key.")
]
Person = Annotated[str, typer.Argument(metavar="PERSON", help="Whose key it is; grants are for this name.")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The key's public part, as `owner keys` lists it.")]
RoleOf = Annotated[Role, typer.Option("--role", help="What the person may do; analyst if not given.")]
Label = Annotated[str, typer.Option("--label", help="What the key is for, in a few words.")]
Days = Annotated[
    int, typer.Option("--days", min=1, max=MOST_DAYS, help="After how many days it ends; 90 if not given.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="A new file for the key, which only you can read."),
]


def warn(text: str) -> None:
    """Say what is about to happen, beside what a program reads."""
    err.print(text, markup=False)


def keys(url: Url, as_json: AsJson = False) -> None:
    """List the keys of a server by their public parts."""
    with administered(url) as owner:
        found = owner.keys()
    if as_json:
        say_json({"keys": found})
    else:
        out.print(keys_table(found))


def key(
    url: Url,
    person: Person,
    role: RoleOf = "analyst",
    label: Label = "",
    days: Days = USUAL_DAYS,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Make a key, shown once: on a terminal, or in a new file."""
    if output is None and not sys.stdout.isatty():
        raise InputError(
            "is needed where no terminal is: a key must not end up in a log",
            field="output",
            next_step=f"Give, for instance, --output {person}.key.",
        )
    with administered(url) as owner, as_typed():
        # Looked up before: nothing may fail between the making of a key and its showing.
        granted = [item["analyst"] for item in owner.grants() if item["standing"]]
        make = partial(owner.make_key, person, role, label=label, expires_in_days=days)
        made = make() if output is None else _make_into(reserve(output), output, owner, make)
    told = {"id": made.id, "person": person, "role": role, "label": label, "expires_at": made.expires_at}
    if as_json:
        say_json({**told, **({"text": made.text} if output is None else {"output": str(output)})})
        return
    if output is None:
        say(f"A key of {person} ({role}), shown only now:\n\n    {made.text}\n")
    else:
        say(f"The key of {person} ({role}) is in {output}, which only you can read.")
    say(f"Its id is {made.id}, and it ends at {day(made.expires_at)} (UTC).")
    if role == "analyst" and person not in granted:
        say(f"{person} may ask nothing yet: anonymaly owner grant {url} {person} --epsilon 1 --reason …")


def revoke_key(url: Url, id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key for good."""
    with administered(url) as owner, as_typed():
        found = owner.keys()
        for item in (item for item in found if item["id"] == id and item["revoked_at"] is None):
            own = ", the one that you use now" if owner.who["key"] == id else ""
            warn(f"Revokes the {item['role']}'s key {id} of {item['person']}{own}: for good.")
        owner.revoke_key(id)
    if as_json:
        say_json({"id": id, "revoked": True})
    else:
        say(f"The key {id} is revoked.")


def reserve(path: Path) -> TextIO:
    """Open a new file for a key before there is one: a key that cannot be written would be lost."""
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except FileExistsError:
        raise InputError(
            f"there is a file {path} already, and no key was made",
            field="output",
            next_step="Name a new one: a key is written over nothing.",
        ) from None
    except OSError as problem:
        raise InputError(
            f"cannot write {path} ({problem.strerror or type(problem).__name__}), and no key was made",
            field="output",
            next_step="Name a file in a folder that can be written to.",
        ) from None


def _make_into(file: TextIO, path: Path, owner: RemoteOwner, make: Callable[[], IssuedKey]) -> IssuedKey:
    """Make a key and write it to a file that is open; without a key, no file stays."""
    made = None
    try:
        with file:
            made = make()
            file.write(f"{made.text}\n")
            file.flush()
            os.fsync(file.fileno())
        return made
    except BaseException as problem:
        path.unlink(missing_ok=True)
        if made is None or not isinstance(problem, OSError):
            raise
        owner.revoke_key(made.id)
        raise InputError(
            f"cannot write {path} ({problem.strerror}), and the key was revoked",
            field="output",
            next_step="Name a file on another disk.",
        ) from None

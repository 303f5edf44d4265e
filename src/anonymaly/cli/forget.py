# SPDX-License-Identifier: Apache-2.0
"""``anonymaly forget``: erase answers, or a person's name, from what a server keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.errors import InputError

Served = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that is served.")]
OlderThan = Annotated[
    int | None,
    typer.Option("--older-than", metavar="DAYS", min=0, help="Erase answers that are older than that."),
]
OneAnswer = Annotated[
    int | None,
    typer.Option("--answer", metavar="NUMBER", help="Erase the answer of this entry; needs --table."),
]
OfTable = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Erase answers of this table.")]
Person = Annotated[
    str | None, typer.Option("--person", metavar="NAME", help="Replace a name in keys and jobs.")
]
Why = Annotated[str, typer.Option("--reason", help="Why; it is kept for good, and shown to who asks again.")]
By = Annotated[str, typer.Option("--by", help="Who erases, as the ledger keeps it.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without this, say what would be done.")]


def forget(
    folder: Served,
    reason: Why,
    older_than: OlderThan = None,
    answer: OneAnswer = None,
    table: OfTable = None,
    person: Person = None,
    by: By = "owner",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Erase answers or a person's name, for good; what was charged stays in the ledger.

    For the owner, on the machine of the store, also while the server runs. Copies in backups stay.
    """
    from anonymaly.server.forgetting import Forgetting  # noqa: PLC0415  (--help needs no database)

    if sum(item is not None for item in (older_than, answer, person)) != 1:
        raise InputError(
            "must be one of three",
            field="older-than, answer, person",
            next_step="Give --older-than DAYS, --answer NUMBER with --table NAME, or --person NAME.",
        )
    if answer is not None and table is None:
        raise InputError("must be said with --answer", field="table", next_step="Give --table NAME.")
    forgetting = Forgetting(folder, by, reason)
    if person is not None:
        found: dict[str, Any] = forgetting.person(person, do=yes)
        lines = _of_person(person, found)
    else:
        found = forgetting.answers(days=older_than, table=table, number=answer, do=yes)
        lines = [f"{name}: {_answers(numbers, done=yes)}" for name, numbers in found.items()]
    if as_json:
        say_json({"done": yes, **found} if person is not None else {"done": yes, "answers": found})
        return
    for line in lines:
        say(line)
    if not yes:
        say("Nothing was erased: add --yes to do it, for good.")


def _answers(numbers: list[int], *, done: bool) -> str:
    if not numbers:
        return "no answer to erase"
    listed = ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")
    answers = f"{len(numbers)} {'answer' if len(numbers) == 1 else 'answers'}"
    return f"{answers} {'erased' if done else 'to erase'}: {listed}"


def _of_person(person: str, found: dict[str, Any]) -> list[str]:
    stays = [f"  {number} in the ledger of {name}" for name, number in found["entries"].items() if number]
    told = f"{person}: in {found['keys']} keys and {found['jobs']} jobs, replaced by {found['instead']}"
    if not stays:
        return [told, "no ledger has the name"]
    return [told, "Entries that keep the name, because each is part of the chain:", *stays]

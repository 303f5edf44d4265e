# SPDX-License-Identifier: Apache-2.0
"""``anonymaly init``: writes a manifest to fill in, or asks for it. Bounds never come from rows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from anonymaly.cli.guide.asking import Asker, flat_answers
from anonymaly.cli.guide.dialogue import guide
from anonymaly.cli.guide.proposal import propose
from anonymaly.cli.guide.sample import look
from anonymaly.cli.guide.writing import Draft, open_fields, plain_draft, write
from anonymaly.cli.output import AsJson, err, say, say_json
from anonymaly.declare.manifest import Manifest, read_yaml
from anonymaly.engine.addresses import is_address, with_variable_for_password
from anonymaly.errors import InputError, ManifestError

Table = Annotated[str | None, typer.Option("--table", help="The table, when the source is a database.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", help="Where to write; by default NAME.yaml here.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a manifest that is there.")]
Guided = Annotated[bool, typer.Option("--guided", help="Ask on the terminal, with suggestions.")]
Answers = Annotated[
    str | None,
    typer.Option(
        "--answers",
        help="A YAML file of answers, by the keys that --guided asks; without it the rest is as suggested.",
    ),
]
Answer = Annotated[
    list[str] | None,
    typer.Option("--answer", metavar="KEY=ANSWER", help="One answer, such as person=patient_id; repeatable."),
]


def init(
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help="A CSV, Parquet or DuckDB file, or a database URL.")
    ],
    table: Table = None,
    output: Output = None,
    force: Force = False,
    guided: Guided = False,
    answers: Answers = None,
    answer: Answer = None,
    as_json: AsJson = False,
) -> None:
    """Write a manifest for a table: how it is read, its columns to declare, a budget to set."""
    name = _name(table or Path(source).name.partition(".")[0])
    path = Path(output or f"{name}.yaml")
    if path.exists() and not force:
        raise InputError(f"{path} exists", field="output", next_step="Give another --output, or --force.")
    place = _for_file(source) if is_address(source) else os.path.relpath(source, path.parent)
    if guided and as_json:
        raise InputError("has no dialogue", field="json", next_step="Give --answers instead of --guided.")
    if not (guided or answers or answer):
        draft = plain_draft(name, place, table, propose(look(source, table)))
        _finish(draft, path, as_json)
        return
    asker = Asker(_given(answers, answer or ()), asks=guided)
    try:
        draft = guide(asker, name, source, place, table)
        asker.heading(f"This is written to {path}")
        asker.say(write(draft))
        wanted = asker.confirm("write")
    except (KeyboardInterrupt, EOFError):
        err.print("\ninterrupted; nothing was written")
        raise typer.Exit(130) from None
    if wanted:
        _finish(draft, path, as_json)
    else:
        say("Nothing was written.")


def _for_file(address: str) -> str:
    """Return an address as a manifest may hold it: with a variable of the environment for a password."""
    return with_variable_for_password(address, "PGPASSWORD")


def _given(answers: str | None, single: list[str] | tuple[()]) -> dict[str, str]:
    advice = "Answers are keys with values, as `anonymaly init --guided` shows them."
    given = {} if answers is None else flat_answers(read_yaml(Path(answers), advice))
    for text in single:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} has no =", field="answer", next_step="Give KEY=ANSWER.")
        given[key.strip()] = value.strip()
    return given


def _finish(draft: Draft, path: Path, as_json: bool) -> None:
    text = write(draft)
    try:
        path.write_text(text, "utf-8")
    except OSError as problem:
        raise InputError(
            f"cannot write {path} ({type(problem).__name__})",
            field="output",
            next_step="Give another --output.",
        ) from None
    unfinished = open_fields(draft)
    if not unfinished:
        _refuse_contradictions(path)
    if as_json:
        columns = {column.column: column.type for column in draft.columns}
        say_json({"manifest": str(path), "columns": columns, "open": unfinished})
    elif unfinished:
        say(f"Wrote {path}. Open in {len(unfinished)} places: {', '.join(unfinished)}")
        say(f'Replace every "?" by what is publicly known, then run: anonymaly check {path}')
    else:
        say(f"Wrote {path}. Nothing is open. Now run: anonymaly check {path}")
        say(f"How each column is read, before anything is charged: anonymaly inspect columns {path}")


def _refuse_contradictions(path: Path) -> None:
    """Refuse answers that are right one by one and not together: a word for null that is also a category."""
    try:
        Manifest.load(path).dataset(path.parent)
    except InputError as error:
        raise ManifestError(
            f"{error.problem}; {path} is written, and cannot be used like this",
            field=error.field,
            next_step=error.next_step,
        ) from None


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-") or "table"

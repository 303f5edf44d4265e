# SPDX-License-Identifier: Apache-2.0
"""``anonymaly plan``: which ε gives a wanted error, and what an ε or a budget means in odds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anonymaly.ask.catalogue import QUESTIONS, foreign, load
from anonymaly.ask.odds import BudgetInWords
from anonymaly.cli.ask import Asked, Variation, command_of, variation_of
from anonymaly.cli.opening import opened
from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano
from anonymaly.errors import InputError

# What the command of a question takes and a plan does not.
ASKING = ("output", "preview", "rehearse", "analyst", "repeat")
# Where no ε is given and none is looked for, the plan is about this one.
USUAL = "0.1"

ForError = Annotated[
    str | None,
    typer.Option("--for-error", help="The largest error: records, or a part of 1; finds the least epsilon."),
]
PictureFile = Annotated[
    Path | None, typer.Option("--picture", metavar="FILE.svg", help="Draw the error over epsilon here.")
]

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


# The question's own options are not known before its name is, so whatever is unknown is left to it, help too.
@app.command(
    "plan", context_settings={"ignore_unknown_options": True, "allow_extra_args": True}, add_help_option=False
)
def plan(
    context: typer.Context,
    manifest: Annotated[
        str | None,
        typer.Argument(
            metavar="[MANIFEST]",
            help="The owner's YAML file, or a table's address; alone, what its budget means.",
        ),
    ] = None,
    question: Annotated[
        str | None, typer.Argument(metavar="[QUESTION]", help="A question, then its own options.")
    ] = None,
    for_error: ForError = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="Say what this budget means, without a manifest.")
    ] = None,
    picture: PictureFile = None,
    as_json: AsJson = False,
    wants_help: Annotated[bool, typer.Option("--help", help="Show this, or a question's options.")] = False,
) -> None:
    """Say which epsilon gives a wanted error; read no rows, spend nothing."""
    for word in (manifest, question):
        # An unknown option before the two is taken for one of them.
        if word is not None and word.startswith("-"):
            raise InputError(
                f"{word} belongs to a question, and none is named before it",
                field="question",
                next_step="Give the manifest and the question first, as in: "
                "anonymaly plan patients.yaml count --for-error 20.",
            )
    if question is None and wants_help:
        typer.echo(context.get_help())
    elif question is not None and manifest is not None:
        options = [
            *([] if for_error is None else ["--for-error", for_error]),
            *([] if picture is None else ["--picture", str(picture)]),
            *(["--json"] if as_json else []),
            *(["--help"] if wants_help else []),
        ]
        _refuse_budget(budget)
        _question(question).main(
            [manifest, *context.args, *options], prog_name=f"anonymaly plan MANIFEST {question}"
        )
    elif manifest is not None:
        _refuse_budget(budget)
        _refuse_alone(for_error, picture)
        with opened(manifest) as asker:
            words = asker.in_words()
        _say(words, as_json)
    elif budget is not None:
        _refuse_alone(for_error, picture)
        _say(BudgetInWords(to_nano(budget, field="budget", largest=LARGEST_TOTAL)), as_json)
    else:
        raise InputError(
            "or --budget is needed",
            field="manifest",
            next_step="As in anonymaly plan patients.yaml count --for-error 20, or plan --budget 1.",
        )


def _refuse_budget(budget: str | None) -> None:
    if budget is not None:
        raise InputError(
            "is given beside a manifest, which has one",
            field="budget",
            next_step="Leave one of the two out.",
        )


def _refuse_alone(for_error: str | None, picture: Path | None) -> None:
    for field, given in (("for_error", for_error), ("picture", picture)):
        if given is not None:
            raise InputError(
                "is about a question, and none is named",
                field=field,
                next_step=f"Name one of {', '.join(QUESTIONS)} after the manifest.",
            )


def _question(name: str) -> Any:
    """Return the command that plans one question: its options are the question's own."""
    if name not in QUESTIONS and name not in foreign():
        raise InputError(
            f"there is no question {name!r}",
            field="question",
            next_step=f"Questions: {', '.join(QUESTIONS)}.",
        )
    kind, usual = load(name), variation_of(name)

    def act(asked: Asked, for_error: str | None, picture: Path | None) -> None:
        _plan(asked, usual, for_error, picture)

    variation = Variation(
        act,
        {"for_error": (ForError, None), "picture": (PictureFile, None)},
        usual.optional | {"epsilon"},
    )
    command = command_of(kind, variation, left_out=ASKING)
    command.__doc__ = f"Plan the question {name}; read no rows, spend nothing."
    program = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    program.command(name)(command)
    return typer.main.get_command(program)


def _plan(asked: Asked, usual: Variation, for_error: str | None, picture: Path | None) -> None:
    if picture is not None and picture.suffix != ".svg":
        raise InputError(f"{picture} does not end in .svg", field="picture", next_step="Name an .svg file.")
    with opened(asked.manifest) as asker:
        query = asked.kind(**{"epsilon": USUAL, **usual.defaults(asker.declaration), **asked.fields})
        found = asker.plan(query, for_error)
    if picture is not None:
        try:
            picture.write_text(found.svg(), "utf-8")
        except OSError as problem:
            raise InputError(
                f"cannot write {picture} ({type(problem).__name__})",
                field="picture",
                next_step="Give another file.",
            ) from None
    _say(found, asked.as_json)


def _say(what: Any, as_json: bool) -> None:
    say_json(what.to_dict()) if as_json else say(str(what))

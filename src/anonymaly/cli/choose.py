# SPDX-License-Identifier: Apache-2.0
"""``anonymaly choose``: which question is mine? A dialogue on a terminal, or flags."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.prompt import Prompt

from anonymaly.cli.output import AsJson, out, say, say_json
from anonymaly.errors import InputError
from anonymaly.finding.choosing import DECISIONS, MANIFEST, Decision, advise

_FLAGS = {decision.name: decision for decision in DECISIONS}


def _flag(name: str) -> typer.models.OptionInfo:
    decision = _FLAGS[name]
    found: typer.models.OptionInfo = typer.Option(
        f"--{name}", help=f"{decision.asks} One of {', '.join(decision.choices)}."
    )
    return found


def choose(
    manifest: Annotated[
        str, typer.Argument(metavar="[MANIFEST]", help="The file that the commands are to name.")
    ] = MANIFEST,
    asks: Annotated[str | None, _flag("asks")] = None,
    protect: Annotated[str | None, _flag("protect")] = None,
    leaves: Annotated[str | None, _flag("leaves")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the question, the rule and the numbers to begin with; whatever no flag says is asked for."""
    given = {"asks": asks, "protect": protect, "leaves": leaves}
    decided = {
        name: answer if answer is not None else _decide(_FLAGS[name], as_json)
        for name, answer in given.items()
    }
    advice = advise(**decided, manifest=manifest)
    if as_json:
        say_json({"decided": decided, **advice.to_dict()})
    else:
        say(str(advice))


def _decide(decision: Decision, as_json: bool) -> str:
    """Ask on the terminal; without one, say which flag is missing."""
    if as_json or not sys.stdin.isatty():
        raise InputError(
            f"is needed where nobody can be asked: {decision.asks}",
            field=decision.name,
            next_step=f"Give --{decision.name}, one of {', '.join(decision.choices)}.",
        )
    say(decision.asks)
    for name, says in decision.choices.items():
        say(f"  {name:<10}{says}")
    return Prompt.ask("your choice", choices=list(decision.choices), console=out, show_choices=False)

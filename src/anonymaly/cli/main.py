# SPDX-License-Identifier: Apache-2.0
"""The program ``anonymaly``."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import anonymaly
from anonymaly.cli import ask, check, demo, init, ledger
from anonymaly.cli.output import err, say_json
from anonymaly.errors import AnonymalyError

app = typer.Typer(
    name="anonymaly",
    help="Find anomalies in records about people without exposing anyone.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # a pretty traceback prints local variables, and those may be rows
)
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("check")(check.check)
app.command("ask")(ask.ask)
app.command("ledger")(ledger.ledger)
ask.add_question_commands(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anonymaly {anonymaly.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find anomalies in records about people without exposing anyone."""


def run() -> None:
    """Run the program; exit code 0 done, 1 refused, 2 bad input, 130 interrupted."""
    try:
        app()
    except AnonymalyError as error:
        if "--json" in sys.argv:
            say_json(error.to_dict())
        else:
            err.print(f"{type(error).__name__}: {error}", markup=False)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        err.print("interrupted; what was charged stays charged, and the same question goes on where it was")
        sys.exit(130)
    except BrokenPipeError:
        # The reader closed the pipe (`| head`); without this Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)

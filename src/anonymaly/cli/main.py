# SPDX-License-Identifier: Apache-2.0
"""The program ``anonymaly``: the table of commands, and how errors and interruptions end it."""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from anonymaly.ask.catalogue import foreign, origin
from anonymaly.cli.commands import COMMANDS, QUESTION, ListedCommand
from anonymaly.cli.compilation import compilation_shown
from anonymaly.cli.completion import Completion
from anonymaly.cli.output import err, print_in_any_locale, say_json
from anonymaly.core.suggestions import guess
from anonymaly.errors import AnonymalyError, InputError
from anonymaly.version import __version__

MOVED = frozenset({"reproduce"})  # commands of earlier versions


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Print what an interruption means; Typer alone would end silently."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            err.print(
                "interrupted; a question that was charged is finished by asking it again, free of charge"
            )
            raise typer.Exit(130) from None

    return run


class _Commands(TyperGroup):
    """The table of commands as a group, and after it the questions of other packages."""

    _listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        # A question of another package never takes the place of a command.
        return [*COMMANDS, *(name for name in foreign() if name not in COMMANDS)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and not name.startswith("-") and not self._knows(name):
            raise InputError(
                f"there is no command {name!r}",
                next_step=f"{guess(name, self.list_commands(ctx))}`anonymaly --help` lists all commands.",
            )
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        # By name alone: a command's own help would import what takes seconds, at every press of the key.
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [Completion(name) for name in self.list_commands(ctx) if name.startswith(incomplete)]

    def _knows(self, name: str) -> bool:
        return name in COMMANDS or name in foreign() or name in MOVED

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        name = cmd_name
        if name in MOVED:
            raise InputError(
                "the papers' experiments are in the repository, not in the installed package",
                next_step="In a checkout run: make reproduce PAPER=pcor (without PAPER it lists all papers)",
            )
        if name not in COMMANDS and name not in foreign():
            return None
        # Other packages' code does not run for a list of commands either.
        entry = COMMANDS.get(name) or ListedCommand(
            QUESTION, f"A question of another package, {origin(name)}."
        )
        if self._listing and entry.line is not None:
            return TyperCommand(name, help=entry.line)
        module, _, function = entry.home.partition(":")
        found: Any = getattr(importlib.import_module(module), function)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        program = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        program.command(name)(_interruptible(found(name) if function == "question_command" else found))
        return typer.main.get_command(program)


app = typer.Typer(
    name="anonymaly",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # a pretty traceback prints local variables, and those may be rows
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anonymaly {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find anomalies in records about people, with a promise that says who is protected, and who is not."""


def _begin_log() -> None:
    """Begin the owner's log, if the environment names a file for it."""
    if log := os.environ.get("ANONYMALY_LOG"):
        try:
            logging.basicConfig(filename=log, format="%(asctime)s %(levelname)s %(name)s %(message)s")
        except OSError as problem:
            raise InputError(
                f"cannot write the log {log} ({type(problem).__name__})",
                field="ANONYMALY_LOG",
                next_step="Name a file in a folder that can be written to, or unset it.",
            ) from None


def run() -> None:
    """Run the program; exit code 0 done, 1 refused or failed, 2 bad input or place, 130 interrupted."""
    print_in_any_locale()
    try:
        _begin_log()
        with compilation_shown():
            app()
    except AnonymalyError as error:
        if "--json" in sys.argv:
            say_json(error.to_dict())
        else:
            err.print(f"{type(error).__name__}: {error}", markup=False)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # while a command was still being imported
        err.print("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader closed the pipe (`| head`); without this Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    finally:
        # Python would look through all modules for garbage once more: 0.07 of the 0.49 s of a preview.
        gc.freeze()

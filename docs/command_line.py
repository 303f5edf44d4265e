# SPDX-License-Identifier: Apache-2.0
"""Write command-line.md from the program's own help; ``--check`` says whether it is current."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import typer.main

from anonymaly.cli.main import app

PAGE = Path(__file__).with_name("command-line.md")
HEAD = """\
# Command line

Every command but `serve` and `stream broker` has `--json`. Exit codes: 0 done; 1 refused with nothing
spent, or charged and failed (`AnswerFailed`); 2 bad input, or a ledger, secret, store or file that cannot be
used; 130 interrupted.

`anonymaly --install-completion` makes the shell complete commands, options, and the columns and rules of the
manifest; `python -m anonymaly` is the same program. A value of `--record` is read by the declared type of its
column: `building=166` is text where buildings are declared as text, and a number where they are numbers.
"""


def reference() -> str:
    """Return the page: each command with its arguments and options."""
    parts = [HEAD]
    for name, command in _commands(typer.main.get_command(app), ""):
        usage = " ".join(
            parameter.metavar or (parameter.name or "").upper()
            for parameter in command.params
            if parameter.param_type_name == "argument"
        )
        lines = [
            f"## anonymaly {name} {usage}".rstrip().replace("[", "\\["),  # else a link, to Markdown
            "",
            (command.help or "").strip(),
            "",
            "| | |",
            "|---|---|",
        ]
        for parameter in command.params:
            shown = (
                (parameter.metavar or parameter.name or "")
                if parameter.param_type_name == "argument"
                else ", ".join(parameter.opts)
            )
            needed = " Required." if parameter.required and parameter.param_type_name == "option" else ""
            lines.append(
                f"| `{shown}` | {(getattr(parameter, 'help', '') or '').replace('|', '/')}{needed} |"
            )
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _commands(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Return every command with its full name, those of groups too."""
    if not hasattr(group, "list_commands"):
        yield name, group
        return
    context = typer.Context(group)
    for part in group.list_commands(context):
        yield from _commands(group.get_command(context, part), f"{name} {part}".strip())


if __name__ == "__main__":
    text = reference()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text("utf-8") != text:
            sys.exit("docs/command-line.md is not current; run: python docs/command_line.py")
    else:
        PAGE.write_text(text, "utf-8")

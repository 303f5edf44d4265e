# SPDX-License-Identifier: Apache-2.0
"""``anonymaly backup``: a consistent copy of a served folder, also while people ask."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anonymaly.cli.output import AsJson, say, say_json

Served = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that is served.")]
To = Annotated[Path, typer.Argument(metavar="TO", help="The folder to make; nothing may be there.")]


def backup(folder: Served, to: To, as_json: AsJson = False) -> None:
    """Copy ledgers, answers, anchors and keys of a served folder; neither rows nor secrets.

    What it writes verifies, and is for its owner alone. A ledger in PostgreSQL is copied by pg_dump.
    """
    from anonymaly.server.backup import back_up  # noqa: PLC0415  (--help needs no database)

    made = back_up(folder, to)
    if as_json:
        say_json(made)
    else:
        for name, table in made["tables"].items():
            say(_words(name, table))
        say(f"The copy is in {to}. Not in it: rows, secrets, and the key for TLS.")
    if any(table["missing"] for table in made["tables"].values()):
        raise typer.Exit(1)


def _words(name: str, table: dict[str, Any]) -> str:
    head = table["head"]
    checked = "verified" if table["verified"] else "dumped"
    text = f"{name}: {head['seq']} entries {checked}, head {head['hash'][:16]}…; {table['answers']} answers"
    missing = ", ".join(map(str, table["missing"]))
    return f"{text}; MISSING or changed: {missing}" if missing else text

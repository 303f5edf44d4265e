# SPDX-License-Identifier: Apache-2.0
"""How commands speak: text for people, one JSON document with ``--json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

# A pipe or a file has no width; tables are folded for a terminal only.
WIDTH = None if sys.stdout.isatty() else 200
out = Console(highlight=False, soft_wrap=True, width=WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ManifestPath = Annotated[
    str, typer.Argument(metavar="MANIFEST", help="The owner's YAML file, as `anonymaly init` writes it.")
]


def plain(*texts: str) -> list[Text]:
    """Return a table's cells as they are: what askers wrote is never markup."""
    return [Text(text) for text in texts]


def say(text: str) -> None:
    """Print plain text; square brackets in it are not markup."""
    out.print(text, markup=False)


def say_json(data: Mapping[str, Any]) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))

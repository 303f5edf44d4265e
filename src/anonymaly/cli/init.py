# SPDX-License-Identifier: Apache-2.0
"""``anonymaly init``: writes a manifest to fill in. Names and types come from the file, bounds never do."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import yaml

from anonymaly.cli.output import AsJson, say, say_json
from anonymaly.declare.manifest import UNDECLARED
from anonymaly.engine.source import read_schema
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt

Table = Annotated[str | None, typer.Option("--table", help="The table, when the source is a database.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", help="Where to write; by default NAME.yaml here.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a manifest that is there.")]


def init(
    source: Annotated[
        str, typer.Argument(metavar="TABLE", help="A CSV, Parquet or DuckDB file, or a database URL.")
    ],
    table: Table = None,
    output: Output = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a manifest for a table: its columns to declare, a budget to set."""
    schema = read_schema(source, table)
    name = _name(table or Path(source).name.partition(".")[0])
    path = Path(output or f"{name}.yaml")
    if path.exists() and not force:
        raise InputError(f"{path} exists", field="output", next_step="Give another --output, or --force.")
    place = source if "://" in source else os.path.relpath(source, path.parent)
    text = _manifest(name, place, table, schema)
    try:
        path.write_text(text, "utf-8")
    except OSError as problem:
        raise InputError(
            f"cannot write {path} ({type(problem).__name__})",
            field="output",
            next_step="Give another --output.",
        ) from None
    if as_json:
        say_json({"manifest": str(path), "columns": {column: str(kind) for column, kind in schema.items()}})
    else:
        say(f'Wrote {path}. Replace every "?" by what is publicly known, then run: anonymaly check {path}')


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-") or "table"


def _manifest(name: str, source: str, table: str | None, schema: dict[str, dt.DataType]) -> str:
    columns = "".join(
        f"  {_quote(column)}: {_declaration(kind)}  # {kind}\n" for column, kind in schema.items()
    )
    table_line = f"table: {_quote(table)}\n" if table else ""
    if source.lower().endswith((".csv", ".tsv", ".gz")):
        table_line = "# line_breaks: true  # if values in quotes hold them; otherwise each line is a record\n"
    return f"""\
# What is public about this table. Replace every "?" by what is publicly known. Never look up bounds or
# categories in the rows: the promise of every answer requires that they do not depend on anybody.
name: {_quote(name)}
version: "1"
source: {_quote(source)}
{table_line}
# Without these two lines every row counts as a person of its own.
# person: COLUMN_THAT_IDENTIFIES_THE_PERSON
# max_rows: 1

columns:  # leave out what no question may see
{columns}
# Relaxed promises that askers may cite, such as:
# rules:
#   adults: {{type: policy, text: "age >= 18 and consent"}}

budget: "{UNDECLARED}"  # the most epsilon that all answers together may cost, such as 2.0
adjacency: add_remove
ledger: {_quote(name + ".ledger")}
"""


def _declaration(kind: dt.DataType) -> str:
    if kind.is_boolean():
        return "{type: flag}"
    if kind.is_numeric():
        return f'{{type: interval, low: "{UNDECLARED}", high: "{UNDECLARED}"}}'
    if kind.is_string():
        return f'{{type: categories, values: ["{UNDECLARED}"]}}'
    if kind.is_timestamp() and getattr(kind, "timezone", None):
        return (
            "{type: opaque}"  # moments are compared without a zone; the owner's engine must remove it first
        )
    if kind.is_timestamp() or kind.is_date():
        return f'{{type: timestamps, start: "{UNDECLARED}", end: "{UNDECLARED}"}}'
    return "{type: opaque}"


def _quote(text: str) -> str:
    return yaml.safe_dump(text, default_style=None, width=10_000).removesuffix("\n...\n").strip()

# SPDX-License-Identifier: Apache-2.0
"""Parquet files by what their own last bytes say of them: how wide they are, and in what they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymaly.engine.files import refuse_wide
from anonymaly.engine.layouts import shown
from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import pyarrow as pa


def refuse_wide_files(files: Sequence[str]) -> None:
    """Refuse Parquet files of too many columns, or that are not whole."""
    for file, named in shown(files).items():
        refuse_wide(named, _footer(file, named).num_columns)


def _footer(file: str, named: str) -> Any:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return pq.read_metadata(file)
    except pa.ArrowInvalid:
        pass
    # Raised outside the handler: its words may quote what is in the file.
    raise SchemaError(
        f"{named} is no whole Parquet file and could not be opened",
        field="source",
        next_step="Write it again, or leave it out; files that are being written belong elsewhere.",
    )


def read_schemas(files: Sequence[str]) -> dict[str, pa.Schema]:
    """Return the columns and types of each file."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    return {file: pq.read_schema(file) for file in files}


def columns_in_milliseconds(schemas: Mapping[str, pa.Schema]) -> set[str]:
    """Return the columns of Parquet files whose moments are in milliseconds.

    DuckDB fails to read one that is beyond its own calendar, whatever is asked of it, and whether a question
    fails must not depend on a row.
    """
    return {
        field.name
        for schema in schemas.values()
        for field in schema
        if "timestamp[ms" in str(field.type)  # in a list, too
    }


def refuse_differences(schemas: Mapping[str, pa.Schema], needed: Sequence[str]) -> None:
    """Refuse Parquet files that hold a declared column in kinds that differ, or of which one has it not.

    The engine would read all of it as text, or the column as null, without a word.
    """
    files = list(schemas)
    if len(files) < 2:
        return
    for name in dict.fromkeys(needed):
        found = {file: schema.field(name).type for file, schema in schemas.items() if name in schema.names}
        lacking = [file for file in files if file not in found]
        if found and lacking:
            raise SchemaError(
                f"{shown(files)[next(iter(found))]} has the column {name}, and "
                f"{shown(files)[lacking[0]]} has not",
                field=f"columns.{name}",
                next_step="Give files that all have the declared columns, or write it into that file.",
            )
        told = {file: kind for file, kind in found.items() if _family(kind) != "null"}
        first = next(iter(told), None)
        for file, kind in told.items():
            if first is not None and _family(kind) != _family(told[first]):
                raise SchemaError(
                    f"{name} is {told[first]} in {shown(files)[first]} and {kind} in {shown(files)[file]}",
                    field=f"columns.{name}",
                    next_step="Write both files with the same type.",
                )


def _family(kind: object) -> str:
    """Return the types that are read alike; pandas writes whole numbers as floats if one is missing.

    The engine casts all files to one type. Of decimals, shorter floats, and moments of several units that
    type may be too narrow for a value of another file, which is then another value or fails the statement.
    """
    text = str(kind)
    if text.startswith("timestamp") and "tz=" in text:
        return "moment of the world"
    families = {
        "number": ("int", "uint", "double"),
        "text": ("string", "large_string", "string_view", "dictionary<values=string"),
    }
    return next((name for name, starts in families.items() if text.startswith(starts)), text)

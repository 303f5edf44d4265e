# SPDX-License-Identifier: Apache-2.0
"""Values as text that every engine compares byte by byte, and that no value can fail to become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops

from anonymaly.errors import SchemaError

if TYPE_CHECKING:
    import ibis.expr.types as ir


def spelled(column: ir.Value, *, from_file: bool = False) -> ir.StringValue:
    """Return a column as plain text.

    A column's own collation may call ``a`` and ``A`` equal. A cast keeps it; the way through bytes does not.
    Files have no collations, and what reads them checks their text.
    """
    # Ibis leaves out a cast to the type it knows, but it calls enumerations text as well.
    text: ir.StringValue = ops.Cast(column, to=dt.string).to_expr()
    if from_file:
        return text
    match column.get_backend().name:
        case "duckdb":
            plain: ir.StringValue = _try(_decode(_encode(text)))  # a frame's text may not be UTF-8: then null
        case "postgres":
            plain = _textin(_textout(text))
        case engine:
            raise SchemaError(
                f"{engine} may call texts equal that differ, such as a and A",
                field="source",
                next_step="Copy the table to Parquet, DuckDB or PostgreSQL.",
            )
    return plain


def is_plain(kind: dt.DataType) -> bool:
    """Whether all values of a type arrive as they are; others, such as moments at infinity, may fail."""
    return bool(kind.is_boolean() or kind.is_integer() or kind.is_floating() or kind.is_binary())


def _function(name: str, given: type, returned: type) -> Any:
    """Return a function that the engine has and Ibis does not."""
    return ibis.udf.scalar.builtin(lambda value: ..., name=name, signature=((given,), returned))


_encode, _decode = _function("encode", str, bytes), _function("decode", bytes, str)
_textout, _textin = _function("textout", str, bytes), _function("textin", bytes, str)
_try = _function("try", str, str)

# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: a database server, where a cast that does not fit fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis

from anonymaly.engine.engine import Engine

if TYPE_CHECKING:
    import ibis.expr.types as ir

# Functions that the engine has and Ibis does not.
_textout = ibis.udf.scalar.builtin(lambda text: ..., name="textout", signature=((str,), bytes))
_convert_to = ibis.udf.scalar.builtin(
    lambda text, encoding: ..., name="convert_to", signature=((str, str), bytes)
)
_getdatabaseencoding = ibis.udf.scalar.builtin(lambda: ..., name="getdatabaseencoding", signature=((), str))
_textin = ibis.udf.scalar.builtin(lambda text: ..., name="textin", signature=((bytes,), str))


@dataclass(frozen=True)
class PostgreSQL(Engine):
    """PostgreSQL."""

    def in_byte_order(self, text: ir.Value) -> ir.Value:
        """Return the text's bytes: the database's own order may put a before B, and é before f."""
        # In the database's own encoding, into which every text can be written; that is UTF-8 as a rule.
        return _convert_to(text.cast("string"), _getdatabaseencoding())

    def plain_text(self, text: ir.StringValue) -> ir.StringValue:
        """Return text by way of its bytes, which removes a collation."""
        plain: ir.StringValue = _textin(_textout(text))
        return plain


ENGINE = PostgreSQL("postgres")  # forgives nothing: Ibis tries there by a plain cast

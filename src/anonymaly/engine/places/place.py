# SPDX-License-Identifier: Apache-2.0
"""`TablePlace`: where a table is, and how it is opened there; each kind of place has a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anonymaly.engine.encodings import TextFile
from anonymaly.engine.limits import Limits
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import ibis.expr.types as ir


@dataclass(frozen=True)
class Request:
    """What an owner says of a table, besides where it is."""

    table: str | None
    needed: Sequence[str]
    opaque: Collection[str]
    line_breaks: bool
    file: TextFile
    limits: Limits

    def named(self, kind: str) -> str:
        """Return the name of the table, where there are several."""
        if not self.table:
            raise InputError(f"{kind} holds several tables", field="table", next_step="Name one with table=.")
        return self.table


class TablePlace:
    """Where a table is; what can be checked without opening it was checked when this was made."""

    is_embedded = True  # the engine in this process reads it
    has_collations = True  # as the columns of databases may
    shown = "the source"  # what messages may call it: addresses hold passwords
    advice = "Check that the file is complete, or that the database is reachable and has the table."
    # Columns that have no type of their own, with a name for what they have: if that type does not fit,
    # they are read as text. Known once the table is open.
    loose: Mapping[str, str] = MappingProxyType({})
    in_milliseconds: Collection[str] = ()  # columns of moments that the engine may fail to read

    def open(self) -> ir.Table:
        """Return the table with all its columns, as the engine types them."""
        raise NotImplementedError

    def renew(self) -> bool:
        """Say whether what was opened is no longer what is there."""
        return False

    def reopen(self) -> None:
        """Open the connection again that the owner gave, if there is one."""

    def after_fork(self) -> Any:
        """Make a forked child independent of its parent, and return handles that must not be closed."""
        return None

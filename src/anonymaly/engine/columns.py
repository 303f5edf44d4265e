# SPDX-License-Identifier: Apache-2.0
"""The kinds a column can be read as, the names of columns that a view adds, and how SQL quotes a name."""

from __future__ import annotations

from typing import Literal

Kind = Literal["number", "whole number", "text", "flag", "moment", "opaque"]

PERSON = "__person__"  # whose row it is
PLACE = "__place__"  # of the row among those of its person
NON_SENSITIVE = "__non_sensitive__"  # whether a policy calls the row, or its person, so
ADDED = frozenset({PERSON, PLACE, NON_SENSITIVE})


def quoted(name: str) -> str:
    """Return a name as DuckDB and PostgreSQL write it, whatever is in it.

    Examples
    --------
    >>> quoted('a "b" c')
    '"a ""b"" c"'
    """
    return '"' + name.replace('"', '""') + '"'

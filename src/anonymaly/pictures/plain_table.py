# SPDX-License-Identifier: Apache-2.0
"""A table as lines of text, the same wherever it is made."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table


def table_lines(table: Table, width: int) -> list[str]:
    """Return a table as lines of at most so many letters.

    Examples
    --------
    >>> table = Table("ward", "rows", box=None, pad_edge=False)
    >>> table.add_row("A", "20")
    >>> table_lines(table, 80)
    ['ward  rows', 'A     20']
    """
    buffer = io.StringIO()
    # In a notebook a console would show the table by itself and write nothing; where FORCE_COLOR is set, it
    # would write colours.
    Console(file=buffer, width=width, highlight=False, color_system=None, force_jupyter=False).print(table)
    return [line.rstrip() for line in buffer.getvalue().splitlines()]

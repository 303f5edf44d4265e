# SPDX-License-Identifier: Apache-2.0
"""The kinds of file that a released table is written as, by the ending of the name.

Apart from `table`, which needs Arrow: whoever only lists the endings, or is refused, does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from anonymaly.core.files import why_not_written
from anonymaly.errors import InputError

if TYPE_CHECKING:
    from anonymaly.ask.table import Table

# ending → the method of `Table` that writes it
WRITERS = {".parquet": "to_parquet", ".csv": "to_csv", ".arrow": "to_ipc", ".feather": "to_ipc"}


def writer_for(path: str | Path, *, field: str = "output") -> Callable[[Table, str | Path], None]:
    """Return the function that writes a file of this name, or raise an error that says why there is none."""
    place = Path(path)
    method = WRITERS.get(place.suffix.lower())
    if method is None:
        raise InputError(
            f"the ending {place.suffix or '(none)'} does not name a known format",
            field=field,
            next_step=f"Use one of {', '.join(WRITERS)}.",
        )
    problem = why_not_written(place)
    if problem is not None:
        raise InputError(
            problem, field=field, next_step="Name a file in a folder that is there and can be written to."
        )
    write = attrgetter(method)
    return lambda table, to: write(table)(to)

# SPDX-License-Identifier: Apache-2.0
"""The interface between the two halves of a curator.

`reader` holds the table and `accountant` the ledger. ``DrawSource.ready`` is called before the charge, and
the ``Draw`` that it returns after it. Of all that passes between the two, only the released value depends on
rows, so they can run in two processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from anonymaly.ask.binding import Binding


@dataclass(frozen=True)
class Failed:
    """A failure without the engine's own words."""

    stage: str
    error: str  # the name of its class
    what: str  # for the owner's log
    cause: BaseException | None = None  # of a public table only, whose rows are no secret


Draw = Callable[[BinaryIO], Failed | None]  # writes one value to a file, or says where that failed


class DrawSource(Protocol):
    """What an accountant needs of the table."""

    def ready(self, bound: Binding) -> Draw:
        """Raise unless the table can be read as declared; reads no rows."""

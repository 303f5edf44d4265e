# SPDX-License-Identifier: Apache-2.0
"""Where the two halves of a curator meet.

`reader` holds the table and `accountant` the ledger. ``DrawSource.ready`` is called before the charge, the
``Draw`` that it returns after it. Nothing passes between the two that depends on a row but the released
value itself, so they can live in two processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from anonymaly.ask.binding import Binding


@dataclass(frozen=True)
class Failed:
    """What is left of a failure once the engine's own words are dropped."""

    stage: str
    error: str  # the name of its class
    what: str  # for the owner's log
    cause: BaseException | None = None  # of a public table only, whose rows are no secret


Draw = Callable[[BinaryIO], Failed | None]  # writes one value to a file, or says where that failed


class DrawSource(Protocol):
    """What an accountant needs of the table."""

    def ready(self, bound: Binding) -> Draw:
        """Raise unless the table can be read as declared; reads no rows."""

# SPDX-License-Identifier: Apache-2.0
"""Tables in this process's memory: frames of pandas, polars and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonymaly.engine import lookup
from anonymaly.engine.frames import to_arrow
from anonymaly.engine.places.place import Request, TablePlace

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa


class FrameInMemory(TablePlace):
    """A frame's declared columns as an Arrow table."""

    def __init__(self, frame: pa.Table, loose: dict[str, str], request: Request) -> None:
        self.frame = frame
        self.loose = loose
        self._limits = request.limits

    @classmethod
    def accept(cls, source: Any, request: Request) -> FrameInMemory | None:
        """Return the table in a frame; None if it is no frame that is known."""
        found = to_arrow(source, request.needed, request.opaque)
        return None if found is None else cls(*found, request)

    def open(self) -> ir.Table:
        """Show it to the engine; nothing is copied."""
        return lookup.embedded(self._limits).open_arrow(self.frame)

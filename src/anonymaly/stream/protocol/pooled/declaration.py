# SPDX-License-Identifier: Apache-2.0
"""What is public about a pool whose readings are perturbed, and judged together window by window."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from pydantic import StrictStr, field_validator

from anonymaly.core.value import canonical_json
from anonymaly.stream.protocol.correction import Gap
from anonymaly.stream.protocol.declaration import Column, PerturbedColumns
from anonymaly.stream.protocol.encoding import read_name
from anonymaly.stream.protocol.windows import PooledWindows


class PooledDeclaration(PerturbedColumns):
    """The public facts of a pool of ``correction``, the same for every party.

    Examples
    --------
    >>> from anonymaly import Interval
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> rooms = PooledDeclaration(
    ...     pool="rooms", columns=[celsius], epsilon=0.5, layer=2.0, windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=100))
    >>> rooms.cost_of(1), rooms.windows.number_of("2026-01-01T00:31:00+00:00")
    (500000000, 2)
    """

    protocol: Literal["correction"] = "correction"
    pool: StrictStr
    """What all sensors together are called."""
    windows: PooledWindows
    """Windows by time over all sensors, in place of so many readings of one."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            pool: str,
            columns: Sequence[Column | Mapping[str, Any]],
            windows: PooledWindows | Mapping[str, Any],
            epsilon: int | float | str | Decimal,
            layer: float,
            model: str = "dbscan",
            parameters: Mapping[str, Any] | None = None,
            precision: float = 0.001,
            gap: Gap = "outward",
            least_suspects: int = 2,
            type: str = "stream",
            protocol: str = "correction",
        ) -> None: ...

    @field_validator("pool")
    @classmethod
    def _named(cls, name: str) -> str:
        return read_name(name, "pool")

    def is_counted(self, window: int) -> bool:
        """Say whether a reading in a window costs anything: in each."""
        return True

    def fingerprint(self) -> bytes:
        """Return a digest of all of it, by which parties notice that they hold different ones."""
        return hashlib.sha256(canonical_json(self.to_dict()).encode()).digest()

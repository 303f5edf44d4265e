# SPDX-License-Identifier: Apache-2.0
"""What is public about a pool whose readings are counted in secret: cells, windows, ε, the rule."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, StrictInt, StrictStr, field_validator, model_validator

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.epsilon import to_nano
from anonymaly.core.rate import noise_rate
from anonymaly.core.value import Number, Ordered, Value, canonical_json
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.stream.counting.point_function import GROUP_BITS, MOST_BITS
from anonymaly.stream.protocol.declaration import Exact
from anonymaly.stream.protocol.encoding import read_name
from anonymaly.stream.protocol.windows import PooledWindows

MOST_CELLS = 2**MOST_BITS
CELLS_MOVED = 2  # one reading replaced leaves one cell and enters another (GUARANTEE, lemma C3)


class CountedColumn(Value):
    """One measured quantity, cut into cells of equal width.

    Examples
    --------
    >>> celsius = CountedColumn("celsius", outer=Interval(-20, 80), cells=50)
    >>> celsius.cells_of(np.array([-300.0, 20.5, 80.0])).tolist()
    [0, 20, 49]
    """

    name: StrictStr = Field(min_length=1, max_length=64)
    """What the quantity is called."""
    outer: Interval
    """Where readings lie; those beyond are moved to its ends."""
    cells: StrictInt = Field(ge=2, le=MOST_CELLS)
    """Into how many cells of equal width it is cut."""

    if TYPE_CHECKING:

        def __init__(self, name: str, outer: Interval, cells: int) -> None: ...

    def cells_of(self, values: Floats) -> Integers:
        """Return the number of each value's cell."""
        inside = np.clip(values, self.outer.low, self.outer.high)
        share = (inside - self.outer.low) / (self.outer.high - self.outer.low)
        return np.minimum((share * self.cells).astype(np.int64), self.cells - 1)


class CountingDeclaration(Value):
    """The public facts of a pool, the same for every party.

    Examples
    --------
    >>> declared = CountingDeclaration(
    ...     columns=[CountedColumn("celsius", outer=Interval(-20, 80), cells=50)],
    ...     windows=PooledWindows(
    ...         start="2026-01-01T00:00:00+00:00", seconds=900, lateness=60, least_sensors=500),
    ...     epsilon=0.5, period=4, share=0.1, radius=1,
    ... )
    >>> declared.bits, declared.rate
    (6, Fraction(1, 4))
    >>> [window for window in range(9) if declared.is_counted(window)]
    [0, 4, 8]
    """

    takes_positions = False

    type: Literal["stream"] = "stream"
    protocol: Literal["counting"] = "counting"
    pool: StrictStr = "pool"
    """What all sensors together are called."""
    columns: Annotated[tuple[CountedColumn, ...], Ordered] = Field(min_length=1, max_length=16)
    """The columns that a reading consists of; their cells together are at most 65,536."""
    windows: PooledWindows
    """Windows by time over all sensors."""
    epsilon: Exact
    """The loss of one reading in a window that is counted, whatever it is replaced by."""
    period: StrictInt = Field(ge=1, le=2**31)
    """The first of so many windows is counted and says what is usual; the others are judged by it."""
    share: Number = Field(gt=0, le=1)
    """A cell is usual if it and the cells around it hold at least this share of the agreed readings."""
    radius: StrictInt = Field(ge=0, le=64)
    """How many cells, in each direction, count as around a cell; faults are farther than that from usual."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            columns: Sequence[CountedColumn | Mapping[str, Any]],
            windows: PooledWindows | Mapping[str, Any],
            epsilon: int | float | str | Decimal,
            period: int,
            share: float,
            radius: int,
            pool: str = "pool",
            type: str = "stream",
            protocol: str = "counting",
        ) -> None: ...

    @field_validator("columns")
    @classmethod
    def _distinct(cls, columns: tuple[CountedColumn, ...]) -> tuple[CountedColumn, ...]:
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("names a column twice")
        return columns

    @model_validator(mode="after")
    def _usable(self) -> CountingDeclaration:
        read_name(self.pool, "pool")
        if self.cells > MOST_CELLS:
            raise InputError(
                f"have {self.cells:,} cells together, more than {MOST_CELLS:,}",
                field="columns",
                next_step="Give coarser cells.",
            )
        _ = self.rate
        return self

    @property
    def nano(self) -> int:
        """ε in billionths."""
        return to_nano(self.epsilon)

    @property
    def rate(self) -> Fraction:
        """The rate of the noise that each server adds to every cell: ε/2."""
        return noise_rate(self.nano, moves=CELLS_MOVED)

    @property
    def names(self) -> list[str]:
        """The columns, in the order in which a reading lists them."""
        return [column.name for column in self.columns]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(column.cells for column in self.columns)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def bits(self) -> int:
        """The point functions have 2^bits places; those behind the last cell are never used."""
        return max(GROUP_BITS, (self.cells - 1).bit_length())

    def cells_of(self, rows: Floats) -> Integers:
        """Return the number of each reading's cell."""
        places = [column.cells_of(rows[:, index]) for index, column in enumerate(self.columns)]
        return np.asarray(np.ravel_multi_index(places, self.shape), np.int64)

    def is_counted(self, window: int) -> bool:
        """Say whether a window's readings are counted; a reading in any other window costs nothing."""
        return window % self.period == 0

    def cost_of(self, readings: int) -> int:
        """Return what readings in so many counted windows cost together, in billionths."""
        return readings * self.nano

    def fingerprint(self) -> bytes:
        """Return a digest of all of it, by which parties notice that they hold different ones."""
        return hashlib.sha256(canonical_json(self.to_dict()).encode()).digest()

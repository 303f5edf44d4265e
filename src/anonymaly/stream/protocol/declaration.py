# SPDX-License-Identifier: Apache-2.0
"""What is public about a stream: its columns, ε, windows, and how outliers are looked for.

All parties hold the same declaration. Nothing in it may come from the readings that it is to protect: ranges,
the width of the outlier layer and the model's parameters come from historical data or from knowledge of what
is measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, StrictInt, StrictStr, field_validator, model_validator

from anonymaly.core.arrays import Floats, Integers
from anonymaly.core.epsilon import to_nano, to_text
from anonymaly.core.rate import noise_rate
from anonymaly.core.value import FrozenMapping, Number, Ordered, Value, added
from anonymaly.declare.domain import Interval
from anonymaly.errors import InputError
from anonymaly.stream.protocol.correction import Gap
from anonymaly.stream.protocol.encoding import LARGEST_NUMBER, LARGEST_WINDOW, MOST_COLUMNS
from anonymaly.stream.protocol.models import SuspectModel, make_model

MOST_STEPS = 2**40  # far below what floats can count, so that rounding to the grid is exact to the step
FINEST = 1e-6  # of the precision: with all its digits, a difference of two roots reveals both
COARSER = "Subtract a constant from readings, range and outer domain, or give a coarser step."

Exact = Annotated[str, BeforeValidator(lambda value: to_text(to_nano(value)))]


class Column(Value):
    """One measured quantity.

    Examples
    --------
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> celsius.steps, celsius.worst_steps
    (200, 1000)
    """

    name: StrictStr = Field(min_length=1, max_length=64)
    """What the quantity is called."""
    range: Interval
    """Where ordinary readings lie. Between two of them the loss is at most ε."""
    outer: Interval
    """Where readings beyond are moved to; the loss is at most ε times outer width by range width."""
    step: Number = Field(gt=0)
    """The grid: readings are rounded to the range's lower end plus a multiple of it."""
    centre: Number | None = None
    """Where distances are counted from; the middle of the range if not given."""
    scale: Number | None = Field(default=None, gt=0)
    """The unit of distances; the width of the range if not given."""

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            range: Interval,
            outer: Interval,
            step: float,
            centre: float | None = None,
            scale: float | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _fits(self) -> Column:
        if self.outer.low > self.range.low or self.outer.high < self.range.high:
            raise InputError(
                f"{self.outer.describe()} does not contain the range {self.range.describe()}",
                field=f"{self.name}.outer",
                next_step="Give the widest that the sensor can show.",
            )
        if _exact(self.outer.high - self.outer.low) / _exact(self.step) > MOST_STEPS:
            raise InputError(
                f"{self.step} divides the outer domain into more than 2^40 parts",
                field=f"{self.name}.step",
                next_step="Give a coarser step; the sensor's resolution is enough.",
            )
        self._check_doubles()
        return self

    def _check_doubles(self) -> None:
        """Refuse a grid that numbers of 64 bits cannot hold."""
        farthest = max(abs(float(self.outer.low)), abs(float(self.outer.high)))
        if math.ulp(farthest) > self.step:
            raise InputError(
                f"numbers near {farthest:g} are {math.ulp(farthest):g} apart, and the step is {self.step:g}",
                field=f"{self.name}.step",
                next_step=COARSER,
            )
        # Such a column could be drawn for, but accounts were charged by the width as written.
        if self.steps > self.written_steps:
            raise InputError(
                f"the range is {self.written_steps:,} steps wide as written and {self.steps:,} as numbers of "
                "64 bits",
                field=f"{self.name}.step",
                next_step=f"{COARSER} What was sent with this one may have lost more than was charged: open "
                "another account.",
            )

    @property
    def written_steps(self) -> int:
        """The range's width in steps as it is written, one more if its upper end is not on the grid."""
        return math.ceil((_exact(self.range.high) - _exact(self.range.low)) / _exact(self.step))

    @property
    def steps(self) -> int:
        """How far apart two readings in range can be on the grid; at least the width as it is written.

        Ends of a range are written as decimal numbers and held as binary ones, so that the grid may be wider
        than its numbers say (GUARANTEE, lemma 1).
        """
        return max(self.written_steps, self._apart(self.range))

    @property
    def worst_steps(self) -> int:
        """How far apart two readings can be on the grid, once moved into the outer domain."""
        return self._apart(self.outer)

    def _apart(self, ends: Interval) -> int:
        low, high = self.to_grid(np.array([ends.low, ends.high], np.float64))
        return int(high - low)

    def rate(self, nano: int) -> Fraction:
        """Return what one step costs: ε·step/width."""
        return noise_rate(
            nano,
            moves=self.steps,
            field=f"{self.name}.step",
            next_step="Give a coarser step, or a larger epsilon.",
        )

    def to_grid(self, values: Floats) -> Integers:
        """Return the number of each value's grid point, counted from the range's lower end."""
        inside = np.clip(values, self.outer.low, self.outer.high)
        return np.rint((inside - self.range.low) / self.step).astype(np.int64)

    def place(self, numbers: Integers) -> Floats:
        """Return where grid points lie: their distance from the centre in units of the scale."""
        return np.asarray((self.range.low - self.middle + numbers * self.step) / self.unit, np.float64)

    @property
    def middle(self) -> float:
        """Where distances are counted from."""
        return (self.range.low + self.range.high) / 2 if self.centre is None else self.centre

    @property
    def unit(self) -> float:
        """The unit of distances."""
        return self.range.width if self.scale is None else self.scale


class PerturbedColumns(Value):
    """What is public about readings that are perturbed one by one, however they are put into windows."""

    takes_positions = False

    type: Literal["stream"] = "stream"
    columns: Annotated[tuple[Column, ...], Ordered] = Field(min_length=1, max_length=MOST_COLUMNS)
    """The columns that a reading consists of."""
    epsilon: Exact
    """The loss per column when a reading moves across its range: d columns lose at most d·ε."""
    layer: Number = Field(ge=0)
    """The width of the layer that outliers lie in, in units of the scale (w_O in Böhler et al. 2017)."""
    model: StrictStr = "dbscan"
    """How the detector finds suspects."""
    parameters: FrozenMapping = ()
    """The model's parameters that differ from its defaults."""
    precision: Number = Field(default=0.001, gt=0)
    """Moves of distance are rounded to multiples of it before the corrector gets them."""
    gap: Gap = "outward"
    """Which gaps divide the suspects: between moves ``outward``, or ``any``, as printed in the paper."""
    # Streams were declared without it, and then one suspect was enough, as in the paper. They are read as if
    # they had asked for two: a corrector that tells less breaks no promise.
    least_suspects: StrictInt = added(2, ge=1, le=LARGEST_WINDOW)
    """How many suspects a window must have before the corrector tells the detector a distance."""

    @field_validator("columns")
    @classmethod
    def _distinct(cls, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("names a column twice")
        return columns

    @model_validator(mode="after")
    def _usable(self) -> Self:
        for column in self.columns:
            column.rate(self.nano)
        if self.precision < FINEST:
            raise InputError(
                f"{self.precision:g} is finer than {FINEST:g}, and shows the corrector from where to where a "
                "reading moved",
                field="precision",
                next_step="Give a coarser one; the default is 0.001.",
            )
        if self.layer / self.precision > LARGEST_NUMBER:
            raise InputError(
                "is more than 2^62 times the precision",
                field="layer",
                next_step="Give a coarser precision.",
            )
        self.make_model()
        return self

    @property
    def nano(self) -> int:
        """ε per column in billionths."""
        return to_nano(self.epsilon)

    @property
    def names(self) -> list[str]:
        """The columns, in the order in which a reading lists them."""
        return [column.name for column in self.columns]

    @property
    def layer_steps(self) -> int:
        """The width of the outlier layer in multiples of the precision."""
        return round(self.layer / self.precision)

    def cost_of(self, readings: int) -> int:
        """Return the most that readings of one person lose together, all in range: T·d·ε, in billionths."""
        return readings * len(self.columns) * self.nano

    def count_beyond(self, readings: Floats) -> int:
        """Return how many readings lie beyond the range of some column.

        Examples
        --------
        >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
        >>> room = StreamDeclaration(columns=[celsius], epsilon=0.5, window=1000, layer=2.0)
        >>> room.count_beyond(np.array([[20.0], [30.0], [30.1], [9.0]]))
        2
        """
        low = np.array([column.range.low for column in self.columns])
        high = np.array([column.range.high for column in self.columns])
        return int(((readings < low) | (readings > high)).any(axis=1).sum())

    def make_model(self) -> SuspectModel:
        """Return the detector's model, or say what is wrong with its parameters."""
        return make_model(self.model, dict(self.parameters))

    def places(self, numbers: Integers) -> Floats:
        """Return rows of grid points as coordinates around the constant centre."""
        return np.column_stack([column.place(numbers[:, index]) for index, column in enumerate(self.columns)])

    def distances(self, numbers: Integers) -> Floats:
        """Return each row's distance from the centre (d_c in Böhler et al. 2017)."""
        places = self.places(numbers)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", places, places)))


class StreamDeclaration(PerturbedColumns):
    """The public facts of one sensor's readings, the same for every party.

    Examples
    --------
    >>> celsius = Column("celsius", range=Interval(10, 30), outer=Interval(-20, 80), step=0.1)
    >>> room = StreamDeclaration(columns=[celsius], epsilon=0.5, window=1000, layer=2.0)
    >>> room.cost_of(100)  # in billionths
    50000000000
    """

    window: StrictInt = Field(ge=1, le=LARGEST_WINDOW)
    """How many readings are judged together."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            columns: Sequence[Column | Mapping[str, Any]],
            epsilon: int | float | str | Decimal,
            window: int,
            layer: float,
            model: str = "dbscan",
            parameters: Mapping[str, Any] | None = None,
            precision: float = 0.001,
            gap: Gap = "outward",
            least_suspects: int = 2,
            type: str = "stream",
        ) -> None: ...


def _exact(number: int | float) -> Fraction:
    """Return the decimal number that a declared number prints as: 0.1 is one tenth."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)

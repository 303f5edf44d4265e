# SPDX-License-Identifier: Apache-2.0
"""The question ``score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PlainSerializer, StrictBool, StrictInt, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number, to_nano, to_text
from anonymaly.core.value import FrozenMapping, Ordered, added, frozen_items
from anonymaly.declare.domain import Categories, Flag, Interval, Timestamps
from anonymaly.questions.score.options import (
    HIGHEST_THRESHOLD,
    METHOD_OPTIONS,
    MOST_CELLS,
    MOST_NEIGHBOURS,
    SHARES,
    Distance,
    Form,
    Origin,
)

if TYPE_CHECKING:
    from anonymaly.questions.score.value import Model  # noqa: F401  (the type of the value)

_METHODS = ", ".join(METHOD_OPTIONS)


def _exact(field: str) -> Any:
    """Read a number as it is written, as ε is read: JSON's 0.1 is a tenth, and one text means one number."""
    return BeforeValidator(
        lambda value: None if value is None else Decimal(to_text(to_nano(value, field=field)))
    )


_AsText = PlainSerializer(lambda value: None if value is None else str(value), return_type=str | None)


def _exact_shares(shares: Any) -> Any:
    items = frozen_items(shares)
    if not isinstance(items, tuple):
        return items
    return tuple((name, to_text(to_nano(part, field=f"shares.{name}"))) for name, part in items)


class Score(Query["Model"]):
    """How unusual is a new record, compared with our reference data?

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Score(columns=["age", "bmi"], epsilon=1).describe()
    'a model of age, bmi that scores how unusual a record is (by rule)'
    """

    question: ClassVar[str] = "score"
    media_type: ClassVar[str] = "application/zip"

    columns: Annotated[tuple[StrictStr, ...], Ordered] = Field(min_length=1)
    """The columns that records are compared by; give it once for each. mixed takes numbers, moments,
    categories and flags, and counts a missing value as one; grid and marginals take numbers, and leave out
    reference records without a value in one of them."""

    method: StrictStr | None = Field(
        default=None,
        description=f"One of {_METHODS}; by default mixed, unless parameters of the grid are given. auto is "
        "the default of before: marginals, or grid.",
    )

    rows: StrictInt | None = Field(default=None, ge=1)
    """The number of reference records, if that is public: it is part of the answer, and no noise hides it.
    Otherwise a method that needs it takes what the declaration says, or counts them with a fiftieth of
    epsilon."""

    neighbours: StrictInt | None = Field(default=None, ge=1, le=MOST_NEIGHBOURS)
    """grid: how many records are near enough; 5 by default."""

    cells: StrictInt | None = Field(default=None, ge=2, le=MOST_CELLS)
    """grid: cells on each axis; by default a rule over columns, epsilon and records."""

    weighted: StrictBool | None = None
    """grid: true for the sum of the distances of all neighbours; by default, that of the last one."""

    distance: Distance | None = None
    """grid: manhattan (the default) or euclidean."""

    origin: Origin | None = None
    """grid: whether distances are from the centre of the record's cell (cell, the default) or from the
    record itself (point)."""

    depth: Annotated[Decimal | None, _exact("depth"), _AsText] = None
    """grid: how far to look, in widths of the columns; by default everywhere."""

    threshold: StrictInt | None = Field(default=None, ge=0, le=HIGHEST_THRESHOLD)
    """grid: the smallest noisy count that is published; by default, about one of them is noise."""

    form: Form | None = None
    """grid: published, or held, which only simulations and estimators use."""

    bins: StrictInt | None = Field(default=None, ge=2)
    """marginals, mixed: cells of a number's histogram, equally wide; by default a rule over columns, epsilon
    and records."""

    pair_bins: StrictInt | None = Field(default=None, ge=0)
    """marginals, mixed: cells per side of a pair's histogram, 0 for no pairs; by default a rule, as for
    bins."""

    adaptive: StrictBool | None = added(None)
    """mixed: whether bins follow the records, by two stages that take 15 % of the model's epsilon each; by
    default where records × epsilon reach 70 for each column, twice that if a record is replaced, and m times
    for persons with m rows."""

    contamination: Annotated[Decimal | None, _exact("contamination"), _AsText] = Field(
        default=None, le=Decimal("0.5")
    )
    """The part of the reference records that is unusual; with it, a threshold is released with the model. Of
    mixed it is the quantile of points drawn from the model itself, and free, unless shares name it; otherwise
    it is that of the reference records, privately, for a tenth of epsilon."""

    shares: Annotated[FrozenMapping, BeforeValidator(_exact_shares)] = Field(
        default=(),
        description=f"Other parts of epsilon for the stages {', '.join(SHARES)}, as name=part.",
        json_schema_extra={"pairs": True},
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            columns: Sequence[str],
            method: str | None = None,
            rows: int | None = None,
            neighbours: int | None = None,
            cells: int | None = None,
            weighted: bool | None = None,
            distance: Distance | None = None,
            origin: Origin | None = None,
            depth: Number | None = None,
            threshold: int | None = None,
            form: Form | None = None,
            bins: int | None = None,
            pair_bins: int | None = None,
            adaptive: bool | None = None,
            contamination: Number | None = None,
            shares: Mapping[str, Number] = ...,
            epsilon: Number,
        ) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Score patients by age and weight."""
        return Example(
            query=cls(columns=["age", "weight"], method="grid", cells=2, contamination=0.25, epsilon="0.5"),
            records={
                "age": [71, 64, 58, 80, 33, 62, None, 18],
                "weight": [80, 70, 75.5, 66, 91, 300, 70, None],
            },
            columns={"age": Interval(0, 120), "weight": Interval(20, 220)},
        )

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Score patients by a grid of two numbers, and by real columns with missing values."""
        mixed = Example(
            query=cls(columns=["age", "ward", "smoker", "admitted"], epsilon="0.5"),
            records={
                "age": [71, 64, 58, None, 33, 62],
                "ward": ["A", "B", "X", "A", None, "B"],
                "smoker": [True, False, None, True, False, False],
                "admitted": [datetime(2024, month, 1) for month in range(1, 6)] + [None],
            },
            columns={
                "age": Interval(0, 120),
                "ward": Categories(["A", "B"]),
                "smoker": Flag(),
                "admitted": Timestamps("2024-01-01", "2024-12-31"),
            },
        )
        return (cls.example(), mixed)

    def options(self) -> dict[str, Any]:
        """Return the methods' parameters that were given."""
        names = {name for options in METHOD_OPTIONS.values() for name in options}
        return {name: getattr(self, name) for name in sorted(names) if getattr(self, name) is not None}

    @property
    def kept(self) -> bool:
        """Whether the model can be stored; a held one cannot."""
        return self.form != "held"

    def describe(self) -> str:
        """Say what is asked."""
        names = ", ".join(self.columns) if len(self.columns) <= 5 else f"{len(self.columns)} columns"
        return f"a model of {names} that scores how unusual a record is ({self.method or 'by rule'})"

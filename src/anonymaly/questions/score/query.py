# SPDX-License-Identifier: Apache-2.0
"""The question ``score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PlainSerializer, StrictBool, StrictInt, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number, to_nano, to_text
from anonymaly.core.value import FrozenMapping, Ordered, frozen_items
from anonymaly.declare.domain import Interval
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


class Score(Query):
    """How unusual is a new record, against our reference data?

    Parameters
    ----------
    columns : sequence of str
        The numeric columns that records are compared by. Reference records without a value of one of
        them are not counted.
    method : str
        ``grid`` (the paper's), ``marginals``, or ``auto``: marginals, unless
        parameters of the grid are given.
    rows : int, optional
        How many reference records there are, where that is public. Without it, a method whose rule
        needs it counts them with a small share of ε.
    neighbours, cells, weighted, distance, origin, depth, threshold, form
        Of the grid; see the page of the question.
    bins, pair_bins
        Of the marginals.
    contamination : number, optional
        Which part of the reference records is unusual; a private threshold is then released with the model.
    shares : mapping
        Parts of ε for the stages besides the model: ``bounds``, ``records``, ``threshold``.
    epsilon : number
        The total charge.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Score(columns=["age", "bmi"], epsilon=1).describe()
    'a model of age, bmi that scores how unusual a record is (auto)'
    """

    question: ClassVar[str] = "score"
    media_type: ClassVar[str] = "application/zip"

    columns: Annotated[tuple[StrictStr, ...], Ordered] = Field(
        min_length=1, description="The columns that records are compared by; give it once for each."
    )
    method: StrictStr = Field(default="auto", description=f"auto, or one of {_METHODS}.")
    rows: StrictInt | None = Field(
        default=None, ge=1, description="How many reference records there are, where that is public."
    )
    neighbours: StrictInt | None = Field(
        default=None, ge=1, le=MOST_NEIGHBOURS, description="grid: how many records are near enough."
    )
    cells: StrictInt | None = Field(
        default=None, ge=2, le=MOST_CELLS, description="grid: cells on each axis."
    )
    weighted: StrictBool | None = Field(
        default=None, description="grid: the sum of all distances, instead of the last."
    )
    distance: Distance | None = Field(default=None, description="grid: manhattan or euclidean.")
    origin: Origin | None = Field(
        default=None, description="grid: distances from the point, or from the centre of its cell."
    )
    depth: Annotated[Decimal | None, _exact("depth"), _AsText] = Field(
        default=None, description="grid: the farthest distance looked at, in widths of the columns."
    )
    threshold: StrictInt | None = Field(
        default=None,
        ge=0,
        le=HIGHEST_THRESHOLD,
        description="grid: the smallest noisy count that is published.",
    )
    form: Form | None = Field(
        default=None, description="grid: published, or held, which only simulations and estimators use."
    )
    bins: StrictInt | None = Field(
        default=None, ge=2, description="marginals: cells of a column's histogram."
    )
    pair_bins: StrictInt | None = Field(
        default=None, ge=0, description="marginals: cells a side of a pair's histogram; 0 for no pairs."
    )
    contamination: Annotated[Decimal | None, _exact("contamination"), _AsText] = Field(
        default=None, le=Decimal("0.5"), description="Which part of the reference records is unusual."
    )
    shares: Annotated[FrozenMapping, BeforeValidator(_exact_shares)] = Field(
        default=(),
        description=f"Parts of epsilon for the stages {', '.join(SHARES)}, as name=part.",
        json_schema_extra={"pairs": True},
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            columns: Sequence[str],
            method: str = "auto",
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

    def options(self) -> dict[str, Any]:
        """Return the methods' parameters that were given."""
        names = {name for options in METHOD_OPTIONS.values() for name in options}
        return {name: getattr(self, name) for name in sorted(names) if getattr(self, name) is not None}

    @property
    def kept(self) -> bool:
        """A held model stays where it was made."""
        return self.form != "held"

    def describe(self) -> str:
        """Say what is asked."""
        names = ", ".join(self.columns) if len(self.columns) <= 5 else f"{len(self.columns)} columns"
        return f"a model of {names} that scores how unusual a record is ({self.method})"

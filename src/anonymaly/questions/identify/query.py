# SPDX-License-Identifier: Apache-2.0
"""The question ``identify``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StrictBool, StrictInt, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Number as FiniteNumber
from anonymaly.core.value import Ordered, added
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.declare.rules import AnomalyModel, Metric
from anonymaly.questions.identify.model import find_model
from anonymaly.questions.identify.records import RecordColumns, RecordItems


class Identify(Query[bool | list[bool]]):
    """Is this record an anomaly in our data?

    Cite a declared model by its name, or write one out: columns, radius, beta, and if you like k, metric and
    scaled. A model written out is answered with ``guarantee="differential"`` alone, which makes no use of k,
    unless the owner permits any rule.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Identify(record={"age": 97, "bmi": 51}, model="rare", epsilon=0.1).describe()
    "whether a record is an anomaly by the rule 'rare'"
    """

    question: ClassVar[str] = "identify"
    personal_fields: ClassVar[frozenset[str]] = frozenset({"record", "records"})
    wording_fields: ClassVar[frozenset[str]] = frozenset({"label"})

    record: RecordItems | None = Field(default=None, json_schema_extra={"pairs": "record"})
    """The record: a value for each column of the model, as column=value."""

    records: RecordColumns | None = Field(default=None, json_schema_extra={"table": True})
    """Many records instead: a CSV or Parquet file, or a data frame, with the columns of the model."""

    model: StrictStr | None = None
    """The name of a declared anomaly model."""

    guarantee: Literal["sensitive", "differential"] = "sensitive"
    """sensitive: protect who is normal or nearly so; differential: protect everyone, with worse answers."""

    columns: Annotated[tuple[StrictStr, ...], Field(min_length=1), Ordered] | None = None
    """The columns of a model written out; give it once for each."""

    radius: Annotated[FiniteNumber, Field(ge=0)] | None = None
    """How near a neighbour is, in a model written out."""

    beta: Annotated[StrictInt, Field(ge=1, le=2**53)] | None = None
    """The most records that an anomaly has within the radius, itself included, in a model written out."""

    k: Annotated[StrictInt, Field(ge=1, le=2**53)] | None = None
    """How many records from normal one may be and still be protected, in a model written out."""

    metric: Metric | None = None
    """How a model written out measures distance: euclidean, manhattan or chebyshev."""

    scaled: StrictBool | None = None
    """Whether a model written out divides each column by its declared width: true or false."""

    bound: Literal["improved", "paper"] = "improved"
    """improved, or paper: the bound of Asif et al. 2021, with which answers are wrong more often."""

    extra_error: Annotated[FiniteNumber, Field(gt=0, lt=1)] = 1e-12
    """The most that counting no further than needed may add to the probability of an error."""

    label: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = added(None)
    """What to call the record in the answer; with records, the column of theirs that names them. No part of
    the question, and not written down."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            record: Mapping[str, Any] | None = None,
            records: Any = None,
            model: str | None = None,
            guarantee: Literal["sensitive", "differential"] = "sensitive",
            columns: Sequence[str] | None = None,
            radius: float | None = None,
            beta: int | None = None,
            k: int | None = None,
            metric: Metric | None = None,
            scaled: bool | None = None,
            bound: Literal["improved", "paper"] = "improved",
            extra_error: float = 1e-12,
            label: str | None = None,
            epsilon: Number,
        ) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Ask about an old patient, under a rule."""
        return cls._example(record={"age": 97, "bmi": 30})

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Ask about one, and about several."""
        return (cls.example(), cls._example(records={"age": [97, 31, 64], "bmi": [30, 22, 25.5]}))

    @classmethod
    def _example(cls, **fields: Any) -> Example:
        return Example(
            query=cls(**{"model": "rare", "epsilon": "0.5", **fields}),
            records={
                "age": [31, 32, 30, 33, 97, 64, None, 31],
                "bmi": [22, 23, 22, 24, 30, 25.5, 20, 22],
            },
            columns={"age": Interval(0, 120), "bmi": Interval(10, 70)},
            rules={"rare": AnomalyModel(["age", "bmi"], radius=3, beta=3, k=1)},
        )

    def for_plan(self, declaration: Declaration) -> Self:
        """Return the question with some record, if it has none: a lone one has the same error anywhere."""
        if self.record is not None or self.records is not None:
            return self
        model = find_model(self, declaration)
        return self.model_copy(
            update={
                "record": tuple((name, _first(declaration.columns[name])) for name in sorted(model.columns))
            }
        )

    def own_record(self) -> dict[str, Any]:
        """Return the record that is asked about."""
        return dict(self.record or ())

    def labels(self) -> tuple[str, ...] | None:
        """Return what the record, or each of the records, is called by whoever asks."""
        if self.label is None or self.records is None:
            return None if self.label is None else (self.label,)
        return tuple(map(str, dict(self.records)[self.label]))

    def describe(self) -> str:
        """Say what is asked, without the records."""
        rule = "a written-out model" if self.model is None else f"the rule {self.model!r}"
        if self.records is None:
            return f"whether a record is an anomaly by {rule}"
        return f"which of {len(self.records[0][1]):,} records are anomalies by {rule}"


def _first(domain: Domain) -> Any:
    """Return a value of the domain; a model has numbers, categories and flags."""
    match domain:
        case Interval():
            return domain.low
        case Categories():
            return domain.values[0]
        case _:
            return False

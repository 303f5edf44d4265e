# SPDX-License-Identifier: Apache-2.0
"""The questions ``identify`` and ``lookahead``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Literal, Self

from pydantic import Field, StrictBool, StrictInt, StrictStr

from anonymaly.ask.binding import Expectation, Stage
from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Number as FiniteNumber
from anonymaly.core.value import Ordered
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Bins, Categories, Interval
from anonymaly.declare.rules import AnomalyModel, Metric
from anonymaly.noise import Noise, laws
from anonymaly.promise import Everyone, Relation, SensitiveRecords
from anonymaly.questions.identify.balls import BallCounts
from anonymaly.questions.identify.binding import Plan, make_plan
from anonymaly.questions.identify.expected import expect_flips
from anonymaly.questions.identify.mechanism import release_verdicts
from anonymaly.questions.identify.records import RecordColumns, RecordItems
from anonymaly.questions.identify.summary import count_cells, count_neighbours
from anonymaly.questions.identify.verdicts import judge
from anonymaly.questions.lookahead.binding import CountTable, plan_lookahead, release_counts


class Identify(Query):
    """Is this record an anomaly in our data?

    Parameters
    ----------
    record : mapping
        The record: a value for each column of the model.
    records : data frame, list of mappings, or mapping of columns to values
        Many of them instead, all answered for one charge.
    model : str, optional
        The anomaly model that the owner declared under this name.
    guarantee : {"sensitive", "differential"}
        Protect those who are normal or nearly so, or everyone; the latter's answers are hardly better
        than chance where a record has no copies.
    columns, radius, beta, k, metric, scaled : optional
        The model written out, where none is named. Without a rule of the owner's only
        ``guarantee="differential"`` is answered, which makes no use of ``k``.
    bound : {"improved", "paper"}
        How far an answer is known to be from the other one; the paper's bound is never the larger one.
    extra_error : number
        The most that counting no further than needed may add to the probability of an error.
    epsilon : number
        The total charge.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Identify(record={"age": 97, "bmi": 51}, model="rare", epsilon=0.1).describe()
    "whether a record is an anomaly by the rule 'rare'"
    """

    question: ClassVar[str] = "identify"
    personal_fields: ClassVar[frozenset[str]] = frozenset({"record", "records"})

    record: RecordItems | None = Field(
        default=None,
        description="The record: a value for each column of the model, as column=value.",
        json_schema_extra={"pairs": True},
    )
    records: RecordColumns | None = Field(
        default=None,
        description="Many records instead: a CSV or Parquet file with the columns of the model.",
        json_schema_extra={"table": True},
    )
    model: StrictStr | None = Field(default=None, description="The name of a declared anomaly model.")
    guarantee: Literal["sensitive", "differential"] = Field(
        default="sensitive",
        description="sensitive: protect who is normal or nearly so; differential: protect everyone.",
    )
    columns: Annotated[tuple[StrictStr, ...], Field(min_length=1), Ordered] | None = Field(
        default=None, description="The model written out: its columns; give it once for each."
    )
    radius: Annotated[FiniteNumber, Field(ge=0)] | None = Field(
        default=None, description="The model written out: how near a neighbour is."
    )
    beta: Annotated[StrictInt, Field(ge=1, le=2**53)] | None = Field(
        default=None, description="The model written out: how many records an anomaly has within the radius."
    )
    k: Annotated[StrictInt, Field(ge=1, le=2**53)] | None = Field(
        default=None, description="The model written out: how far from normal one may be and be protected."
    )
    metric: Metric | None = Field(default=None, description="euclidean, manhattan or chebyshev.")
    scaled: StrictBool | None = Field(
        default=None, description="true: divide each column by its declared width."
    )
    bound: Literal["improved", "paper"] = Field(
        default="improved", description="improved, or the paper's, which errs more often."
    )
    extra_error: FiniteNumber = Field(
        default=1e-12, gt=0, lt=1, description="The most that counting no further than needed may add."
    )

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

    def resolve(self, declaration: Declaration) -> Self:
        """Check everything that can be seen from the declaration; write numbers in their one spelling."""
        values = make_plan(self, declaration).values
        if self.records is None:
            record = tuple(sorted((name, value) for name, (value,) in values.items()))
            return self.model_copy(update={"record": record})
        columns = tuple(sorted((name, tuple(column)) for name, column in values.items()))
        return self.model_copy(update={"records": columns})

    def relation(self, declaration: Declaration) -> Relation:
        """Return everyone, or those who are sensitive by the model."""
        plan = make_plan(self, declaration)
        if plan.protects_everyone:
            return Everyone(declaration.adjacency, declaration.unit_rows)
        return SensitiveRecords(self.model, plan.model, declaration.adjacency, declaration.unit_rows)

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Count the neighbours and copies of each record, then judge and flip."""
        plan = make_plan(self, declaration)
        names = [axis.column for axis in plan.axes]
        return (
            Stage(
                name="verdicts",
                share=self.cost,
                summarise=lambda table, released: count_neighbours(
                    plan.view(table), plan.balls, names, plan.scales
                ),
                release=lambda counts, released, noise: self._release(counts, plan, noise),
            ),
        )

    def _release(self, counts: BallCounts, plan: Plan, noise: Noise) -> bool | list[bool]:
        verdicts = judge(
            counts.own, counts.within, beta=plan.model.beta, k=plan.k, bound=plan.bound, slack=plan.slack
        )
        answers = [bool(answer) for answer in release_verdicts(verdicts, plan.rate, noise)]
        return answers[0] if self.records is None else answers

    def describe(self) -> str:
        """Say what is asked, without the records."""
        rule = "a written-out model" if self.model is None else f"the rule {self.model!r}"
        if self.records is None:
            return f"whether a record is an anomaly by {rule}"
        return f"which of {len(self.records[0][1]):,} records are anomalies by {rule}"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return the probability of an error, by the number of neighbours."""
        return expect_flips(make_plan(self, declaration), self.cost)

    @classmethod
    def show(cls, value: bool | list[bool], asks: str) -> str:
        """Write the answer, or how many answers are yes."""
        if isinstance(value, bool):
            return "an anomaly" if value else "no anomaly"
        return f"{sum(value):,} of {len(value):,} records answered as anomalies"


class Lookahead(Query):
    """How many records have each value, exactly where nobody is protected?

    Parameters
    ----------
    columns : sequence of str or Bins
        Columns of the model that are declared as categories or flags, or bins of a numeric one.
    model : str
        A declared anomaly model with radius 0.
    epsilon : number
        The total charge.

    Notes
    -----
    Counts of values that so few records share that none of them is protected are released as they are.
    Whatever is computed from the table costs nothing more.
    """

    question: ClassVar[str] = "lookahead"

    columns: Annotated[tuple[StrictStr | Bins, ...], Ordered] = Field(
        min_length=1, description="Columns of the model; give it once for each."
    )
    model: StrictStr = Field(description="The name of a declared anomaly model with radius 0.")

    if TYPE_CHECKING:

        def __init__(self, *, columns: Sequence[str | Bins], model: str, epsilon: Number) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Count wards and age groups."""
        return Example(
            query=cls(columns=["ward", Bins("age", [0, 60, 120])], model="rare_exact", epsilon="0.5"),
            records={"ward": ["A", "A", "A", "B", None, "A", "C"], "age": [31, 35, 31, 64, 70, 31, 80]},
            columns={"ward": Categories(["A", "B", "C", "D"]), "age": Interval(0, 120)},
            rules={"rare_exact": AnomalyModel(["ward", "age"], radius=0, beta=3, k=1)},
        )

    def resolve(self, declaration: Declaration) -> Self:
        """Check everything that can be seen from the declaration."""
        plan_lookahead(self.columns, self.model, self.cost, declaration)
        return self

    def relation(self, declaration: Declaration) -> Relation:
        """Return everyone, or those who are sensitive by the model."""
        plan = plan_lookahead(self.columns, self.model, self.cost, declaration)
        if plan.protects_everyone:
            return Everyone(declaration.adjacency, declaration.unit_rows)
        return SensitiveRecords(self.model, plan.model, declaration.adjacency, declaration.unit_rows)

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Count every cell, then add noise where it is due."""
        plan = plan_lookahead(self.columns, self.model, self.cost, declaration)
        return (
            Stage(
                name="counts",
                share=self.cost,
                summarise=lambda table, released: count_cells(table, plan.attributes),
                release=lambda counts, released, noise: release_counts(counts, plan, noise),
            ),
        )

    def describe(self) -> str:
        """Say what is counted."""
        names = [item.column if isinstance(item, Bins) else item for item in self.columns]
        return f"records by {', '.join(names)}, exact where the rule {self.model!r} protects nobody"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return the noise's law, and which counts have it."""
        plan = plan_lookahead(self.columns, self.model, self.cost, declaration)
        half_width = laws.two_sided_geometric_half_width(plan.rate, Fraction(95, 100))
        which = "every count" if plan.protects_everyone else f"counts from {plan.least:,} on"
        below = "" if plan.protects_everyone else "; smaller counts are exact"
        deviation = laws.two_sided_geometric_deviation(plan.rate)
        return Expectation(
            noise=f"two-sided geometric, standard deviation {deviation:.4g}, on {which}",
            error=f"each within ±{half_width:,} of the true count in 95 of 100 draws{below}",
            half_width=half_width,
        )

    @classmethod
    def show(cls, value: CountTable, asks: str) -> str:
        """Write the table."""
        return f"{asks}:\n{value}"

    def encode(self, value: CountTable, file: BinaryIO) -> None:
        """Write the table as JSON."""
        file.write(json.dumps(value.to_dict()).encode())

    @classmethod
    def decode(cls, file: BinaryIO) -> CountTable:
        """Read the table back."""
        return CountTable.read(json.load(file))

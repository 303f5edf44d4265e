# SPDX-License-Identifier: Apache-2.0
"""The question ``explain``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, Self

from pydantic import Field, StrictInt, StrictStr

from anonymaly.ask.binding import Expectation, Stage
from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import FrozenMapping, digest, frozen_items
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Bins, Categories, Interval
from anonymaly.declare.rules import SameContexts
from anonymaly.detectors import DETECTORS
from anonymaly.promise import ContextQuestion, Relation, SameValidContexts
from anonymaly.questions.explain.binding import make_plan
from anonymaly.questions.explain.mechanism import release_context
from anonymaly.questions.explain.searches.search import SAMPLES, SEARCHES, STARTS, TRIES
from anonymaly.questions.explain.summary import summarise
from anonymaly.questions.explain.value import Context


class Explain(Query):
    """In which group does this record stand out?

    Parameters
    ----------
    record : mapping
        The record, as the asker knows it: its value of every attribute and of the metric.
    metric : str
        The numeric column in which it may stand out.
    attributes : sequence of str or Bins
        The columns that groups are made of.
    detector : str
        What standing out means: ``lof``, ``grubbs``, ``histogram``, ``mad``.
    parameters : mapping
        The detector's parameters, where they shall not be the default ones.
    utility : {"population", "overlap"}
        Which groups are preferred: large ones, or those that share many records with ``target``.
    search : str
        ``exact`` looks at every group; ``uniform``, ``random_walk``, ``depth_first`` and
        ``breadth_first`` look at some.
    epsilon : number
        The total charge.

    Notes
    -----
    The promise holds between tables in which the record stands out in exactly the same groups; it is not
    differential privacy, and whether the record is in the table is not hidden.
    """

    question: ClassVar[str] = "explain"
    personal_fields: ClassVar[frozenset[str]] = frozenset({"record"})

    record: FrozenMapping = Field(
        description="The record: a value for each attribute and the metric, as column=value.",
        json_schema_extra={"pairs": True},
    )
    metric: StrictStr = Field(description="The numeric column in which the record may stand out.")
    attributes: tuple[StrictStr | Bins, ...] = Field(
        min_length=1, description="The columns that groups are made of; give it once for each."
    )
    detector: StrictStr = Field(default="lof", description=f"One of {', '.join(DETECTORS)}.")
    parameters: FrozenMapping = Field(
        default=(), description="The detector's parameters, as name=value.", json_schema_extra={"pairs": True}
    )
    utility: Literal["population", "overlap"] = Field(
        default="population", description="population, or overlap with the target."
    )
    target: FrozenMapping = Field(
        default=(),
        description="The context to overlap with, as column=values; what is left out takes all values.",
        json_schema_extra={"pairs": True},
    )
    search: StrictStr = Field(default="exact", description=f"One of {', '.join(SEARCHES)}.")
    samples: StrictInt = Field(default=SAMPLES, ge=1, description="How many contexts a search looks at.")
    tries: StrictInt = Field(default=TRIES, ge=1, description="How often a search draws before it gives up.")
    start: FrozenMapping | None = Field(
        default=None,
        description="Where a search begins, as column=values.",
        json_schema_extra={"pairs": True},
    )
    starts: StrictInt = Field(
        default=STARTS, ge=1, description="How many groups depth_first and breadth_first begin at."
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            record: Mapping[str, Any],
            metric: str,
            attributes: Sequence[str | Bins],
            detector: str = "lof",
            parameters: Mapping[str, Any] = ...,
            utility: str = "population",
            target: Mapping[str, Sequence[Any]] = ...,
            search: str = "exact",
            samples: int = SAMPLES,
            tries: int = TRIES,
            start: Mapping[str, Sequence[Any]] | None = None,
            starts: int = STARTS,
            epsilon: Number,
        ) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Ask about a well-paid nurse."""
        pay = [40, 41, 42, 43, 44, 45, 46, 47, 48, 90, 80, 85, 88, 92, 95, 99]
        job = ["Nurse"] * 10 + ["Doctor"] * 6
        city = ["Ottawa", "Toronto"] * 8
        return Example(
            query=cls(
                record={"job": "Nurse", "city": "Toronto", "pay": 90},
                metric="pay",
                attributes=["job", "city"],
                detector="grubbs",
                epsilon="0.5",
            ),
            records={"pay": pay, "job": job, "city": city},
            columns={
                "pay": Interval(0, 200),
                "job": Categories(["Nurse", "Doctor", "Clerk"]),
                "city": Categories(["Ottawa", "Toronto"]),
            },
            rules={"groups": SameContexts()},
        )

    def resolve(self, declaration: Declaration) -> Self:
        """Check everything that can be seen from the declaration; write the detector's parameters out."""
        plan = make_plan(self, declaration)
        return self.model_copy(update={"parameters": frozen_items(plan.parameters)})

    def relation(self, declaration: Declaration) -> Relation:
        """Return the tables with the same valid contexts."""
        plan = make_plan(self, declaration)
        question = ContextQuestion(
            metric=self.metric,
            attributes=self.attributes,
            detector=self.detector,
            parameters=plan.parameters,
            record=digest(dict(self.record)),
        )
        return SameValidContexts(question, declaration.adjacency, declaration.unit_rows)

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Summarise every base cell, then choose among the valid contexts."""
        plan = make_plan(self, declaration)
        return (
            Stage(
                name="context",
                share=self.cost,
                summarise=lambda table, released: summarise(table, plan),
                release=lambda summary, released, noise: release_context(summary, plan, noise),
            ),
        )

    def describe(self) -> str:
        """Say what is asked, without the record."""
        names = [item.column if isinstance(item, Bins) else item for item in self.attributes]
        stands_out = f"in which a record stands out in {self.metric} ({self.detector})"
        return f"the group, by {', '.join(names)}, {stands_out}"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return how much smaller than the best group the released one may be."""
        plan = make_plan(self, declaration)
        noise = f"permute-and-flip, ε {float(plan.rate):.3g} for each unit of utility and draw"
        if self.search != "exact":
            return Expectation(noise, "depends on the groups that the search meets")
        # At most 2^F candidates: Pr[u* − u ≥ s] ≤ 2^F·e^(−ε1·s).
        short = math.ceil((plan.space.free_bits * math.log(2) + math.log(20)) / float(plan.rate))
        what = "records" if self.utility == "population" else "shared records"
        return Expectation(
            noise, f"at most {short:,} {what} short of the best group in 95 of 100 draws", short
        )

    def combine(self, released: Mapping[str, Any]) -> Any:
        """Return the context, or nothing: the one constant outcome."""
        return released["context"]

    @classmethod
    def show(cls, value: Context | None, asks: str) -> str:
        """Write the context."""
        if value is None:
            return "no group: there is no such record, or it stands out in none, or the start is not one"
        return f"{value}"

    def encode(self, value: Context | None, file: BinaryIO) -> None:
        """Write the context as JSON."""
        file.write(json.dumps(None if value is None else value.to_dict()).encode())

    @classmethod
    def decode(cls, file: BinaryIO) -> Context | None:
        """Read the context back."""
        data = json.load(file)
        return None if data is None else Context.read(data)

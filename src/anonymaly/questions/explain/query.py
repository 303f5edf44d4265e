# SPDX-License-Identifier: Apache-2.0
"""The question ``explain``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import FrozenMapping
from anonymaly.declare.domain import Bins, Categories, Interval
from anonymaly.declare.rules import SameContexts
from anonymaly.detectors import DETECTORS
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings


class Explain(Query):
    """In which group does this record stand out?

    Notes
    -----
    The promise holds between tables in which the record stands out in exactly the same groups; it is not
    differential privacy, and whether the record is in the table is not hidden.

    Examples
    --------
    >>> import anonymaly as am
    >>> nurse = {"job": "Nurse", "city": "Oslo", "pay": 90}
    >>> am.Explain(record=nurse, metric="pay", attributes=["job", "city"], epsilon=0.2).describe()
    'the group, by job, city, in which a record stands out in pay (lof)'
    """

    question: ClassVar[str] = "explain"
    # Groups that the asker gives hold the record's own values, too.
    personal_fields: ClassVar[frozenset[str]] = frozenset({"record", "target", "start"})

    record: FrozenMapping = Field(json_schema_extra={"pairs": "record"})
    """The record: a value for each attribute and the metric, as column=value."""
    metric: StrictStr
    """The numeric column in which the record may stand out."""
    attributes: tuple[StrictStr | Bins, ...] = Field(min_length=1)
    """The columns that groups are made of; give it once for each."""
    detector: StrictStr = Field(
        default="lof", description=f"What standing out means: one of {', '.join(DETECTORS)}."
    )
    parameters: FrozenMapping = Field(default=(), json_schema_extra={"pairs": True})
    """The detector's parameters that are not to be the default ones, as name=value."""
    utility: Literal["population", "overlap"] = "population"
    """Which groups are preferred: population, large ones; overlap, those that share records with target."""
    target: FrozenMapping = Field(default=(), json_schema_extra={"pairs": "group"})
    """The group to overlap with, as column=values; a column that is left out takes all values."""
    search: StrictStr = Field(
        default="exact",
        description=f"One of {', '.join(SEARCHES)}; exact looks at every group, the others at some.",
    )
    samples: Annotated[StrictInt, Field(ge=1)] | None = None
    """How many groups a search looks at; by default 50, and in uniform, where they cost no ε, 20,000 (1,000
    with a detector that has no compiled kernel)."""
    tries: StrictInt = Field(default=SearchSettings.tries, ge=1)
    """How often a search draws before it gives up."""
    start: FrozenMapping | None = Field(default=None, json_schema_extra={"pairs": "group"})
    """The group that random_walk, depth_first and breadth_first begin at, as column=values; drawn blindly if
    not given. exact and uniform begin at none."""
    starts: StrictInt = Field(default=SearchSettings.starts, ge=1)
    """How many groups depth_first and breadth_first begin at."""

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
            samples: int | None = None,
            tries: int = ...,
            start: Mapping[str, Sequence[Any]] | None = None,
            starts: int = ...,
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

    def own_record(self) -> dict[str, Any]:
        """Return the record that is asked about."""
        return dict(self.record)

    def describe(self) -> str:
        """Say what is asked, without the record."""
        names = [item.column if isinstance(item, Bins) else item for item in self.attributes]
        stands_out = f"in which a record stands out in {self.metric} ({self.detector})"
        return f"the group, by {', '.join(names)}, {stands_out}"

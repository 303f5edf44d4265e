# SPDX-License-Identifier: Apache-2.0
"""The question ``explain``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, PlainSerializer, StrictInt, StrictStr, Tag

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import FrozenMapping
from anonymaly.declare.dates import Dates
from anonymaly.declare.domain import Bins, Categories, Interval
from anonymaly.declare.rules import SameContexts
from anonymaly.detectors import DETECTORS
from anonymaly.questions.explain.everyone.choices import (
    GROUPS,
    LARGEST_WHY,
    MARGIN_NAMES,
    MOST_GROUPS,
    MOST_STEPS,
    STEPS,
    WHY,
)
from anonymaly.questions.explain.everyone.value import Explanation
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings

if TYPE_CHECKING:
    from anonymaly.questions.explain.value import Context  # noqa: F401  (the type of the value)

# The fields of version 1, all of which its texts have. Such a question names no rule: any declared one that
# permits it is meant.
OF_VERSION_1 = frozenset(
    {"record", "metric", "attributes", "detector", "parameters", "utility", "target", "search", "samples"}
    | {"tries", "start", "starts", "epsilon"}
)
UNNAMED = ""


def _moments_as_text(record: Any) -> Any:
    """Write dates as text, which JSON has; a record that is read from a table has datetimes."""
    if not isinstance(record, Mapping):
        return record
    return {name: item.isoformat() if isinstance(item, date) else item for name, item in record.items()}


def _share(number: Any) -> Decimal:
    """Read a share as it is written: JSON's 0.2 is a fifth, and one text means one number."""
    try:
        share = Decimal(str(number)).normalize() if not isinstance(number, bool) else None
    except InvalidOperation:
        share = None
    if share is None or not share.is_finite() or not 0 <= share <= LARGEST_WHY:
        raise ValueError(f"must be a share of ε from 0 to {LARGEST_WHY}")
    return Decimal(f"{share:f}")


def _form(item: Any) -> str:
    """Say which form an attribute has: a name, or how its column is cut."""
    if isinstance(item, Dates) or (
        isinstance(item, Mapping) and ("by" in item or item.get("type") == "dates")
    ):
        return "Dates"
    return "Bins" if isinstance(item, Bins | Mapping) else "str"


CutColumn = Annotated[
    Annotated[StrictStr, Tag("str")] | Annotated[Bins, Tag("Bins")] | Annotated[Dates, Tag("Dates")],
    Discriminator(_form),
]
Share = Annotated[Decimal, BeforeValidator(_share), PlainSerializer(str, return_type=str)]


class Explain(Query["Explanation | Context | None"]):
    """In which group does this record stand out, and why?

    Notes
    -----
    Without a rule the answer is differentially private: it protects everyone, the record asked about too.
    With ``rule``, the name of a declared `SameContexts`, it is that of Shafieinejad et al. 2021, which holds
    between tables in which the record stands out in exactly the same groups, and is not.

    Examples
    --------
    >>> import anonymaly as am
    >>> nurse = {"job": "Nurse", "city": "Oslo", "pay": 90}
    >>> am.Explain(record=nurse, metric="pay", attributes=["job", "city"], epsilon=0.2).describe()
    'the group, by job, city, in which a record stands out in pay (fence)'
    """

    question: ClassVar[str] = "explain"
    # Groups that the asker gives hold the record's own values, too.
    personal_fields: ClassVar[frozenset[str]] = frozenset({"record", "target", "start"})

    record: Annotated[FrozenMapping, BeforeValidator(_moments_as_text)] = Field(
        json_schema_extra={"pairs": "record"}
    )
    """The record: a value for each attribute and the metric, as column=value."""
    metric: StrictStr
    """The numeric column in which the record may stand out."""
    attributes: tuple[CutColumn, ...] = Field(min_length=1)
    """The columns that groups are made of; give it once for each. Bins cut numbers, and Dates dates."""
    detector: StrictStr | None = Field(
        default=None,
        description=f"What standing out means: one of {', '.join(MARGIN_NAMES)}, the first by default; with "
        f"a rule one of {', '.join(DETECTORS)}, by default lof.",
    )
    parameters: FrozenMapping = Field(default=(), json_schema_extra={"pairs": True})
    """The detector's parameters that are not to be the default ones, as name=value."""
    among: Literal["simple", "subsets"] = "simple"
    """Among which groups: simple, where each attribute is any, the record's own value, or an interval that
    holds it; subsets, all sets of values that hold it. With a rule always subsets."""
    groups: StrictInt = Field(default=GROUPS, ge=1, le=MOST_GROUPS)
    """How many groups to name, each at its share of epsilon; those too like a named one are left out."""
    why: Share = WHY
    """The share of epsilon for the groups' sizes and quartiles; 0 for none of them."""
    steps: StrictInt = Field(default=STEPS, ge=2, le=MOST_STEPS)
    """Into how many steps the metric's interval is cut."""
    rule: StrictStr | None = None
    """The declared rule that permits the form of Shafieinejad et al. 2021; without, everyone is protected."""
    utility: Literal["population", "overlap"] = "population"
    """With a rule: which groups are preferred: population, large ones; overlap, those that share records
    with target."""
    target: FrozenMapping = Field(default=(), json_schema_extra={"pairs": "group"})
    """With a rule: the group to overlap with, as column=values; a column left out takes all values."""
    search: StrictStr = Field(
        default="exact",
        description=f"With a rule: one of {', '.join(SEARCHES)}; exact looks at every group, others at some.",
    )
    samples: Annotated[StrictInt, Field(ge=1)] | None = None
    """With a rule: how many groups a search looks at; by default 50, and in uniform, where they cost no ε,
    20,000 (1,000 with a detector that has no compiled kernel)."""
    tries: StrictInt = Field(default=SearchSettings.tries, ge=1)
    """With a rule: how often a search draws before it gives up."""
    start: FrozenMapping | None = Field(default=None, json_schema_extra={"pairs": "group"})
    """With a rule: the group that random_walk, depth_first and breadth_first begin at, as column=values;
    drawn blindly if not given. exact and uniform begin at none."""
    starts: StrictInt = Field(default=SearchSettings.starts, ge=1)
    """With a rule: how many groups depth_first and breadth_first begin at."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            record: Mapping[str, Any],
            metric: str,
            attributes: Sequence[str | Bins | Dates],
            detector: str | None = None,
            parameters: Mapping[str, Any] = ...,
            among: str = "simple",
            groups: int = ...,
            why: Number = ...,
            steps: int = ...,
            rule: str | None = None,
            utility: str = "population",
            target: Mapping[str, Sequence[Any]] = ...,
            search: str = "exact",
            samples: int | None = None,
            tries: int = ...,
            start: Mapping[str, Sequence[Any]] | None = None,
            starts: int = ...,
            epsilon: Number,
        ) -> None: ...

    @property
    def schema_version(self) -> int:
        """2, or 1 for a question whose text is of version 1: it keeps its fingerprint."""
        return 1 if self.rule == UNNAMED else 2

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read a question from plain data; a text with the fields of version 1, and no others, means that."""
        if isinstance(data, Mapping) and set(data) - {"question"} == OF_VERSION_1:
            return super().from_dict({**data, "rule": UNNAMED})
        return super().from_dict(data)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data; one of version 1 as it always was."""
        data = super().to_dict()
        if self.rule != UNNAMED:
            return data
        return {name: item for name, item in data.items() if name == "question" or name in OF_VERSION_1}

    @classmethod
    def example(cls) -> Example:
        """Ask about a well-paid nurse."""
        return cls._example()

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Ask for everyone, for two groups among all subsets, and under a rule."""
        return (
            cls._example(),
            cls._example(among="subsets", groups=2, detector="rare", parameters={"radius": 20}),
            cls._example(rule="groups", detector="grubbs"),
        )

    @classmethod
    def _example(cls, **fields: Any) -> Example:
        pay = [40, 41, 42, 43, 44, 45, 46, 47, 48, 90, 80, 85, 88, 92, 95, 99]
        job = ["Nurse"] * 10 + ["Doctor"] * 6
        city = ["Ottawa", "Toronto"] * 8
        return Example(
            query=cls(
                record={"job": "Nurse", "city": "Toronto", "pay": 90},
                metric="pay",
                attributes=["job", "city"],
                epsilon="0.5",
                **fields,
            ),
            records={"pay": pay, "job": job, "city": city},
            columns={
                "pay": Interval(0, 200),
                "job": Categories(["Nurse", "Doctor", "Clerk"]),
                "city": Categories(["Ottawa", "Toronto"]),
            },
            rules={"groups": SameContexts()},
        )

    def completed(self, value: Any) -> Any:
        """Return an explanation with the record's value, which is kept nowhere."""
        if not isinstance(value, Explanation):
            return value
        return value.about(float(self.own_record()[self.metric]))

    def own_record(self) -> dict[str, Any]:
        """Return the record that is asked about."""
        return dict(self.record)

    @property
    def standing_out(self) -> str:
        """The detector's name, given or by default."""
        return self.detector or (MARGIN_NAMES[0] if self.rule is None else "lof")

    def describe(self) -> str:
        """Say what is asked, without the record."""
        names = [item if isinstance(item, str) else item.column for item in self.attributes]
        what = "the group" if self.groups == 1 else f"up to {self.groups} groups"
        stands_out = f"in which a record stands out in {self.metric} ({self.standing_out})"
        return f"{what}, by {', '.join(names)}, {stands_out}"

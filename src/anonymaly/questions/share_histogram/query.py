# SPDX-License-Identifier: Apache-2.0
"""The question ``share-histogram``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered, added
from anonymaly.declare.domain import Bins, Categories, Flag, Interval
from anonymaly.declare.rules import Policy
from anonymaly.questions.share_histogram.methods import METHODS

if TYPE_CHECKING:
    from anonymaly.questions.share_histogram.value import ReleasedHistogram  # noqa: F401  (the type of the value)


class ShareHistogram(Query["ReleasedHistogram"]):
    """How many records are there of each kind, when only some are sensitive?

    All combinations of the columns' values are answered, empty ones too.

    Examples
    --------
    >>> import anonymaly as am
    >>> ages = am.Bins("age", [0, 18, 65, 120])
    >>> am.ShareHistogram(by=["ward", ages], policy="adults", epsilon=1).describe()
    "a histogram by ward, age (auto, policy 'adults')"
    """

    question: ClassVar[str] = "share-histogram"
    tabular: ClassVar[bool] = True

    by: Annotated[tuple[StrictStr | Bins, ...], Ordered] = Field(min_length=1)
    """A column whose values make cells, or {"column": "age", "edges": [0, 18, 65]}; give it once for each."""

    policy: StrictStr | None = None
    """The declared policy that says who is not sensitive; methods that protect everyone need none."""

    method: StrictStr = Field(
        default="auto", description=f"How counts are released: one of {', '.join(METHODS)}; auto chooses."
    )

    matters: Literal["cells", "totals", "ranges"] | None = added(
        None,
        description="What auto chooses for: single cells (the default), or sums of many: totals, ranges.",
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            by: Sequence[str | Bins],
            policy: str | None = None,
            method: str = "auto",
            matters: Literal["cells", "totals", "ranges"] | None = None,
            epsilon: Number,
        ) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Count patients by ward and age."""
        return Example(
            query=cls(by=["ward", Bins("age", [0, 18, 65, 120])], policy="adults", epsilon="0.5"),
            records={
                "age": [71, 64, 16, 80, 33, 62, None],
                "ward": ["A", "A", "A", "B", "A", "A", "B"],
                "consent": [True, False, True, True, None, True, True],
            },
            columns={"age": Interval(0, 120), "ward": Categories(["A", "B"]), "consent": Flag()},
            rules={"adults": Policy("age >= 18 and consent")},
        )

    def describe(self) -> str:
        """Say what is counted."""
        names = [item.column if isinstance(item, Bins) else item for item in self.by]
        aim = self.method if self.matters in (None, "cells") else f"{self.method} for {self.matters}"
        how = aim if self.policy is None else f"{aim}, policy {self.policy!r}"
        return f"a histogram by {', '.join(names)} ({how})"

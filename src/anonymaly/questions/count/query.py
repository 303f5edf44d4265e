# SPDX-License-Identifier: Apache-2.0
"""The question ``count``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, overload

from pydantic import Field, StrictStr

from anonymaly.ask.query import Example, Query, T
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered
from anonymaly.declare.domain import Categories, Interval

MOST_FILTERS = 1_000

Filters = Annotated[tuple[StrictStr, ...], Field(min_length=1, max_length=MOST_FILTERS), Ordered]


class Count(Query[T]):
    """How many records match?

    Several filters in a list give as many counts. If no record can match two of them, they cost as much as
    one count.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Count(where="ward == 'A'", epsilon=0.1).describe()
    "records where ward == 'A'"
    >>> print(am.Count(where=["age < 60", "age >= 60"], epsilon=0.1).describe())
    records where
      age < 60
      age >= 60
    """

    question: ClassVar[str] = "count"

    where: Filters | str | None = None
    """A filter such as "ward == 'A' and age >= 18"; all records without it. A record for which the filter
    is unknown because of a null does not match. Several, in a list or given once for each, give as many
    counts."""

    if TYPE_CHECKING:

        @overload
        def __init__(self: Count[int], *, where: str | None = None, epsilon: Number) -> None: ...
        @overload
        def __init__(
            self: Count[list[int]], *, where: list[str] | tuple[str, ...], epsilon: Number
        ) -> None: ...
        def __init__(self, *, where: str | Sequence[str] | None = None, epsilon: Number) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Count the older patients of a ward."""
        return cls._example("age >= 60 and ward == 'A'")

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Count those who match one filter, and each of several."""
        return (cls.example(), cls._example(["age < 60", "age >= 60 and ward == 'A'", "age is null"]))

    @classmethod
    def _example(cls, where: str | list[str]) -> Example:
        return Example(
            query=cls(where=where, epsilon="0.5"),
            records={"age": [71, 64, 58, 80, 33, 62, None], "ward": ["A", "A", "A", "B", "A", "A", "B"]},
            columns={"age": Interval(0, 120), "ward": Categories(["A", "B"])},
        )

    def describe(self) -> str:
        """Say what is counted; of a list, each filter in a line of its own."""
        if self.where is None:
            return "all records"
        if isinstance(self.where, str):
            return f"records where {self.where}"
        return "\n  ".join(["records where", *(text.replace("\n", " ") for text in self.where)])

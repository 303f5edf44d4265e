# SPDX-License-Identifier: Apache-2.0
"""The question ``count``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.declare.domain import Categories, Interval


class Count(Query):
    """How many records match?

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Count(where="ward == 'A'", epsilon=0.1).describe()
    "records where ward == 'A'"
    """

    question: ClassVar[str] = "count"

    where: str | None = None
    """A filter such as "ward == 'A' and age >= 18"; all records without it. A record for which the filter
    is unknown because of a null does not match."""

    if TYPE_CHECKING:

        def __init__(self, *, where: str | None = None, epsilon: Number) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Count the older patients of a ward."""
        return Example(
            query=cls(where="age >= 60 and ward == 'A'", epsilon="0.5"),
            records={"age": [71, 64, 58, 80, 33, 62, None], "ward": ["A", "A", "A", "B", "A", "A", "B"]},
            columns={"age": Interval(0, 120), "ward": Categories(["A", "B"])},
        )

    def describe(self) -> str:
        """Say what is counted."""
        return "all records" if self.where is None else f"records where {self.where}"

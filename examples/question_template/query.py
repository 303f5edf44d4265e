# SPDX-License-Identifier: Apache-2.0
"""The question ``proportion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.declare.domain import Flag, Interval


class Proportion(Query):
    """What proportion of the records match?

    Half of epsilon pays for each of two counts: the records that match, and the others.
    """

    question: ClassVar[str] = "proportion"

    where: str
    """A filter such as "age >= 65"."""

    if TYPE_CHECKING:

        def __init__(self, *, where: str, epsilon: Number) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Ask for the consenting part of a small table."""
        return Example(
            query=cls(where="consent and age >= 18", epsilon="0.5"),
            records={"age": [30, 17, 45, None], "consent": [True, True, None, False]},
            columns={"age": Interval(0, 120), "consent": Flag()},
        )

    def describe(self) -> str:
        """Say what is asked."""
        return f"proportion of records where {self.where}"

# SPDX-License-Identifier: Apache-2.0
"""The question ``share-sample``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, StrictBool, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered, added
from anonymaly.declare.domain import Categories, Flag, Interval
from anonymaly.declare.rules import Policy

if TYPE_CHECKING:
    from anonymaly.ask.table import Table  # noqa: F401  (the type of the value)


class ShareSample(Query["Table"]):
    """Which records may be published as they are?

    Each record that is not sensitive is kept with probability 1 − e^-ε. Where persons are declared, each
    person who is not sensitive is, with all of their rows, under a label drawn anew.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.ShareSample(policy="adults", columns=["age", "ward"], epsilon=1).describe()
    "a sample of the records that are not sensitive under 'adults', with age, ward"
    """

    question: ClassVar[str] = "share-sample"
    media_type: ClassVar[str] = "application/vnd.apache.parquet"
    tabular: ClassVar[bool] = True

    policy: StrictStr
    """The name of a declared policy, which says who is not sensitive."""

    columns: Annotated[tuple[StrictStr, ...], Ordered] = Field(min_length=1)
    """A declared column to publish; give it once for each."""

    weights: StrictBool = added(False)
    """Whether to add a column with what each record stands for: 1/(1 − e^-ε) that are not sensitive."""

    if TYPE_CHECKING:

        def __init__(
            self, *, policy: str, columns: Sequence[str], weights: bool = False, epsilon: Number
        ) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Publish some of the adults who agreed."""
        return Example(
            query=cls(policy="adults", columns=["age", "ward"], epsilon="0.5"),
            records={
                "age": [71, 64, 16, 80, 33, 62, None],
                "ward": ["A", "A", "A", "B", "A", "A", "B"],
                "consent": [True, False, True, True, None, True, True],
            },
            columns={"age": Interval(0, 120), "ward": Categories(["A", "B"]), "consent": Flag()},
            rules={"adults": Policy("age >= 18 and consent")},
        )

    def describe(self) -> str:
        """Say what is published."""
        who = f"a sample of the records that are not sensitive under {self.policy!r}"
        return f"{who}, with {', '.join(self.columns)}{' and weights' if self.weights else ''}"

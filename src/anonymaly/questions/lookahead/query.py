# SPDX-License-Identifier: Apache-2.0
"""The question ``lookahead``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered
from anonymaly.declare.domain import Bins, Categories, Interval
from anonymaly.declare.rules import AnomalyModel

if TYPE_CHECKING:
    from anonymaly.questions.lookahead.value import CountTable  # noqa: F401  (the type of the value)


class Lookahead(Query["CountTable"]):
    """How many records have each value, with noise only where somebody may be protected?

    Counts below beta − k of the model (beta − k − m + 1 where m rows of a person are read) are released as
    they are: no record that the model protects can be among so few.
    Whatever is computed from the table costs nothing more.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.Lookahead(columns=["ward"], model="rare_exact", epsilon=0.5).describe()
    "records by ward, exact only where so few share a value that the rule 'rare_exact' protects none of them"
    """

    question: ClassVar[str] = "lookahead"

    columns: Annotated[tuple[StrictStr | Bins, ...], Field(min_length=1), Ordered]
    """Columns of the model: categories, flags, or bins of a number; give it once for each."""

    model: StrictStr
    """The name of a declared anomaly model with radius 0."""

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

    def describe(self) -> str:
        """Say what is counted."""
        names = [item.column if isinstance(item, Bins) else item for item in self.columns]
        few = f"so few share a value that the rule {self.model!r} protects none of them"
        return f"records by {', '.join(names)}, exact only where {few}"

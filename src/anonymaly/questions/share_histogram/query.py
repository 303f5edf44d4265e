# SPDX-License-Identifier: Apache-2.0
"""The question ``share-histogram``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Self

from pydantic import Field, StrictStr

from anonymaly.ask.binding import Expectation, Stage
from anonymaly.ask.cited import Cited, cite
from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered
from anonymaly.declare.attributes import Attribute, read_attributes
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Bins, Categories, Flag, Interval
from anonymaly.declare.rules import Policy
from anonymaly.errors import InputError
from anonymaly.promise import Relation
from anonymaly.questions.share_histogram.methods.counts import Rates
from anonymaly.questions.share_histogram.methods.table import METHODS, Method
from anonymaly.questions.share_histogram.methods.words import expectation
from anonymaly.questions.share_histogram.summary import count_cells
from anonymaly.questions.share_histogram.value import Histogram
from anonymaly.questions.share_sample.mechanism import rate_for

MOST_CELLS = 1 << 20
MOST_EDGES = 10_000  # of one column: the ledger keeps the question, edges and all


class ShareHistogram(Query):
    """How many records are there of each kind, when only some are sensitive?

    Parameters
    ----------
    by : sequence of str or Bins
        The columns whose combinations of values are the cells; all of them are answered, empty ones too.
    policy : str, optional
        The name of a declared policy, which says who is *not* sensitive. Methods that protect everyone
        (``geometric``, ``smoothed``, ``dawa``) need none.
    method : str
        How counts are released; ``auto`` chooses.
    epsilon : number
        The total charge.

    Examples
    --------
    >>> import anonymaly as am
    >>> ages = am.Bins("age", [0, 18, 65, 120])
    >>> am.ShareHistogram(by=["ward", ages], policy="adults", epsilon=1).describe()
    "a histogram by ward, age (auto, policy 'adults')"
    """

    question: ClassVar[str] = "share-histogram"
    tabular: ClassVar[bool] = True

    by: Annotated[tuple[StrictStr | Bins, ...], Ordered] = Field(
        min_length=1,
        description="A column whose values make the cells, or "
        '{"column": "age", "edges": [0, 18, 65, 120]}; give it once for each.',
    )
    policy: StrictStr | None = Field(
        default=None, description="The declared policy that says who is not sensitive."
    )
    method: StrictStr = Field(default="auto", description=f"One of {', '.join(METHODS)}.")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            by: Sequence[str | Bins],
            policy: str | None = None,
            method: str = "auto",
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

    def resolve(self, declaration: Declaration) -> Self:
        """Check everything against the declaration; a policy that the method does not look at is left out."""
        self._attributes(declaration)
        self._rates(declaration)
        cited = self._cited(declaration)
        used = cited is not None and self._method().reads_non_sensitive
        return self.model_copy(update={"policy": cited.text if used and cited is not None else None})

    def relation(self, declaration: Declaration) -> Relation:
        """Return those that the policy calls sensitive, or everyone where the method needs no policy."""
        cited = self._cited(declaration)
        if cited is None or not self._method().reads_non_sensitive:
            return super().relation(declaration)
        return cited.relation(declaration)

    def judged_by(self, declaration: Declaration) -> Policy | None:
        """Return the cited policy, if there is one."""
        cited = self._cited(declaration)
        return None if cited is None else cited.policy

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Count every cell on the engine, then release the counts by the method."""
        by, method, rates = self._attributes(declaration), self._method(), self._rates(declaration)
        return (
            Stage(
                name="histogram",
                share=self.cost,
                summarise=lambda table, released: count_cells(table, by),
                release=lambda cells, released, noise: Histogram(
                    by, method.run(cells.every, cells.non_sensitive, rates=rates, noise=noise)
                ),
            ),
        )

    def describe(self) -> str:
        """Say what is counted."""
        names = [item.column if isinstance(item, Bins) else item for item in self.by]
        how = self.method if self.policy is None else f"{self.method}, policy {self.policy!r}"
        return f"a histogram by {', '.join(names)} ({how})"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return the noise of the method and the error that it makes."""
        return expectation(self._method(), self._rates(declaration), self._cells(declaration))

    @classmethod
    def show(cls, value: Histogram, asks: str) -> str:
        """Write the cells."""
        return f"{asks}\n{value}"

    def encode(self, value: Any, file: BinaryIO) -> None:
        """Write the histogram as JSON."""
        file.write(json.dumps(value.to_dict(), ensure_ascii=False, allow_nan=False).encode())

    @classmethod
    def decode(cls, file: BinaryIO) -> Histogram:
        """Read the histogram back."""
        return Histogram.of_dict(json.load(file))

    def _method(self) -> Method:
        if self.method not in METHODS:
            raise InputError(
                f"there is no {self.method!r}", field="method", next_step=f"Methods: {', '.join(METHODS)}."
            )
        return METHODS[self.method]

    def _cited(self, declaration: Declaration) -> Cited | None:
        if self.policy is not None:
            return cite(self.policy, declaration)
        if self._method().reads_non_sensitive:
            free = ", ".join(name for name, method in METHODS.items() if not method.reads_non_sensitive)
            raise InputError(
                f"is needed for the method {self.method}, which treats sensitive records apart",
                field="policy",
                next_step=f"Cite a declared policy, or use a method that protects everyone: {free}.",
            )
        return None

    def _attributes(self, declaration: Declaration) -> tuple[Attribute, ...]:
        by = read_attributes(self.by, declaration.columns, field="by")
        cells = math.prod(len(attribute.values) for attribute in by)
        if cells > MOST_CELLS:
            raise InputError(
                f"makes {cells:,} cells, and at most {MOST_CELLS:,} are answered",
                field="by",
                next_step="Use fewer columns or wider bins.",
            )
        for attribute in by:
            if attribute.bins is not None and len(attribute.bins.edges) > MOST_EDGES:
                raise InputError(
                    f"cuts {attribute.column} at {len(attribute.bins.edges):,} edges, "
                    f"and at most {MOST_EDGES:,} are read",
                    field="by",
                    next_step="Use wider bins.",
                )
        return by

    def _rates(self, declaration: Declaration) -> Rates:
        rate = rate_for(self.cost, declaration)
        return self._method().rates_of(rate, declaration.adjacency, self._cells(declaration))

    def _cells(self, declaration: Declaration) -> int:
        return math.prod(len(attribute.values) for attribute in self._attributes(declaration))

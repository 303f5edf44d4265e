# SPDX-License-Identifier: Apache-2.0
"""The question ``share-sample``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Self

from pydantic import Field, StrictStr

from anonymaly.ask.binding import Expectation, Stage
from anonymaly.ask.cited import cite
from anonymaly.ask.query import Example, Query
from anonymaly.ask.table import Table
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered
from anonymaly.declare.dataset import Declaration
from anonymaly.declare.domain import Categories, Flag, Interval
from anonymaly.declare.rules import Policy
from anonymaly.errors import InputError
from anonymaly.promise import Relation
from anonymaly.questions.share_histogram.summary import non_sensitive_records
from anonymaly.questions.share_sample.mechanism import kept_share, rate_for, release_sample

NEXT_TO_NOTHING = 0.01  # of the records: below it the preview says what would be needed


class ShareSample(Query):
    """Which records may be published as they are?

    Parameters
    ----------
    policy : str
        The name of a declared policy, which says who is *not* sensitive.
    columns : sequence of str
        The declared columns to publish.
    epsilon : number
        The total charge. Each record that is not sensitive is kept with probability 1 − e^-ε.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.ShareSample(policy="adults", columns=["age", "ward"], epsilon=1).describe()
    "a sample of the records that are not sensitive under 'adults', with age, ward"
    """

    question: ClassVar[str] = "share-sample"
    media_type: ClassVar[str] = Table.media_type
    tabular: ClassVar[bool] = True

    policy: StrictStr = Field(description="The declared policy that says who is not sensitive.")
    columns: Annotated[tuple[StrictStr, ...], Ordered] = Field(
        min_length=1, description="A declared column to publish; give it once for each."
    )

    if TYPE_CHECKING:

        def __init__(self, *, policy: str, columns: Sequence[str], epsilon: Number) -> None: ...

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

    def resolve(self, declaration: Declaration) -> Self:
        """Check policy and columns against the declaration."""
        for name in self.columns:
            if name not in declaration.columns:
                raise InputError(
                    f"there is no declared column {name!r}",
                    field="columns",
                    next_step=f"Declared columns: {', '.join(declaration.columns)}.",
                )
        if len(set(self.columns)) < len(self.columns):
            raise InputError("names a column twice", field="columns", next_step="Name each column once.")
        return self.model_copy(update={"policy": cite(self.policy, declaration).text})

    def relation(self, declaration: Declaration) -> Relation:
        """Return those that the policy calls sensitive."""
        return cite(self.policy, declaration).relation(declaration)

    def judged_by(self, declaration: Declaration) -> Policy:
        """Return the cited policy."""
        return cite(self.policy, declaration).policy

    def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
        """Stream the records that are not sensitive, then keep some of them."""
        rate = rate_for(self.cost, declaration)
        return (
            Stage(
                name="sample",
                share=self.cost,
                summarise=lambda table, released: non_sensitive_records(table, self.columns),
                release=lambda records, released, noise: release_sample(records, rate, noise),
            ),
        )

    def describe(self) -> str:
        """Say what is published."""
        who = f"a sample of the records that are not sensitive under {self.policy!r}"
        return f"{who}, with {', '.join(self.columns)}"

    def expect(self, declaration: Declaration) -> Expectation:
        """Return which part of the records is kept."""
        kept = kept_share(rate_for(self.cost, declaration))
        said = f"{100 * kept:.3g} of 100 records that are not sensitive are kept on average"
        if kept < NEXT_TO_NOTHING:
            times = "" if declaration.rows == 1 else f" times {declaration.rows}"
            said += f": at this ε next to nothing is released (ε = 1{times} keeps 63 of 100)"
        return Expectation(
            noise=f"a coin for each record, heads with probability {kept:.4g}; the order is drawn anew",
            error=f"{said}; those are true, and nothing is said of the others",
        )

    @classmethod
    def show(cls, value: Table, asks: str) -> str:
        """Write how many records there are, and the first of them."""
        return f"{len(value):,} records: {asks}\n{value}"

    def encode(self, value: Any, file: BinaryIO) -> None:
        """Write the table."""
        value.copy_to(file)

    @classmethod
    def decode(cls, file: BinaryIO) -> Table:
        """Return the table in the store, which is read when it is used."""
        return Table.read(file)

# SPDX-License-Identifier: Apache-2.0
"""The question ``share-ngrams``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, StrictInt, StrictStr

from anonymaly.ask.query import Example, Query
from anonymaly.core.epsilon import Number
from anonymaly.core.value import Ordered
from anonymaly.declare.domain import Bins, Categories, Flag, Interval
from anonymaly.declare.rules import Policy
from anonymaly.questions.share_ngrams.sequences import lengths

if TYPE_CHECKING:
    from anonymaly.questions.share_ngrams.value import ReleasedNgrams  # noqa: F401  (the type of the value)

LONGEST = 30  # places in a sequence: of two places, more sequences than 2^31
MOST_OF_A_PERSON = 1_000_000
HIGHEST_THRESHOLD = 2**53


class ShareNgrams(Query["ReleasedNgrams"]):
    """Which places do people go to, one after another?

    Counts, for sequences of up to ``length`` places, the persons who were there in that order, one row after
    another.

    Examples
    --------
    >>> import anonymaly as am
    >>> am.ShareNgrams(place=["ward"], order="day", length=3, per_person=5, epsilon=1).describe()
    'sequences of up to 3 places (ward) by day, at most 5 of a person'
    """

    question: ClassVar[str] = "share-ngrams"
    tabular: ClassVar[bool] = True

    place: Annotated[tuple[StrictStr | Bins, ...], Ordered] = Field(min_length=1)
    """A column whose values are places, or {"column": "x", "edges": [0, 1, 2]}; several make a grid."""

    order: StrictStr
    """The column by which a person's rows are put in order: a number or a moment."""

    length: StrictInt = Field(default=2, ge=1, le=LONGEST)
    """The most places in a sequence; shorter ones are counted too, unless ``shortest`` says otherwise."""

    shortest: StrictInt = Field(default=1, ge=1, le=LONGEST)
    """The fewest places in a sequence: as many as length, and no others use up what a person may count."""

    per_person: StrictInt = Field(default=8, ge=1, le=MOST_OF_A_PERSON)
    """The most sequences of one person that count, of all lengths together; the noise grows with it."""

    policy: StrictStr | None = None
    """The declared policy that says who is not sensitive, and only they count; without it, everyone does."""

    threshold: StrictInt | None = Field(default=None, ge=1, le=HIGHEST_THRESHOLD)
    """The smallest noisy count that is published; by default, at most about one of them is noise."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            place: Sequence[str | Bins],
            order: str,
            length: int = 2,
            shortest: int = 1,
            per_person: int = 8,
            policy: str | None = None,
            threshold: int | None = None,
            epsilon: Number,
        ) -> None: ...

    @classmethod
    def example(cls) -> Example:
        """Count the ways of patients through wards, of everyone."""
        return cls._example(None)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Count those of everyone, and those of adults who agreed."""
        return cls._example(None), cls._example("adults")

    @classmethod
    def _example(cls, policy: str | None) -> Example:
        return Example(
            query=cls(place=["ward"], order="day", length=2, per_person=3, policy=policy, epsilon="0.5"),
            records={
                "patient": ["Ada", "Ada", "Ada", "Bob", "Bob", "Cem", None],
                "day": [1, 2, 3, 1, 2, 2, 1],
                "ward": ["A", "B", "A", "A", "B", None, "A"],
                "age": [71, 71, 71, 80, 80, 16, 33],
                "consent": [True, True, True, True, None, True, True],
            },
            columns={
                "patient": Categories(["Ada", "Bob", "Cem"]),
                "day": Interval(0, 366),
                "ward": Categories(["A", "B"]),
                "age": Interval(0, 120),
                "consent": Flag(),
            },
            rules={"adults": Policy("age >= 18 and consent")},
            person="patient",
            max_rows=2,
        )

    def describe(self) -> str:
        """Say what is counted."""
        names = ", ".join(item.column if isinstance(item, Bins) else item for item in self.place)
        what = f"sequences of {lengths(self.shortest, self.length)} places ({names}) by {self.order}"
        who = "" if self.policy is None else f", policy {self.policy!r}"
        return f"{what}, at most {self.per_person} of a person{who}"

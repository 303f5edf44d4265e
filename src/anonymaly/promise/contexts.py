# SPDX-License-Identifier: Apache-2.0
"""Output-constrained privacy (Shafieinejad et al. 2021): neighbours with the same valid contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, StrictBool, StrictStr, field_validator

from anonymaly.core.rate import Adjacency
from anonymaly.core.value import Number, Value, frozen_items
from anonymaly.declare.domain import Bins
from anonymaly.declare.rules import Rule, SameContexts
from anonymaly.errors import InputError
from anonymaly.promise.change import Background, Change
from anonymaly.promise.relation import Relation, Rows

Parameter = StrictBool | Number | StrictStr
Parameters = Annotated[
    tuple[tuple[StrictStr, Parameter], ...],
    BeforeValidator(frozen_items),
    PlainSerializer(dict, return_type=dict[str, Any]),
]


class ContextQuestion(Value):
    """The question whose valid contexts must agree, written so that equal questions are equal text.

    Examples
    --------
    >>> from anonymaly.core.value import digest, frozen_items
    >>> question = ContextQuestion("salary", ["job", "city"], "lof", {"k": 20}, digest({"job": "CEO"}))
    >>> question.names
    ('city', 'job')
    """

    metric: StrictStr
    """The column in which the record may stand out."""
    attributes: Annotated[tuple[Bins | StrictStr, ...], Field(min_length=1)]
    """The columns that contexts are made of, in any order; a binned one with its public edges."""
    detector: StrictStr
    """The detector's name."""
    parameters: Parameters
    """All parameters of the detector, defaults too: the valid contexts depend on them."""
    record: Annotated[str, Field(strict=True, pattern="^[0-9a-f]{64}$")]
    """A digest of the record asked about, in hexadecimal: under the owner's secret, if it is written down."""

    if TYPE_CHECKING:

        def __init__(
            self,
            metric: str,
            attributes: Sequence[str | Bins],
            detector: str,
            parameters: Mapping[str, bool | int | float | str],
            record: str,
        ) -> None: ...

    @field_validator("attributes")
    @classmethod
    def _ordered(cls, attributes: tuple[Bins | str, ...]) -> tuple[Bins | str, ...]:
        if len({_name(item) for item in attributes}) < len(attributes):
            raise ValueError("names a column twice")
        return tuple(sorted(attributes, key=_name))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that contexts are made of."""
        return tuple(_name(item) for item in self.attributes)


def _name(attribute: Bins | str) -> str:
    return attribute.column if isinstance(attribute, Bins) else attribute


def _shown(attribute: Bins | str) -> str:
    if not isinstance(attribute, Bins):
        return attribute
    return f"{attribute.column} (edges {', '.join(map(str, attribute.edges))})"


class SameValidContexts(Relation):
    """Neighbours with the same valid contexts for one question; they may both have none.

    The valid contexts are those of what is read, with at most ``rows`` rows of each person, on both sides. A
    person moves that by at most ``rows`` rows, and is covered with any number of them (Lemmas 0 and 1 of
    explain's GUARANTEE.md).

    Examples
    --------
    >>> from anonymaly.core.value import digest, frozen_items
    >>> question = ContextQuestion("salary", ["job"], "lof", {"k": 20}, digest({"job": "CEO"}))
    >>> relation = SameValidContexts(question)
    >>> relation.relates([{"job": "CEO"}], [], valid_contexts=lambda question, database: [])
    True
    >>> relation.relates([{"job": "CEO"}], [], valid_contexts=lambda question, database: range(len(database)))
    False
    """

    type: Literal["same_valid_contexts"] = "same_valid_contexts"
    question: ContextQuestion
    adjacency: Adjacency = "add_remove"
    rows: Rows | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            question: ContextQuestion,
            adjacency: Adjacency = "add_remove",
            rows: int | None = None,
            *,
            type: str = "same_valid_contexts",
        ) -> None: ...

    def includes(self, change: Change, facts: Background) -> bool:
        """Compare the valid contexts of the two ends; the function given cuts persons to ``rows`` rows."""
        if facts.valid_contexts is None:
            raise InputError(
                "is needed to compare the valid contexts of two databases",
                field="valid_contexts",
                next_step="Give a function of the question and a database.",
            )
        if not change.is_one_step(self.adjacency, None):
            return False
        first, second = (facts.valid_contexts(self.question, end) for end in (change.first, change.second))
        return frozenset(first) == frozenset(second)

    def protects(self) -> str:
        """Say in plain words who is protected."""
        who = "every record" if self.rows is None else f"every person, {self.reading},"
        leaves = f"leaves {self._contexts()} as they are, for {self._asked()}"
        if self.adjacency == "add_remove":
            return f"{who} whose presence {leaves}"
        comma = "," if self.rows is None else ""
        return f"what the data say of {who}{comma} up to any replacement by another that {leaves}"

    def leaves_out(self) -> str:
        """Say in plain words who is not."""
        who = f"the record asked about, and every {self.noun} whose change makes a context valid or invalid"
        bound = "this is not differential privacy, and for them there is no bound"
        shown = (
            "an answer that names a group shows for certain that the record asked about is in the data and "
        )
        several = "answers to several questions can show other members' exact values, whatever ε"
        return f"{who}: {bound}; {shown}stands out in that group, and {several}"

    def difference(self, factor: str) -> str:
        """Say the condition too."""
        return f"{super().difference(factor)} and {self._contexts()} stay the same"

    def _contexts(self) -> str:
        """Whose contexts: questions about two records have two relations, and the digest tells them apart."""
        return f"the valid contexts of the record asked about (digest {self.question.record[:8]}…)"

    def _asked(self) -> str:
        question = self.question
        parameters = ", ".join(f"{name}={value}" for name, value in question.parameters)
        detector = f"the {question.detector} detector" + (f" with {parameters}" if parameters else "")
        return f"{detector} on {question.metric} in groups by {', '.join(map(_shown, question.attributes))}"

    def permitted(self, rules: Mapping[str, Rule]) -> bool:
        """Permit what any declared rule of this kind permits."""
        question = self.question
        return any(
            rule.permits(metric=question.metric, attributes=question.names, detector=question.detector)
            for rule in rules.values()
            if isinstance(rule, SameContexts)
        )

    def needs(self) -> tuple[str, Rule]:
        """Return a rule that permits this question's columns, cuts and detector, and nothing else."""
        question = self.question
        cuts = [item for item in question.attributes if isinstance(item, Bins)]
        return "groups", SameContexts([question.metric], question.names, [question.detector], bins=cuts)

    def in_replace_form(self) -> SameValidContexts:
        """Refuse: the database in the middle may have other valid contexts."""
        raise self.cannot_become(
            "in replace form",
            "the database between two neighbours may have other valid contexts",
            "Compute the promise directly on the two end databases.",
        )

    def for_persons(self, rows: int) -> SameValidContexts:
        """Refuse, for the same reason."""
        raise self.cannot_become(
            "about persons",
            "the databases between two neighbours may have other valid contexts",
            "Compute the promise directly on the two end databases.",
        )

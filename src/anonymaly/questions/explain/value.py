# SPDX-License-Identifier: Apache-2.0
"""The answer of ``explain``: an explanation for everyone, or, under a rule, a context.

A context is a group of records given by the values of each attribute.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from pydantic import Field, StrictBool, StrictInt, StrictStr

from anonymaly.core.value import Value
from anonymaly.declare.attributes import Attribute
from anonymaly.declare.domain import Bins
from anonymaly.declare.predicates import Comparison, Conjunction, Disjunction, Membership, Predicate
from anonymaly.questions.explain.everyone.picture import in_terminal
from anonymaly.questions.explain.everyone.value import Explanation

if TYPE_CHECKING:
    import ibis.expr.types as ir


class Choice(Value):
    """Some of the values of one attribute."""

    column: StrictStr
    values: Annotated[tuple[StrictBool | StrictInt | StrictStr, ...], Field(min_length=1)]
    bins: Bins | None = None

    def predicate(self) -> Predicate:
        """Return the choice as a condition on the column."""
        if self.bins is None:
            return (
                Comparison(self.column, "==", self.values[0])
                if len(self.values) == 1
                else Membership(self.column, self.values)
            )
        parts = tuple(self._range(self.bins.labels.index(str(label))) for label in self.values)
        return parts[0] if len(parts) == 1 else Disjunction(parts)

    def _range(self, number: int) -> Predicate:
        bins = self.bins
        assert bins is not None  # noqa: S101 - only asked of a binned choice
        low, high = bins.edges[number], bins.edges[number + 1]
        upper = "<=" if number == len(bins.edges) - 2 else "<"
        return Conjunction((Comparison(self.column, ">=", low), Comparison(self.column, upper, high)))

    def __str__(self) -> str:
        if len(self.values) == 1:
            return f"{self.column} = {self.values[0]}"
        return f"{self.column} in {{{', '.join(map(str, self.values))}}}"


class Context(Value):
    """A group of records: those whose value of every attribute is among the chosen ones.

    Examples
    --------
    >>> context = Context([Choice("job", ["CEO", "Lawyer"]), Choice("city", ["Ottawa"])], bits="11010")
    >>> print(context)
    job in {CEO, Lawyer} and city = Ottawa
    >>> context.expression
    "job in ['CEO', 'Lawyer'] and city == 'Ottawa'"
    """

    choices: Annotated[tuple[Choice, ...], Field(min_length=1)]
    bits: Annotated[StrictStr, Field(pattern="^[01]+$")]

    if TYPE_CHECKING:

        def __init__(self, choices: Sequence[Choice], bits: str) -> None: ...

    @classmethod
    def of(cls, attributes: Sequence[Attribute], masks: Sequence[int]) -> Context:
        """Return the context of one bit mask for each attribute, its first value in the lowest bit."""
        choices = [
            Choice(
                column=attribute.column,
                values=tuple(value for number, value in enumerate(attribute.values) if mask >> number & 1),
                bins=attribute.bins,
            )
            for attribute, mask in zip(attributes, masks, strict=True)
        ]
        bits = "".join(
            str(mask >> number & 1)
            for attribute, mask in zip(attributes, masks, strict=True)
            for number in range(len(attribute.values))
        )
        return cls(choices, bits)

    @property
    def expression(self) -> str:
        """The context as a filter that `Count(where=…)` and policies read."""
        return str(self._predicate())

    def to_ibis(self, table: ir.Table) -> ir.BooleanValue:
        """Return the context as a filter on a table."""
        from anonymaly.declare.readings import matches  # noqa: PLC0415  (Ibis, for those who have a table)

        return matches(self._predicate(), table)

    def contains(self, record: Mapping[str, Any]) -> bool:
        """Say whether a record is in the context."""
        return self._predicate().evaluate(record) is True

    def _predicate(self) -> Predicate:
        parts = tuple(choice.predicate() for choice in self.choices)
        return parts[0] if len(parts) == 1 else Conjunction(parts)

    def __str__(self) -> str:
        return " and ".join(map(str, self.choices))

    def _repr_html_(self) -> str:
        from anonymaly.pictures.page import facts, fragment, heading  # noqa: PLC0415  (only notebooks)

        chosen = [(choice.column, ", ".join(map(str, choice.values))) for choice in self.choices]
        return fragment(heading("stands out among records with", 3), facts(chosen))


def show(value: Context | Explanation | None, asks: str) -> str:
    """Write the context, or the groups and why."""
    if isinstance(value, Explanation):
        return in_terminal(value)
    if value is None:
        return (
            "no group: there is no such record, or it stands out in none, or the given start is not one of "
            "them, or the search missed all of them in its tries"
        )
    return f"{value}"


def encode(value: Context | Explanation | None, file: BinaryIO) -> None:
    """Write the answer as JSON; without the record's value, which whoever reads the store must not see."""
    if isinstance(value, Explanation):
        value = value.about(None)
    file.write(json.dumps(None if value is None else value.to_dict()).encode())


def decode(file: BinaryIO) -> Context | Explanation | None:
    """Read the answer back; what was answered under a rule, or by version 1, is a context."""
    data = json.load(file)
    if data is None:
        return None
    return Context.read(data) if "choices" in data else Explanation.read(data)

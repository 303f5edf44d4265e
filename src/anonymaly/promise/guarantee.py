# SPDX-License-Identifier: Apache-2.0
"""Guarantees: a neighbour relation with its ε, and the composition of several."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from anonymaly.core.epsilon import DECIMALS, LARGEST, LONGEST_TEXT, NANO, to_fraction, to_nano, to_text
from anonymaly.core.rate import Adjacency
from anonymaly.core.value import Value
from anonymaly.declare.domain import Domain
from anonymaly.errors import InputError
from anonymaly.promise.intersection import AnyRelation, Intersection, intersect
from anonymaly.promise.policies import who_is_protected
from anonymaly.promise.relation import Relation

RESTS_ON = "nobody being able to tell ChaCha20's key stream, of which the noise is made, from random numbers"
_TEN = Context(prec=40)


def _exact(value: Any) -> str:
    """Read ε; a total may exceed the largest ε that a single question may ask for."""
    if isinstance(value, int | float | str | Decimal) and not isinstance(value, bool):
        text = repr(value) if isinstance(value, float) else str(value).strip()
        try:
            number = Decimal(text) if len(text) <= LONGEST_TEXT else Decimal("NaN")
        except InvalidOperation:
            number = Decimal("NaN")
        if number.is_finite() and number > LARGEST // NANO and number.adjusted() < LONGEST_TEXT:
            nano = Fraction(number) * NANO
            if nano.denominator == 1:
                return to_text(int(nano))
            raise InputError("has more than nine decimals", field="epsilon", next_step="Round it up.")
    return to_text(to_nano(value))


class Guarantee(Value):
    """A promise: for every pair in ``relation``, no answer's probability grows by more than e^ε.

    Examples
    --------
    >>> from anonymaly.promise import Everyone
    >>> promise = Guarantee(Everyone(), epsilon=0.1)
    >>> promise.nano
    100000000
    >>> print(promise.describe())  # doctest: +NORMALIZE_WHITESPACE
    ε = 0.1: whatever the answer, its probability changes by a factor of at most 1.11 when one
    record is added or removed.
    Protected: every record: whether they are in the data, and what the data say of them.
    Not protected: people with more than one row, who are protected one row at a time.
    Rests on: nobody being able to tell ChaCha20's key stream, of which the noise is made, from random
    numbers.
    """

    relation: AnyRelation
    """The ordered pairs of databases that the promise is about."""
    epsilon: Annotated[str, BeforeValidator(_exact)]
    """The privacy loss, a number with at most nine decimals; kept exactly, as its decimal text."""

    if TYPE_CHECKING:

        def __init__(self, relation: Relation, epsilon: int | float | str | Decimal) -> None: ...

    @property
    def nano(self) -> int:
        """The privacy loss as integer nano-ε."""
        whole, _, rest = self.epsilon.partition(".")
        return int(whole) * NANO + int(rest.ljust(DECIMALS, "0"))

    @property
    def factor(self) -> str:
        """The factor e^ε, rounded up, in digits."""
        return _factor(self.nano)

    @property
    def adjacency(self) -> Adjacency:
        """Whether the promise is about records that come and go, or that are replaced."""
        return self.relation.adjacency

    @property
    def rows(self) -> int | None:
        """The most rows of a person that are read; None if every row is protected by itself."""
        return self.relation.rows

    def to_adjacency(self, adjacency: Adjacency) -> Guarantee:
        """Restate the promise in another adjacency: (add/remove, ε) ⇒ (replace, 2ε), never the reverse.

        Examples
        --------
        >>> from anonymaly.promise import Everyone
        >>> Guarantee(Everyone(), epsilon=0.1).to_adjacency("replace").epsilon
        '0.2'
        """
        if adjacency not in ("add_remove", "replace"):
            raise InputError(
                "must be add_remove or replace",
                field="adjacency",
                next_step="add_remove hides whether a record is there; replace hides its values.",
            )
        if adjacency == self.adjacency:
            return self
        if adjacency == "add_remove":
            raise InputError(
                "a replace promise says nothing about records that come or go; their number may be public",
                field="adjacency",
                next_step="State the promise in add_remove, and convert that to replace where needed.",
            )
        return Guarantee(self.relation.in_replace_form(), to_text(2 * self.nano))

    def to_rows(self, rows: int) -> Guarantee:
        """Restate a promise about rows for persons: (row, ε) ⇒ (person, m·ε).

        It holds for what is computed from at most m rows of each person, chosen by that person's rows alone,
        as the view of most questions is. Where the promise is about k-sensitive rows, persons with up to m
        rows are protected at k−(m−1).

        Examples
        --------
        >>> from anonymaly.promise import Everyone
        >>> Guarantee(Everyone(), epsilon=0.1).to_rows(3).epsilon
        '0.3'
        """
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise InputError(
                "must be a whole number of at least 1",
                field="rows",
                next_step="Give the most rows of a person that are read.",
            )
        if rows == self.rows:
            return self
        if self.rows is not None:
            raise InputError(
                f"a promise about persons of whom {self.rows} rows are read is not one about {rows} of them",
                field="rows",
                next_step="Convert the promise about single rows instead.",
            )
        return Guarantee(self.relation.for_persons(rows), to_text(rows * self.nano))

    def permitted(self, rules: Mapping[str, Any]) -> bool:
        """Say whether the owner's declared rules allow this promise."""
        return self.relation.permitted(rules)

    def describe(self, columns: Mapping[str, Domain] | None = None) -> str:
        """Say the promise in plain words: how much, to whom, to whom not, and what it rests on.

        With the declared columns, it also says if the policies of a composition together protect nobody.
        """
        lines = [
            f"ε = {self.epsilon}: whatever the answer, its probability "
            f"{self.relation.difference(self.factor)}.",
            f"Protected: {who_is_protected(self.relation, columns)}.",
            f"Not protected: {self.relation.does_not_protect()}.",
        ]
        if isinstance(self.relation, Intersection):
            lines.append(
                "Outside what these relations have in common there is no bound, except the number of"
                " steps × ε along pairs that they all hold. Where relations were chosen after seeing answers,"
                " the promise is per transcript: for every pair in all relations actually used, the"
                " probability of that transcript falls by no more than the factor above."
            )
        return "\n".join([*lines, f"Rests on: {RESTS_ON}."])


def _factor(nano: int) -> str:
    """Write e^ε rounded up: below 2 with two digits of its excess over 1, then three digits, then 10^n."""
    epsilon = to_fraction(nano)
    exact = _TEN.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    if epsilon > 15:
        power = _TEN.divide(exact, _TEN.ln(Decimal(10))).to_integral_value(ROUND_CEILING)
        return f"10^{power:f}"
    factor = _TEN.exp(exact)
    digits = 2 if factor < 2 else 3
    shown = factor - 1 if factor < 2 else factor
    rounded = shown.quantize(Decimal(1).scaleb(shown.adjusted() - digits + 1), ROUND_CEILING)
    return f"{rounded + 1 if factor < 2 else rounded:f}"


def compose(*guarantees: Guarantee) -> Guarantee:
    """Return the guarantee that several keep together: (R1 ∩ R2, ε1 + ε2), in one adjacency.

    Examples
    --------
    >>> from anonymaly.promise import Everyone
    >>> compose(Guarantee(Everyone(), 0.1), Guarantee(Everyone(), 0.2)).epsilon
    '0.3'
    """
    if not guarantees:
        raise InputError("nothing to compose", next_step="Give at least one guarantee.")
    relation = intersect(*(guarantee.relation for guarantee in guarantees))
    return Guarantee(relation, to_text(sum(guarantee.nano for guarantee in guarantees)))

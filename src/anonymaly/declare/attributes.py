# SPDX-License-Identifier: Apache-2.0
"""Columns with a public list of values: declared categories, flags, or numbers cut at public edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymaly.core.suggestions import guess, listed
from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval, find_domain
from anonymaly.errors import InputError

Label = str | int | bool

MOST_CELLS = 1 << 20  # combinations of values that one question may count


@dataclass(frozen=True)
class Attribute:
    """One column with its values in public order; a binned column has its bins as values."""

    column: str
    values: tuple[Label, ...]
    bins: Bins | None = None

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> Attribute:
        """Read a column from plain data."""
        return cls(data["column"], tuple(data["values"]), data["bins"] and Bins.read(data["bins"]))

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data; ``of_dict`` reads it back."""
        return {
            "column": self.column,
            "values": list(self.values),
            "bins": None if self.bins is None else self.bins.to_dict(),
        }

    @property
    def edges(self) -> tuple[float, ...] | None:
        """The edges of a binned column; None for any other."""
        return None if self.bins is None else self.bins.edges

    def code(self, value: Any) -> int | None:
        """Return the number of a record's value, or None if it is null or not in the domain."""
        if value is None:
            return None
        if self.bins is not None:
            return self.bins.index(value) if isinstance(value, int | float) else None
        for number, known in enumerate(self.values):
            if known == value and isinstance(known, bool) == isinstance(value, bool):
                return number
        return None


def undeclared_value(attribute: Attribute, value: Any, *, field: str, place: str = "") -> InputError:
    """Return the error for a value that a column does not have; it names declared values, never this one."""
    if attribute.bins is not None and isinstance(value, str):
        low, high = attribute.bins.edges[0], attribute.bins.edges[-1]
        return undeclared_number(attribute.column, value, f"{low} to {high}", field=field, place=place)
    text = str(value)
    return InputError(
        f"has a value of {attribute.column}{place} that is not in its declared domain",
        field=field,
        next_step=f"{guess(text, attribute.values)}Values: {listed(attribute.values, text)}.",
    )


def undeclared_number(column: str, value: Any, described: str, *, field: str, place: str = "") -> InputError:
    """Return the error for a value that is not one of a column's numbers; it never names this one.

    Examples
    --------
    >>> print(undeclared_number("pay", "1.234,50", "0 to 2000", field="record"))  # doctest: +NORMALIZE_WHITESPACE
    record: has a text for pay, where a number is wanted. Give it as a number, with a point before its
    decimals and nothing between its thousands, such as 1234.5; pay is 0 to 2000.
    """  # noqa: E501  (one call)
    if isinstance(value, str):
        return InputError(
            f"has a text for {column}{place}, where a number is wanted",
            field=field,
            next_step="Give it as a number, with a point before its decimals and nothing between its "
            f"thousands, such as 1234.5; {column} is {described}.",
        )
    return InputError(
        f"has a value of {column}{place} that is not in its declared domain",
        field=field,
        next_step=f"{column} is {described}.",
    )


def read_attributes(
    attributes: Sequence[str | Bins], columns: Mapping[str, Domain], *, field: str = "attributes"
) -> tuple[Attribute, ...]:
    """Check the named columns against the declaration and return them with their public values."""
    names = [item.column if isinstance(item, Bins) else item for item in attributes]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"names {name} twice", field=field, next_step="Name each column once.")
    return tuple(_read(item, columns, field) for item in attributes)


def _read(item: str | Bins, columns: Mapping[str, Domain], field: str) -> Attribute:
    name = item.column if isinstance(item, Bins) else item
    domain = find_domain(name, columns, field=field)
    if isinstance(item, Bins):
        if not isinstance(domain, Interval):
            raise InputError(
                f"{name} is {domain.describe()}; only numbers can be cut into bins",
                field=field,
                next_step="Name the column itself.",
            )
        return Attribute(name, item.labels, item)
    match domain:
        case Categories():
            return Attribute(name, domain.labels)
        case Flag():
            return Attribute(name, (False, True))
    raise InputError(
        f"{name} is {domain.describe()}; a list of values is needed",
        field=field,
        next_step=f'Cut it at public edges, as in am.Bins("{name}", [0, 18, 65, 120]).',
    )

# SPDX-License-Identifier: Apache-2.0
"""Columns with a public list of values: declared categories, flags, or numbers cut at public edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ibis

from anonymaly.declare.domain import Bins, Categories, Domain, Flag, Interval
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import ibis.expr.types as ir

Label = str | int | bool


@dataclass(frozen=True)
class Attribute:
    """One column with its values in public order; a binned column has its bins as values."""

    column: str
    values: tuple[Label, ...]
    bins: Bins | None = None

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Where numbers are cut; None where values are as they are declared."""
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

    def to_ibis(self, table: ir.Table) -> ir.IntegerValue:
        """Return the same number as a column; null for records without one."""
        column = table[self.column]
        missing = ibis.null("int64")
        if self.bins is None:
            cases = [(column == known, number) for number, known in enumerate(self.values)]
            return ibis.cases(*cases, else_=missing).cast("int64")
        edges = self.bins.edges
        last = len(edges) - 2
        # From the right, each bin holding its lower edge; the last one holds its upper edge as well.
        cases = [((column > edges[-1]) | (column < edges[0]), missing)]
        cases += [(column >= edges[number], ibis.literal(number, "int64")) for number in range(last, -1, -1)]
        return ibis.cases(*cases, else_=missing).cast("int64")


def read_attributes(
    attributes: Sequence[str | Bins], columns: Mapping[str, Domain], *, field: str = "attributes"
) -> tuple[Attribute, ...]:
    """Check columns against the declaration and return them with their values."""
    names = [item.column if isinstance(item, Bins) else item for item in attributes]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"names {name} twice", field=field, next_step="Name each column once.")
    return tuple(_read(item, columns, field) for item in attributes)


def _read(item: str | Bins, columns: Mapping[str, Domain], field: str) -> Attribute:
    name = item.column if isinstance(item, Bins) else item
    domain = columns.get(name)
    if domain is None:
        raise InputError(
            f"there is no declared column {name!r}",
            field=field,
            next_step=f"Declared columns: {', '.join(columns)}.",
        )
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
            return Attribute(name, domain.values)
        case Flag():
            return Attribute(name, (False, True))
    raise InputError(
        f"{name} is {domain.describe()}; a list of values is needed",
        field=field,
        next_step=f'Cut it at public edges, as in am.Bins("{name}", [0, 18, 65, 120]).',
    )

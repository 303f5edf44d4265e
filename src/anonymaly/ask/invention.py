# SPDX-License-Identifier: Apache-2.0
"""Rows invented from a declaration alone: every value uniform in its domain, all independent, some null.

Nothing here can reach a source. Invented rows look like nobody's: no column goes with another, and no value
is rarer than the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Timestamps, Unbounded, arrow_type
from anonymaly.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from anonymaly.noise import Noise

ROWS = 1_000
MOST_USUAL_ROWS = 20_000  # 60 columns of so many are invented in about two seconds
MOST_ROWS = 1_000_000
NULLS = 50  # one value in so many is null
FINEST = 2**53  # how finely numbers without a step are drawn
UNBOUNDED = 1_000  # numbers without declared bounds lie between minus this and this
MOST_OF_A_PERSON = 20  # rows, so that a person who may have a million leaves room for others


def invent(
    declaration: Declaration, rows: int, noise: Noise, record: Mapping[str, Any] = MappingProxyType({})
) -> pa.Table:
    """Return a table with the declared columns, key and person, of which nothing is true.

    ``record`` gives values of the first row: those of the asker's own record, so that there is one like it.

    Examples
    --------
    >>> from anonymaly.noise import Noise
    >>> columns = {"age": Interval(0, 120, 1), "ward": Categories(["A", "B"])}
    >>> declared = Declaration.read(name="t", columns=columns)
    >>> invent(declared, 3, Noise.seeded(1)).column_names
    ['age', 'ward']
    """
    import pyarrow as pa  # noqa: PLC0415  (when a table is made)

    columns: dict[str, Any] = {}
    owner = _owners(declaration, rows, noise)
    for name, domain in declaration.columns.items():
        values = _values(domain, rows, noise)
        if name == declaration.person:
            values = [values[person] for person in owner]
        if domain.contains(record.get(name)):
            values[0] = record[name]
        columns[name] = pa.array(values, arrow_type(domain) or pa.string())
    # A key or person that is declared as a column of its own has the values of that column.
    if declaration.key is not None:
        columns.setdefault(declaration.key, pa.array([f"row {place}" for place in range(rows)]))
    if declaration.person is not None:
        columns.setdefault(declaration.person, pa.array([f"person {person}" for person in owner]))
    return pa.table(columns)


def usual_rows(declaration: Declaration) -> int:
    """Return how many rows to invent if nobody says: as many as the owner declares, within reason."""
    return min(declaration.about_rows or ROWS, MOST_USUAL_ROWS)


def read_rows(rows: Any) -> int:
    """Return how many rows to invent, or say why not."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
        raise InputError(
            f"must be a whole number from 1 to {MOST_ROWS:,}",
            field="rows",
            next_step=f"Leave it out for {ROWS:,} invented rows.",
        )
    return rows


def _values(domain: Domain, rows: int, noise: Noise) -> list[Any]:
    drawn = noise.uniform(_size(domain), rows).tolist()
    missing = noise.uniform(NULLS, rows).tolist()
    return [
        None if null == 0 else _value(domain, number) for number, null in zip(drawn, missing, strict=True)
    ]


def _size(domain: Domain) -> int:
    """Return how many values are drawn from."""
    match domain:
        case Interval(step=step) if step is not None:
            return min(round(domain.width / step) + 1, FINEST)
        case Categories():
            return len(domain.labels)
        case Flag():
            return 2
        case Timestamps():
            return (domain.end - domain.start) // timedelta(microseconds=1) + 1
        case _:
            return FINEST


def _value(domain: Domain, number: int) -> Any:
    match domain:
        case Interval(step=step):
            above = number / FINEST * domain.width if step is None else number * step
            return min(float(domain.high), float(domain.low + above))
        case Unbounded():
            return UNBOUNDED * (2 * number / FINEST - 1)
        case Categories():
            return domain.labels[number]
        case Flag():
            return number == 1
        case Timestamps():
            return domain.start + timedelta(microseconds=number)
        case _:
            return f"invented {number % 100_000}"


def _owners(declaration: Declaration, rows: int, noise: Noise) -> list[int]:
    """Return whose each row is: of persons with up to as many rows as are declared, one after another."""
    if declaration.person is None:
        return []
    sizes = (1 + noise.uniform(min(declaration.rows, MOST_OF_A_PERSON), rows)).tolist()
    return [place for place, size in enumerate(sizes) for _ in range(size)][:rows]

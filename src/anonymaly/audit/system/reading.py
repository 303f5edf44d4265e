# SPDX-License-Identifier: Apache-2.0
"""Do promises and answers read the same values?

A relation says which tables are neighbours. If it tells two values apart that the view of a table reads as
one, or the other way round, then it protects other people than the answers do. Here both read the same
numbers and names of persons, from every kind of place that holds them in a form of its own.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import ibis
import pyarrow as pa

from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Interval, Opaque, Unbounded
from anonymaly.declare.rules import Policy
from anonymaly.engine import view
from anonymaly.engine.columns import NON_SENSITIVE
from anonymaly.engine.statements import collect
from anonymaly.promise import Everyone, SensitiveUnderPolicy, change

if TYPE_CHECKING:
    import ibis.expr.types as ir

LONG = 2**53
NUMBERS: Mapping[str, tuple[pa.DataType, Sequence[Any]]] = {
    "doubles": (
        pa.float64(),
        (-0.0, 0.0, 0.1, 0.9823855, 17.5, 18.0, float(LONG), float(LONG + 2), None, float("nan")),
    ),
    "singles": (pa.float32(), (-0.0, 18.0, float("inf"))),
    "whole numbers": (pa.int64(), (0, 18, LONG, LONG + 1, LONG + 2, -LONG - 1)),
    "decimals": (
        pa.decimal128(38, 20),
        tuple(map(Decimal, ("0", "-0.0", "0.1", "0.9823855", "18", "17.99999999999999999999", "17.5"))),
    ),
    "long decimals": (
        pa.decimal128(38, 0),
        (Decimal(LONG), Decimal(LONG + 1), Decimal(10**37 + 1), Decimal(10**37)),
    ),
}
NAMES = ("a", "A", "á", "a ", "b")
COLLATIONS = ("NOCASE", "NOACCENT")
ADULTS = SensitiveUnderPolicy(None, Policy("x >= 18"))


def reading_problems() -> Problems:
    """Yield every pair of values that a promise tells apart and a view does not, or the other way round.

    Examples
    --------
    >>> fault = READING_FAULTS[0]
    >>> fault.name, fault.is_rejected(reading_problems)
    ('promises about exact numbers', True)
    """
    for check in (_of_numbers, _of_policies, _of_persons):
        yield from check()


def _of_numbers() -> Iterator[str]:
    """Compare all numbers of all kinds, two by two."""
    columns = {"x": Unbounded()}
    found = []
    for kind, (typed, values) in NUMBERS.items():
        table = collect(Dataset(_table(typed, values), name="read", columns=columns).table)
        # By their text, which tells -0.0 from 0.0 as whoever sees a published value does.
        read = [repr(value) for value in table["x"].to_pylist()]
        found += [(f"{value} among {kind}", value, text) for value, text in zip(values, read, strict=True)]
    for (name, one, seen), (other_name, other, other_seen) in itertools.combinations(found, 2):
        differ = Everyone("replace").relates([{"x": one}], [{"x": other}], columns=columns)
        if differ != (seen != other_seen):
            yield f"{name} and {other_name} are {'two' if differ else 'one'} to promises, not to answers"


def _of_policies() -> Iterator[str]:
    """Compare who is sensitive by a promise with who is in the view that records are published from."""
    columns = {"x": Interval(0, 120)}
    for kind, (typed, values) in NUMBERS.items():
        for value in values:
            dataset = Dataset(_table(typed, [value]), name="read", columns=columns)
            (harmless,) = collect(dataset.judged(ADULTS.policy))[NON_SENSITIVE].to_pylist()
            if ADULTS.relates([{"x": value}], [], columns=columns) == harmless:
                yield f"{value} among {kind} is sensitive to promises, not to answers, or the other way round"


def _table(typed: pa.DataType, values: Sequence[Any]) -> pa.Table:
    return pa.table({"x": pa.array(values, typed)})


def _of_persons() -> Iterator[str]:
    """Compare how many persons there are: of each, one row is read."""
    rows = [{"who": name, "x": 1.0} for name in NAMES]
    promised = 1 + sum(
        all(Everyone(rows=1).relates([other, row], [other], person="who") for other in rows[:place])
        for place, row in enumerate(rows[1:], start=1)
    )
    for collation in COLLATIONS:
        read = _persons(collation)
        if read != promised:
            yield f"under {collation} there are {promised} persons to promises, and {read} to answers"


def _persons(collation: str) -> int:
    with TemporaryDirectory() as folder:
        path = Path(folder, "read.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE rows (who VARCHAR COLLATE {collation}, x DOUBLE)")
            connection.executemany("INSERT INTO rows VALUES (?, 1)", [[name] for name in NAMES])
        dataset = Dataset(path, table="rows", name="read", columns={"x": Opaque()}, person="who", max_rows=1)
        return len(collect(dataset.table))


def _with_two_zeros(column: ir.Value) -> ir.Value:
    if not column.type().is_floating():
        return column
    finite = column.between(-sys.float_info.max, sys.float_info.max)
    return ibis.cases((finite, column), else_=ibis.null(column.type()))


READING_FAULTS: tuple[SystemFault, ...] = (
    SystemFault(
        "promises about exact numbers", "reading", lambda: replaced(change, "as_read", lambda value: value)
    ),
    SystemFault("two zeros", "reading", lambda: replaced(view, "_without_nan", _with_two_zeros)),
    SystemFault(
        "long decimals divided by a power of ten",
        "reading",
        lambda: replaced(view, "_LONGEST_DIVIDED", 38),
    ),
    SystemFault(
        "persons told apart by a collation",
        "reading",
        lambda: replaced(view, "_identity", lambda column, engine, from_file: column),
    ),
)

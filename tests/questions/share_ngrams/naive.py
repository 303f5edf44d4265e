# SPDX-License-Identifier: Apache-2.0
"""Sequences counted in plain Python, as GUARANTEE.md says, and small tables of invented ways."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

import anonymaly as am
from anonymaly.declare.domain import Domain

WARDS = ("A", "B", "C")
COLUMNS: Mapping[str, Domain] = {
    "ward": am.Categories(WARDS),
    "day": am.Interval(0, 30),
    "consent": am.Flag(),
}
KINDS = {"name": pa.string(), "day": pa.float64(), "ward": pa.string(), "consent": pa.bool_()}
Row = tuple[Any, Any, Any, Any]  # name, day, ward, consent


def way(name: str | None, wards: Iterable[Any], consent: Any = True) -> list[Row]:
    return [(name, float(day), ward, consent) for day, ward in enumerate(wards)]


def frame(rows: Sequence[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(KINDS)
    return pa.table(
        {name: pa.array(list(items), KINDS[name]) for name, items in zip(KINDS, columns, strict=True)}
    )


def declare(rows: Sequence[Row] | Any, **options: Any) -> am.Dataset:
    source = frame(rows) if isinstance(rows, list | tuple) else rows
    fields = {
        "name": "ways",
        "columns": COLUMNS,
        "rules": {"agreed": am.Policy("consent")},
        "person": "name",
        "max_rows": 2,
        **options,
    }
    return am.Dataset(source, **fields)


def place_in_order(cell: int) -> tuple[int, int]:
    """Return the public order of all sequences."""
    prime, low = 2**31 - 1, cell % 2**31
    mixed = (cell // 2**31 * 741_103_597 + low * 887_987_685 + 538_113_041) % prime
    mixed = ((mixed**2 + 262_147_003) * 1_019_834_119 + low) % prime
    return (mixed**2 + 99_194_853) % prime, cell


def chosen(rows: Sequence[Row], length: int, most: int, shortest: int = 1) -> list[int]:
    """Return which sequences of one person count."""
    size = len(WARDS)
    known = [row for row in rows if row[1] is not None and math.isfinite(row[1])]
    codes = sorted((row[1], WARDS.index(row[2]) if row[2] in WARDS else -1) for row in known)
    walked, cells = [code for _, code in codes], set()
    for start in range(len(walked)):
        for end in range(start + shortest, min(start + length, len(walked)) + 1):
            part = walked[start:end]
            if min(part) >= 0:
                shorter = sum(size**number for number in range(shortest, len(part)))
                cells.add(shorter + sum(code * size**power for power, code in enumerate(reversed(part))))
    return sorted(cells, key=place_in_order)[:most]


def counts(
    rows: Sequence[Row], length: int, most: int, *, harmless: bool = False, shortest: int = 1
) -> dict[int, int]:
    """Return how many persons have each sequence; of those who are not sensitive, if that is wanted."""
    persons: dict[Any, list[Row]] = {}
    for place, row in enumerate(rows):
        persons.setdefault(place if row[0] is None else row[0], []).append(row)
    counted = [
        unit
        for unit in persons.values()
        if not harmless or all(row[3] is True and row[2] in (None, *WARDS) for row in unit)
    ]
    return dict(Counter(cell for unit in counted for cell in chosen(unit, length, most, shortest)))

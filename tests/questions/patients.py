# SPDX-License-Identifier: Apache-2.0
"""A small table in which every way of being sensitive occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

import anonymaly as am

COLUMNS = {
    "age": am.Interval(0, 120),
    "ward": am.Categories(["A", "B", "C"]),
    "consent": am.Flag(),
    "note": am.Opaque(),
}
POLICY = am.Policy("age >= 18 and consent")
KINDS = {
    "age": pa.float64(),
    "ward": pa.string(),
    "consent": pa.bool_(),
    "note": pa.string(),
    "name": pa.string(),
}
Record = Mapping[str, Any]


def row(age: Any, ward: Any = "A", consent: Any = True, note: Any = "", name: Any = None) -> Record:
    return {"age": age, "ward": ward, "consent": consent, "note": note, "name": name}


HARMLESS = [row(18), row(30, "B"), row(30, "B"), row(120, None), row(44, "Z", note="=cmd"), row(71, "C")]
# Harmless to the policy; but where wards are published, Z makes a record sensitive.
DECLARED = [item for item in HARMLESS if item["ward"] != "Z"]
SENSITIVE = [
    row(17), row(None), row(float("nan")), row(-1), row(121, "B"), row(float("inf")), row(50, consent=None),
    row(50, "C", consent=False),
]  # fmt: skip


def frame(records: Sequence[Record]) -> pa.Table:
    return pa.table({name: pa.array([item[name] for item in records], kind) for name, kind in KINDS.items()})


def declare(records: Sequence[Record] | Any = (*HARMLESS, *SENSITIVE), **options: Any) -> am.Dataset:
    source = frame(records) if isinstance(records, list | tuple) else records
    fields = {"name": "patients", "columns": COLUMNS, "rules": {"adults": POLICY}, **options}
    return am.Dataset(source, **fields)


def counted(records: Iterable[Record], columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(item[name] for name in columns) for item in records)

# SPDX-License-Identifier: Apache-2.0
"""One table with all that engines treat differently, and the three places where it is read from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

import anonymaly as am
from anonymaly.declare.domain import Domain
from tests import places

WARDS = ["A", "B", "a", "é", "it's", "back\\slash", "${x}"]
SEEN = ("2020-01-01", "2024-12-31")
COLUMNS: dict[str, Domain] = {
    "age": am.Interval(0, 120),
    "dose": am.Interval(0, 1000, 0.5),
    "mass": am.Unbounded(),
    "pay": am.Interval(0, 100_000),
    "huge": am.Interval(-1e15, 1e15),
    "code": am.Categories([1, 2, 3]),
    "big": am.Categories([1, 2, 2**53 - 1]),
    "ward": am.Categories(WARDS),
    "job": am.Categories(["Nurse", "Clerk"], other="Other"),
    "consent": am.Flag(),
    "seen": am.Timestamps(*SEEN),
    "born": am.Timestamps("1900-01-01", "2024-01-01"),
    "called": am.Timestamps(*SEEN, read=am.Reading(zone="Europe/Berlin")),
    "said": am.Timestamps(*SEEN, read=am.Reading(dates=["%d.%m.%Y", "%Y-%m-%dT%H:%M%z"], zone="Asia/Tokyo")),
    "fee": am.Interval(0, 10_000, read=am.Reading(decimal=",", thousands=".", signs=["€"], nulls=["NA"])),
    "note": am.Opaque(),
}
RECORD = {"ward": "A", "consent": True, "age": 119, "dose": 950.5}
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "age": pa.int32(),
        "dose": pa.float64(),
        "mass": pa.float64(),
        "pay": pa.decimal128(10, 2),
        "huge": pa.decimal128(38, 4),
        "code": pa.float64(),
        "big": pa.int64(),
        "ward": pa.string(),
        "job": pa.string(),
        "consent": pa.bool_(),
        "seen": pa.timestamp("us"),
        "born": pa.date32(),
        "called": pa.timestamp("us", "UTC"),
        "said": pa.string(),
        "fee": pa.string(),
        "note": pa.string(),
    }
)
_CALLED: list[Any] = [(2020, 3, 29, 1), (2020, 3, 29, 0, 59, 59, 999_999), (2019, 12, 31, 23), (1, 1, 2)]
_CALLED += [(9999, 12, 31), (2020, 10, 25, 0, 59, 59)]
_MARK = "\ufffe"
_NOT_HELD = {"note": None}  # of the first row: text that is not UTF-8, which Spark alone lets in
_ODD: dict[str, Sequence[Any]] = {
    "id": [None, 1, -(2**63), 2**63 - 1],
    "age": [None, -1, 121, 2**31 - 1, -(2**31), 0, 120],
    "dose": [None, math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 1e-310, 1.7976931348623157e308, 0.25]
    + [0.75, 999.75, 1000.0, 1000.25],
    "mass": [None, math.nan, math.inf, -0.0, 5e-324, -1e300, 1e300, 3.9999999999999996, 2.0**64, -(2.0**-40)],
    "pay": [None, Decimal("-0.01"), Decimal("99999999.99"), Decimal("0.10"), Decimal("100000.00")],
    "huge": [None, Decimal("9" * 34 + ".9999"), Decimal("-" + "9" * 34), Decimal("0.0001")]
    + [Decimal("9007199254740993.5"), Decimal("0.3")],
    "code": [None, math.nan, 1.5, 3.0000000000000004, math.inf, 2.0**53, 1e300, -0.0],
    "big": [None, 2**53 - 1, 2**63 - 1, -(2**63), 2**53 + 1],
    "ward": [None, "b", "É", "A ", "a\n", "A\u0085", "Ａ", "ß", "", "😀", "A%", "x" * 100_000],
    "job": [None, "nurse", "Nurse ", "", "Pilot"],
    "consent": [None],
    "seen": [None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999), datetime(2024, 12, 31)]
    + [datetime(2020, 2, 29, 23, 59, 59, 999_999), datetime(2024, 12, 31, 0, 0, 0, 1)],
    "born": [None, date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10), date(1900, 1, 1)],
    "called": [None, *(datetime(*parts, tzinfo=UTC) for parts in _CALLED)],
    "said": [None, "31.02.2020", "29.02.2020", "1.1.2021", "2020-10-25T00:30Z", "2020-10-25T00:30-11:30"]
    + ["soon", "1.1.2021\u0085", " 1.1.2021\n", "9" * 50_000],
    "fee": [None, "1.234,50 €", "€ 1", "-5", "1.23", "NA", "5\u0085", "1.234" + ".234" * 20_000, "1e400"]
    + ["٣"],
    "note": [None, "", "\\N", "été", "'; DROP TABLE t; --"],
}  # fmt: skip


def rows(number: int = 240) -> list[dict[str, Any]]:
    """Ordinary rows, and for each odd value one row that has it beside ordinary ones."""
    draw = np.random.default_rng(7)

    def ordinary(place: int) -> dict[str, Any]:
        moment = datetime(2020, 1, 1) + timedelta(seconds=int(draw.integers(0, 5 * 365 * 86_400)))
        return {
            "id": int(draw.integers(0, 60)),
            "age": int(draw.normal(45, 15)),
            "dose": round(float(draw.normal(400, 90)), 2),
            "mass": float(draw.normal(70, 12)),
            "pay": Decimal(int(draw.integers(0, 9_000_000))) / 100,
            "huge": Decimal(int(draw.integers(-(10**15), 10**15))) / 10_000,
            "code": float(draw.integers(1, 4)),
            "big": int(draw.integers(1, 3)),
            "ward": str(draw.choice(WARDS)),
            "job": str(draw.choice(["Nurse", "Clerk", "Cook"])),
            "consent": bool(draw.random() < 0.7),
            "seen": moment,
            "born": (moment - timedelta(days=int(draw.integers(0, 30_000)))).date(),
            "called": moment.replace(tzinfo=UTC),
            "said": moment.strftime("%d.%m.%Y"),
            "fee": f"{draw.integers(1, 9)}.{draw.integers(0, 1000):03},{draw.integers(0, 100):02} €",
            "note": f"note {place % 11}",
        }

    odd = [
        {**ordinary(place), name: value} for name, items in _ODD.items() for place, value in enumerate(items)
    ]
    asked = {**ordinary(0), **RECORD, "seen": datetime(2021, 1, 5)}
    return [*(ordinary(place) for place in range(number)), *odd, asked, dict.fromkeys(SCHEMA.names)]


def arrow(items: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(items), schema=SCHEMA)


def _held(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**item, **_NOT_HELD} for item in items[:1]] + list(items[1:])


def in_duckdb(items: Sequence[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """A database file whose columns of text call a and A equal, and á and a."""
    given = arrow(_held(items))
    with duckdb.connect(folder / "t.duckdb") as connection:
        connection.register("given", given)
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
        for name in ("ward", "job"):
            connection.execute(f"ALTER TABLE t ALTER {name} TYPE VARCHAR COLLATE NOCASE.NOACCENT")
    return {"source": folder / "t.duckdb", "table": "t"}


def in_postgresql(items: Sequence[dict[str, Any]], url: str) -> dict[str, Any]:
    """A table one of whose columns of text has a collation."""
    place = places.in_postgresql(arrow(_held(items)), url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute('ALTER TABLE t ALTER ward TYPE text COLLATE "POSIX"')
    return place


def in_spark(items: Sequence[dict[str, Any]], session: Any, folder: Path) -> dict[str, Any]:
    """A frame in three partitions whose columns of text call a and A equal; one text is not UTF-8."""
    from pyspark.sql import functions

    first = {**items[0], "note": _MARK}
    pq.write_table(arrow([first, *items[1:]]), folder / "t.parquet")
    frame = session.read.parquet(str(folder / "t.parquet"))
    for name in ("ward", "job"):
        frame = frame.withColumn(name, functions.expr(f"{name} COLLATE UTF8_LCASE"))
    broken = f"CAST(CASE WHEN note = '{_MARK}' THEN X'FFFE' ELSE CAST(note AS BINARY) END AS STRING)"
    return {"source": frame.withColumn("note", functions.expr(broken)).repartition(3)}

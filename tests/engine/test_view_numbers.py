# SPDX-License-Identifier: Apache-2.0
"""Numbers in the view: the double nearest to what is stored, one zero, and never a failure."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Domain, Interval, Opaque, Unbounded
from anonymaly.engine.statements import collect
from tests.engine.test_view_text import in_duckdb, in_postgresql
from tests.places import Put

NUMBER: dict[str, Domain] = {"c": Unbounded()}
OPAQUE: dict[str, Domain] = {"c": Opaque()}
NUMERIC = {
    "numeric(10,2)": {"1.50": 1.5, "-0.00": 0.0, "99999999.99": 99999999.99},
    "numeric(12,4)": {"0.1001": 0.1001, "NaN": None},
    "numeric(5,0)": {"7": 7.0},
    "money": {"12.34": 12.34, "-92233720368547758.08": -92233720368547758.08},
    "numeric": {
        "0.1": 0.1,
        "1e40": 1e40,
        "1.7e308": 1.7e308,
        "1e400": None,
        "-1e400": None,
        "NaN": None,
        "1e-310": 1e-310,
        "-1e-400": 0.0,
        "9007199254740993": 2.0**53,
        "17.99999999999999999999": 18.0,
    },
    "double precision": {"-0": 0.0, "NaN": None, "Infinity": None, "-Infinity": None, "5e-324": 5e-324},
    "real": {"-0": 0.0, "NaN": None, "0.5": 0.5},
}


def read(columns: dict[str, Domain] = NUMBER, **place: Any) -> list[Any]:
    return sorted(
        collect(Dataset(name="x", columns=columns, **place).table)["c"].to_pylist(),
        key=lambda value: (value is None, value),
    )


def is_zero(value: float) -> bool:
    return value == 0 and math.copysign(1, value) == 1


@pytest.mark.parametrize("kind", NUMERIC)
def test_numbers_of_postgresql_are_read_as_doubles_whatever_digits_they_declare(
    kind: str, postgres: str
) -> None:
    texts = NUMERIC[kind]
    place = in_postgresql(
        postgres,
        f"CREATE TABLE t (c {kind})",
        "INSERT INTO t VALUES (NULL)",
        *(f"INSERT INTO t VALUES ('{text}')" for text in texts),
    )
    for columns in (NUMBER, {"c": Interval(0, 120)}):
        found = read(columns, **place)
        assert found == sorted([*texts.values(), None], key=lambda value: (value is None, value))
        assert all(is_zero(value) for value in found if value == 0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.decimals(-(10**20), 10**20, places=17).map(lambda value: value.normalize()), max_size=50))
def test_a_decimal_is_read_as_the_double_nearest_to_it(numbers: list[Decimal]) -> None:
    found = read(source=pa.table({"c": pa.array(numbers, pa.decimal128(38, 17))}))
    assert found == sorted(float(number) for number in numbers)


@pytest.mark.parametrize("digits", [15, 18, 38])
def test_a_decimal_of_duckdb_is_read_as_the_double_nearest_to_it(digits: int, tmp_path: Path) -> None:
    texts = ["0.3", "-0.7", "123456.1234567"[:digits], "2.675", "-0.00"]
    place = in_duckdb(
        tmp_path,
        f"CREATE TABLE t (c DECIMAL({digits}, {min(digits - 8, 12)}))",
        *(f"INSERT INTO t VALUES ('{text}')" for text in texts),
    )
    assert read(**place) == sorted(map(float, texts))


def test_a_decimal_of_any_engine_is_read_as_the_double_nearest_to_it(put: Put) -> None:
    draw = Random(1)
    numbers = [Decimal(draw.randrange(-(10**17), 10**17)).scaleb(-draw.randrange(18)) for _ in range(300)]
    found = read(**put(pa.table({"c": pa.array([*numbers, None], pa.decimal128(38, 17))})))
    assert found == [*sorted(float(number) for number in numbers), None]


def test_no_number_of_any_engine_is_a_failure_and_there_is_one_zero(put: Put) -> None:
    kept = [5e-324, 1e-310, -1.7976931348623157e308, 2.0**53 + 2, 0.1]
    lost = [math.nan, math.inf, -math.inf, None]
    found = read(**put(pa.table({"c": pa.array([*kept, *lost, -0.0, 0.0], pa.float64())})))
    assert found == [*sorted([*kept, 0.0, 0.0]), *[None] * len(lost)]
    assert all(map(is_zero, (value for value in found if value == 0)))


ZEROS = [-0.0, 0.0, 1.0]
ZERO_PLACES: dict[str, Any] = {
    "arrow": lambda _: pa.table({"c": ZEROS}),
    "single": lambda _: pa.table({"c": pa.array(ZEROS, pa.float32())}),
    "pandas": lambda _: pd.DataFrame({"c": ZEROS}),
    "objects": lambda _: pd.DataFrame({"c": pd.Series(ZEROS, dtype=object)}),
    "polars": lambda _: pl.DataFrame({"c": ZEROS}),
    "parquet": lambda folder: (
        pq.write_table(pa.table({"c": ZEROS}), folder / "t.parquet") or folder / "t.parquet"
    ),
    "csv": lambda folder: (folder / "t.csv").write_text("c\n-0.0\n0\n1\n") and folder / "t.csv",
}


@pytest.mark.parametrize(
    ("place", "columns"),
    # An opaque column has no numbers in a text file and among objects, only text.
    [
        *((place, NUMBER) for place in ZERO_PLACES),
        *((place, OPAQUE) for place in ("arrow", "single", "parquet")),
    ],
)
def test_there_is_one_zero(place: str, columns: dict[str, Domain], tmp_path: Path) -> None:
    found = read(columns, source=ZERO_PLACES[place](tmp_path))
    assert found == [0.0, 0.0, 1.0]
    assert all(map(is_zero, found[:2]))

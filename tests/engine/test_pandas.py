# SPDX-License-Identifier: Apache-2.0
"""A pandas frame: how it is read, and whether it can be, is a matter of its types and never of a row."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps
from anonymaly.engine.statements import collect
from anonymaly.errors import SchemaError


class Unwritable:
    def __str__(self) -> str:
        raise ValueError("a row's value")


class Unequal(float):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a row's value")

    __hash__ = None  # type: ignore[assignment]


class Halved:
    def __str__(self) -> str:
        return "\ud800"


DOMAINS: dict[str, Domain] = {
    "interval": Interval(0, 120),
    "text": Categories(["a", "b"]),
    "whole": Categories([1, 2]),
    "flag": Flag(),
    "moment": Timestamps("2020-01-01", "2021-01-01"),
    "opaque": Opaque(),
}
ODD: dict[str, Any] = {
    "2^1024": 2**1024,
    "10^400": 10**400,
    "10^5000": 10**5000,
    "signalling": Decimal("sNaN"),
    "quiet": Decimal("NaN"),
    "large decimal": Decimal("1e400"),
    "vast decimal": Decimal("1e999999"),
    "infinite": Decimal("Infinity"),
    "half a surrogate": "\ud800",
    "bytes": b"\xff",
    "nul": "a\0b",
    "list": [1, 2],
    "array": np.array([1, 2]),
    "imaginary": 1j,
    "single": np.float32("nan"),
    "no time": np.datetime64("NaT"),
    "NaT": pd.NaT,
    "NA": pd.NA,
    "zone": pd.Timestamp("2020-01-01", tz="UTC"),
    "unwritable": Unwritable(),
    "unequal": Unequal(1.5),
    "halved": Halved(),
}


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("odd", ODD)
def test_no_object_of_a_frame_decides_whether_it_is_opened(odd: str, domain: str) -> None:
    columns = {"x": DOMAINS[domain]}
    plain = pd.DataFrame({"x": pd.Series([1, "a", None, 1.0, True], dtype=object)})
    with_odd = pd.DataFrame({"x": pd.Series([*plain["x"], ODD[odd]], dtype=object)})
    views = [Dataset(frame, name="t", columns=columns) for frame in (plain, with_odd)]
    before, after = (collect(dataset.table)["x"].to_pylist() for dataset in views)
    assert after[:5] == before
    assert [line.found for line in views[0].check()] == [line.found for line in views[1].check()]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    "values",
    [
        pd.Series([np.nan, np.nan, 1.0]),
        pd.Series([np.nan, np.nan, 1.5]),
        pd.Series([None, None, "a"], dtype="category"),
        pd.Series([None, None, 1], dtype="category"),
        pd.Series(["a", None, "\ud800"], dtype=pd.StringDtype("python")),
    ],
    ids=["float", "fraction", "category of text", "category of numbers", "strings"],
)
def test_whether_a_frames_column_fits_does_not_depend_on_its_values(values: Any, domain: str) -> None:
    # Of nothing but nulls, a column was a float or a category that fitted every declaration.
    outcomes = []
    nothing = pd.Series([None, None]).astype(values.dtype if str(values.dtype) != "category" else "category")
    for series in (nothing, values):
        try:
            dataset = Dataset(pd.DataFrame({"x": series}), name="t", columns={"x": DOMAINS[domain]})
            outcomes.append(str(collect(dataset.table)["x"].type) if domain != "opaque" else "")
        except SchemaError as refused:
            outcomes.append(str(refused))
    assert outcomes[0] == outcomes[1]


def test_numbers_of_a_float_column_are_the_text_that_objects_are() -> None:
    numbers = [1.0, 2.5, -0.0, 1e15, None]
    as_floats, as_objects = (
        Dataset(
            pd.DataFrame({"x": pd.Series(numbers, dtype=kind)}),
            name="t",
            columns={"x": Categories(["1", "2.5", "0", "1000000000000000"])},
        ).table
        for kind in ("float64", object)
    )
    assert collect(as_floats) == collect(as_objects)
    assert collect(as_floats)["x"].to_pylist() == ["1", "2.5", "0", "1000000000000000", None]


@pytest.mark.parametrize(
    ("kept", "odd"),
    [
        ([1, 2], None),
        ([1, 2], 2.5),
        ([1, 2], "x"),
        ([True, False], None),
        ([True, False], "x"),
        ([0.5, 2.0], "x"),
        ([datetime(2026, 1, 1), datetime(2026, 1, 2, 3)], "x"),
    ],
)
def test_what_a_sample_publishes_of_an_opaque_column_is_typed_alike_whatever_a_sensitive_row_holds(
    kept: list[Any], odd: Any
) -> None:
    def sample(rows: list[Any]) -> pa.Table:
        consent = [True] * len(kept) + [False] * (len(rows) - len(kept))
        dataset = am.Dataset(
            pd.DataFrame({"code": rows, "consent": consent}),
            name="codes",
            columns={"code": am.Opaque(), "consent": am.Flag()},
            rules={"agreed": am.Policy("consent")},
            public=True,
        )
        question = am.ShareSample(policy="agreed", columns=["code"], epsilon=100)
        return am.simulate(question, dataset, seed=1).value.to_arrow()

    without, beside = sample(kept), sample([*kept, odd])
    assert beside.schema == without.schema
    assert sorted(beside.column("code").to_pylist()) == sorted(without.column("code").to_pylist())

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonymaly.declare.domain import (
    KINDS,
    Bins,
    Categories,
    Domain,
    Flag,
    Interval,
    Opaque,
    Timestamps,
    Unbounded,
    find_domain,
    read_domain,
    read_moment,
)
from anonymaly.declare.filters import parse
from anonymaly.errors import InputError

untimed = settings(deadline=None)

numbers = st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6)
texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, high = sorted([draw(numbers), draw(numbers)])
    assume(low < high)
    return Interval(low, high)


@st.composite
def timestamps(draw: st.DrawFn) -> Timestamps:
    start, end = sorted([draw(moments), draw(moments)])
    assume(start < end)
    return Timestamps(start, end)


categories = st.lists(texts, min_size=1, max_size=8, unique=True).map(Categories) | st.lists(
    st.integers(-(2**53) + 1, 2**53 - 1), min_size=1, max_size=8, unique=True
).map(Categories)
domains = intervals() | timestamps() | categories | st.just(Flag()) | st.just(Opaque())


@untimed
@given(domains)
def test_a_domain_survives_json_and_stays_the_same_value(domain: Domain) -> None:
    twin = read_domain(json.loads(domain.to_json()), field="columns.x")
    assert twin == domain
    assert hash(twin) == hash(domain)
    assert twin.to_json() == domain.to_json()


@untimed
@given(st.integers(-1000, 1000), st.integers(1, 1000), st.integers(1, 20))
def test_whole_bounds_are_the_same_as_floats(low: int, step: int, steps: int) -> None:
    high = low + step * steps
    whole, decimal = Interval(low, high, step), Interval(float(low), float(high), float(step))
    assert whole == decimal
    assert whole.to_json() == decimal.to_json()


@untimed
@given(intervals(), numbers)
def test_an_interval_contains_what_lies_between_its_bounds(interval: Interval, value: float) -> None:
    assert interval.contains(value) == (interval.low <= value <= interval.high)
    assert interval.contains(interval.low)
    assert interval.contains(interval.high)
    assert interval.width == interval.high - interval.low > 0


@pytest.mark.parametrize(
    "value", [None, math.nan, math.inf, "5", True, [5], Decimal("NaN"), Decimal("sNaN"), 1j]
)
def test_an_interval_does_not_contain_what_is_no_number(value: Any) -> None:
    assert not Interval(-10, 10).contains(value)


@pytest.mark.parametrize("value", [5, 5.0, np.int8(5), np.float32(5), Decimal("5.00")])
def test_an_interval_contains_a_number_of_any_type(value: Any) -> None:
    assert Interval(-10, 10).contains(value)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ((5, 5), "low"),
        ((6, 5), "low"),
        ((math.nan, 5), "low"),
        ((0, math.inf), "high"),
        ((0, 10**400), "high"),
        ((-1e308, 1e308), "high"),
        ((False, 5), "low"),
        (("0", 5), "low"),
        ((0, None), "high"),
        ((0, 10, 0), "step"),
        ((0, 10, -1), "step"),
        ((0, 10, 3), "step"),
        ((0, 10, 20), "step"),
        ((0, 1, 5e-324), "step"),
        ((0, 10, math.nan), "step"),
    ],
)
def test_an_interval_that_bounds_nothing_is_refused_by_field(fields: tuple[Any, ...], field: str) -> None:
    with pytest.raises(InputError) as refused:
        Interval(*fields)
    assert refused.value.field == field
    assert refused.value.next_step


@pytest.mark.parametrize("fields", [(0, 1, 0.1), (0.1, 0.7, 0.2), (-1, 1, 2), (0, 2**62), (0, 1e300, 1e299)])
def test_bounds_on_the_grid_of_their_step_are_accepted(fields: tuple[float, ...]) -> None:
    assert Interval(*fields).low == fields[0]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "at least 1"),
        (["A", "A"], "'A' twice"),
        ([1, 1], "1 twice"),
        (["A", 1], "mixes"),
        ([True, False], "YAML reads yes, no"),
        (["A", None], "got NoneType"),
        ([1.5], "got float"),
        ([date(2020, 1, 1)], "got date"),
        (["\0"], "no engine can hold"),
        (["\ud800"], "no engine can hold"),
        ([2**53], "53 bits"),
        ([-(2**53)], "53 bits"),
        ("ABC", "list"),
        ({"A", "B"}, "no order"),
        ({"A": 1}, "list"),
        (None, "list"),
    ],
)
def test_categories_that_cannot_be_told_apart_or_held_are_refused(values: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        Categories(values)
    assert refused.value.field == "values"


def test_many_repeated_categories_are_refused_without_a_quadratic_search() -> None:
    with pytest.raises(InputError, match="'199999' twice"):
        Categories([*map(str, range(200_000)), "199999"])


@untimed
@given(categories, texts | st.integers() | st.booleans() | st.none() | st.floats())
def test_categories_contain_their_values_only(domain: Categories, value: Any) -> None:
    assert all(domain.contains(item) for item in domain.values)
    assert domain.contains(value) == (not isinstance(value, bool) and value in domain.values)


def test_categories_contain_neither_lists_nor_truth_values() -> None:
    assert not Categories([0, 1]).contains(True)
    assert not Categories(["A"]).contains(["A"])
    assert not Categories(["A"]).contains(np.array(["A", "B"]))


def test_numpy_values_become_plain_categories() -> None:
    domain = Categories([np.str_("A"), "B"])
    assert {type(value) for value in domain.values} == {str}
    assert Categories([np.int64(1)]) == Categories([1])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["A", "B"], "one of A, B"),
        (list(range(9)), "one of 0, 1, 2, 3, 4 … (9 values)"),
    ],
)
def test_categories_are_described_by_the_first_few(values: list[Any], text: str) -> None:
    assert Categories(values).describe() == text


def test_a_flag_contains_truth_values_only() -> None:
    assert [Flag().contains(value) for value in (True, False, None, 0, 1, "true")] == [True, True] + [
        False
    ] * 4


def test_an_opaque_column_contains_anything_but_null() -> None:
    assert [Opaque().contains(value) for value in ("x", 0, False, None)] == [True, True, True, False]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31", datetime(2026, 1, 31)),
        ("2026-01-31 12:30", datetime(2026, 1, 31, 12, 30)),
        ("2026-01-31T12:30:01.000001", datetime(2026, 1, 31, 12, 30, 1, 1)),
        (date(2026, 1, 31), datetime(2026, 1, 31)),
        (datetime(2026, 1, 31, 1), datetime(2026, 1, 31, 1)),
        (pd.Timestamp("2026-01-31 01:00:00.000000001"), datetime(2026, 1, 31, 1)),
    ],
)
def test_a_moment_is_read_from_text_date_or_time(text: Any, moment: datetime) -> None:
    assert read_moment(text) == moment
    assert type(read_moment(text)) is datetime


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-02-30", "2026-01-31T00:00Z", datetime(2026, 1, 1, tzinfo=UTC), None, 5, pd.NaT],
)
def test_what_is_no_moment_without_a_zone_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        read_moment(text)
    with pytest.raises(InputError) as refused:
        Timestamps("2020-01-01", text)
    assert refused.value.field == "end"


def test_moments_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InputError, match="Give the earlier moment first"):
        Timestamps("2026-01-02", "2026-01-01")


@untimed
@given(timestamps(), moments)
def test_timestamps_contain_what_lies_between_them(domain: Timestamps, moment: datetime) -> None:
    assert domain.contains(moment) == (domain.start <= moment <= domain.end)
    assert not domain.contains(moment.replace(tzinfo=UTC))
    assert not domain.contains(moment.isoformat())


@pytest.mark.parametrize(
    "domain",
    [
        Interval(0, 1),
        Categories(["A"]),
        Flag(),
        Timestamps("2020-01-01", "2021-01-01"),
        Opaque(),
        Bins("a", [0, 1]),
    ],
    ids=lambda domain: domain.type,
)
def test_a_domain_cannot_be_changed_nor_given_unknown_fields(domain: Any) -> None:
    before = domain.to_json()
    for name in [*type(domain).model_fields, "colour"]:
        with pytest.raises(InputError, match="frozen"):
            setattr(domain, name, 1)
    assert domain.to_json() == before
    with pytest.raises(InputError, match="colour: is not a field"):
        type(domain).from_dict({**domain.to_dict(), "colour": "red"})
    with pytest.raises(InputError) as refused:
        type(domain).from_dict({**domain.to_dict(), "type": "nonsense"})
    assert refused.value.field == "type"


@pytest.mark.parametrize(
    "data",
    [None, "interval", {}, {"type": "nonsense"}, {"type": ["interval"]}, {"type": "bins"}, {"low": 0}, [], 5],
)
def test_what_is_no_domain_is_refused_under_its_column(data: Any) -> None:
    with pytest.raises(InputError, match="is not a declaration of a column") as refused:
        read_domain(data, field="columns.age")
    assert refused.value.field == "columns.age"
    assert all(kind in str(refused.value) for kind in KINDS)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"type": "interval", "low": 0}, "columns.age.high"),
        ({"type": "interval", "low": 1, "high": 0}, "columns.age.low"),
        ({"type": "flag", "low": 1}, "columns.age.low"),
        ({"type": "flag", 1: 1}, "columns.age.1"),
        ({"type": "categories", "values": [True]}, "columns.age.values"),
        ({"type": "timestamps", "start": "x", "end": "2020-01-01"}, "columns.age.start"),
    ],
)
def test_what_is_wrong_inside_a_domain_is_named_under_its_column(data: Any, field: str) -> None:
    with pytest.raises(InputError) as refused:
        read_domain(data, field="columns.age")
    assert refused.value.field == field


@st.composite
def bins(draw: st.DrawFn) -> Bins:
    edges = sorted(set(draw(st.lists(numbers, min_size=2, max_size=10))))
    assume(len(edges) > 1)
    return Bins("age", edges)


@untimed
@given(bins(), st.data())
def test_a_value_falls_into_the_bin_whose_edges_surround_it(cut: Bins, data: st.DataObject) -> None:
    value = data.draw(numbers | st.sampled_from(cut.edges))
    last = len(cut.edges) - 2
    found = [
        place
        for place, (left, right) in enumerate(zip(cut.edges, cut.edges[1:], strict=False))
        if left <= value < right or (place == last and value == right)
    ]
    assert cut.index(value) == (found[0] if found else None)
    assert len(found) <= 1


@untimed
@given(bins())
def test_every_bin_has_its_own_label_and_json_keeps_them(cut: Bins) -> None:
    assert len(set(cut.labels)) == len(cut.edges) - 1
    assert Bins.read(json.loads(cut.to_json())) == cut


def test_nothing_that_is_no_number_falls_into_a_bin() -> None:
    assert Bins("age", [0, 1]).index(math.nan) is None
    assert Bins("age", [0, 1]).index(math.inf) is None


@pytest.mark.parametrize(
    "edges", [[], [1], [1, 1], [2, 1], [0, math.nan], [0, math.inf], ["a", "b"], {0, 1}, 5]
)
def test_edges_that_cut_nothing_are_refused(edges: Any) -> None:
    with pytest.raises(InputError) as refused:
        Bins("age", edges)
    assert str(refused.value.field).startswith("edges")


def test_a_number_of_unknown_bounds_is_declared_compared_and_kept() -> None:
    assert Unbounded().contains(-1e300)
    assert Unbounded().contains(Decimal(3))
    for value in (None, True, "3", float("nan"), float("inf"), Decimal("NaN")):
        assert not Unbounded().contains(value)
    assert read_domain(Unbounded().to_dict(), field="columns.pay") == Unbounded()
    with pytest.raises(InputError, match="low"):
        read_domain({"type": "unbounded", "low": 3}, field="columns.pay")
    assert str(parse("pay >= 1000", {"pay": Unbounded()})) == "pay >= 1000"
    with pytest.raises(InputError, match="unknown bounds"):
        parse("pay == 'much'", {"pay": Unbounded()})


def test_a_misspelt_column_is_guessed_and_a_long_list_is_cut_to_the_closest() -> None:
    few = {"age": Interval(0, 120), "ward": Categories(["A"])}
    with pytest.raises(InputError, match=r"Did you mean age\? Declared columns: age, ward\."):
        find_domain("Agee", few, field="columns")
    many = {f"lab {place}": Interval(0, 1) for place in range(60)}
    with pytest.raises(InputError) as refused:
        find_domain("lab_59", many, field="columns")
    assert refused.value.next_step is not None
    assert "Did you mean lab 59" in refused.value.next_step
    assert "(60 in all)" in refused.value.next_step
    assert refused.value.next_step.count("lab ") < 12
    with pytest.raises(InputError, match=r"Declared columns: none\."):
        find_domain("x", {}, field="columns")

# SPDX-License-Identifier: Apache-2.0
"""Which question is asked about a record follows from the record, its reasons and the declaration alone."""

from __future__ import annotations

import itertools

import pytest

import anonymaly as am
from anonymaly.declare.declaration import Declaration
from anonymaly.finding.cuts import cut, round_edges
from anonymaly.finding.explaining import MOST_ATTRIBUTES, choose
from anonymaly.questions.score.reasons import Part, Reason

DECLARED = Declaration.read(
    name="staff",
    columns={
        "pay": am.Interval(0, 1000),
        "age": am.Interval(0, 120),
        "job": am.Categories(["Nurse", "Doctor"]),
        "hired": am.Timestamps("2020-01-01", "2021-06-30"),
    },
)
RECORD = {"pay": 900, "age": 30, "job": "Nurse", "hired": "2020-05-01"}


def _reason(*parts: tuple[tuple[str, ...], float]) -> Reason:
    return Reason(0, 1.0, None, tuple(Part(columns, part, "", "") for columns, part in parts))


def test_the_metric_is_the_number_with_the_largest_part() -> None:
    reason = _reason((("job",), 5.0), (("age",), 2.0), (("pay",), 1.0))
    query = choose(RECORD, reason, DECLARED, 10**8).query
    assert query is not None
    assert query.metric == "age"
    assert [item if isinstance(item, str) else item.column for item in query.attributes] == [
        "pay",
        "job",
        "hired",
    ]


def test_of_two_numbers_together_it_is_the_one_that_is_odder_alone() -> None:
    reason = _reason((("age", "pay"), 5.0), (("pay",), 2.0), (("age",), 1.0))
    query = choose(RECORD, reason, DECLARED, 10**8).query
    assert query is not None
    assert query.metric == "pay"


def test_a_part_of_all_numbers_names_none() -> None:
    found = choose(RECORD, _reason((("pay", "age", "hired"), 5.0), (("job",), 2.0)), DECLARED, 10**8)
    assert found.query is None
    assert "no number" in str(found.why_not)


def test_a_column_without_a_declared_value_makes_no_group() -> None:
    query = choose({**RECORD, "job": "Cook", "age": None}, _reason((("pay",), 1.0)), DECLARED, 10**8).query
    assert query is not None
    assert [item if isinstance(item, str) else item.column for item in query.attributes] == ["hired"]


def test_of_many_columns_the_oddest_make_groups() -> None:
    names = [f"c{number}" for number in range(20)]
    columns = {"pay": am.Interval(0, 1), **{name: am.Categories(["A", "B"]) for name in names}}
    record = {"pay": 0.5, **dict.fromkeys(names, "A")}
    reason = _reason((("pay",), 3.0), (("c19",), 2.0), (("c18", "pay"), 1.0))
    query = choose(record, reason, Declaration.read(name="wide", columns=columns), 10**8).query
    assert query is not None
    assert len(query.attributes) == MOST_ATTRIBUTES
    assert query.attributes[-2:] == ("c18", "c19")


@pytest.mark.parametrize(
    ("low", "high"), [(0, 120), (-5, 5), (0.001, 0.0017), (100_000, 2_500_000), (0, 1e300), (3, 4)]
)
def test_edges_are_round_rising_and_from_bound_to_bound(low: float, high: float) -> None:
    edges = round_edges(low, high)
    assert (edges[0], edges[-1]) == (low, high)
    assert 4 <= len(edges) <= 13
    assert all(left < right for left, right in itertools.pairwise(edges))


def test_dates_are_cut_by_how_long_a_time_is_declared() -> None:
    ends = {"2020-02-01": "weekday", "2021-06-30": "month", "2024-01-01": "quarter", "2050-01-01": "year"}
    for end, by in ends.items():
        found = cut("day", am.Timestamps("2020-01-01", end))
        assert isinstance(found, am.Dates)
        assert found.by == by

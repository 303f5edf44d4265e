# SPDX-License-Identifier: Apache-2.0
"""How many filters one record may match: never fewer than some record does, whatever is in the table."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.declare.domain import Categories, Domain, Flag, Interval, Opaque, Timestamps, Unbounded
from anonymaly.declare.filters import parse
from anonymaly.declare.predicates import Predicate
from anonymaly.questions.count import together
from anonymaly.questions.count.together import most_together
from tests.declare.trees import COLUMNS as AWKWARD
from tests.declare.trees import tables, trees

COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "pay": Unbounded(),
    "ward": Categories(["A", "B"]),
    "code": Categories([1, 2]),
    "consent": Flag(),
    "seen": Timestamps("2020-01-01", "2030-01-01"),
    "note": Opaque(),
}


def found(*texts: str) -> int:
    return most_together([parse(text, COLUMNS) for text in texts], COLUMNS)


@pytest.mark.parametrize(
    "texts",
    [
        ["age < 30", "age >= 30 and age < 60", "age >= 60"],
        ["age <= 29", "age >= 30"],
        ["age < 30", "not (age < 30)", "age is null"],  # of null, neither of the first two is true
        ["age == 1", "age == 2", "age in [3, 4]"],
        ["age < 1000", "age >= 1000"],
        ["pay < 0.1", "pay == 0.1", "pay > 0.1"],
        ["ward == 'A'", "ward == 'B'", "not ward in ['A', 'B']", "ward is null"],
        ["code == 1", "code == 2"],
        ["consent", "not consent", "consent is null"],
        ["consent != true", "consent != false"],  # a flag has no third value
        ["seen < '2021-01-01'", "seen >= '2021-01-01'"],
        ["note is null", "note is not null"],
        ["ward == 'A' and age < 30", "ward == 'A' and age >= 30", "ward == 'B'"],
        ["age < 30 and age > 40", "age < 20"],
        ["age < 30 and age > 40", "age > 40 and age < 30"],
    ],
    ids=str,
)
def test_filters_that_exclude_each_other_are_seen_to(texts: list[str]) -> None:
    assert found(*texts) == 1


@pytest.mark.parametrize(
    ("texts", "number"),
    [
        (["age < 30", "age < 60"], 2),
        (["age <= 30", "age >= 30"], 2),
        (["age < 30", "ward == 'A'"], 2),
        (["age < 30", "age < 30"], 2),
        (["age < 30", "age >= 30", "ward == 'A'", "ward == 'B'"], 2),
        (["ward != 'A'", "ward != 'B'"], 2),  # the table may hold a ward that is not declared
        (["code != 1", "code != 2"], 2),
        (["not age <= 120", "age > 119.5"], 2),  # and an age beyond its bounds
        (["age > 29", "age < 30"], 2),  # numbers are not whole
        (["age < 10 or ward == 'A'", "age < 5", "consent", "not consent"], 3),
        (["age is null", "age < 30", "consent is null"], 2),
    ],
    ids=str,
)
def test_filters_that_one_record_may_match_are_counted(texts: list[str], number: int) -> None:
    assert found(*texts) == number


@settings(max_examples=200, deadline=None)
@given(tables, st.lists(trees, min_size=1, max_size=6))
def test_no_record_matches_more(rows: list[dict[str, Any]], filters: list[Predicate]) -> None:
    bound = most_together(filters, AWKWARD)
    assert 1 <= bound <= len(filters)
    for row in rows:
        assert sum(part.evaluate(row) is True for part in filters) <= bound


VALUES: dict[str, list[Any]] = {
    "age": [-1, 29, 29.5, 30, 45, 60, 1e9, None],
    "ward": ["A", "B", "C", None],
    "consent": [True, False, None],
}
PARTS = ["age < 30", "age >= 30", "age == 60", "age is null", "ward == 'A'", "ward != 'B'", "ward is null"]
PARTS += ["consent"]
texts_of_parts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from([" and ".join(parts), " or ".join(parts), f"not ({' and '.join(parts)})"])
)


@settings(max_examples=200, deadline=None)
@given(st.lists(texts_of_parts, min_size=1, max_size=5))
def test_the_number_is_the_one_that_trying_all_kinds_of_records_finds(texts: list[str]) -> None:
    filters = [parse(text, COLUMNS) for text in texts]
    records = [dict(zip(VALUES, values, strict=True)) for values in product(*VALUES.values())]
    most = max(sum(part.evaluate(record) is True for part in filters) for record in records)
    assert most_together(filters, COLUMNS) == max(1, most)


@settings(max_examples=100, deadline=None)
@given(st.lists(texts_of_parts, min_size=1, max_size=5), st.sampled_from([0, 1, 6, 20]))
def test_columns_that_are_left_out_only_make_the_number_larger(texts: list[str], cells: int) -> None:
    exact = found(*texts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(together, "MOST_CELLS", cells)
        assert exact <= found(*texts) <= len(texts)


def test_what_tells_most_filters_apart_is_looked_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "MOST_CELLS", 50)
    texts = [f"age >= {low} and age < {low + 10} and not consent" for low in range(0, 100, 10)]
    assert found(*texts, "age >= 100 and ward == 'A'") == 1


def test_a_thousand_filters_are_no_trouble() -> None:
    cells = [f"age >= {low} and age < {low + 1} and ward == '{ward}'" for low in range(500) for ward in "AB"]
    assert found(*cells) == 1

# SPDX-License-Identifier: Apache-2.0
"""Streams are sequences: a reading is replaced where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from anonymaly import Interval
from anonymaly.promise import ValuesWithin

VALUES = (0, 1, 5, 6, None)  # 6 and null are out of range
PEOPLE = (("a", 0), ("a", 5), ("a", 6), ("b", 1), (None, 1), (None, 5))
EACH = ValuesWithin({"v": Interval(0, 5)})
PERSON = ValuesWithin({"v": Interval(0, 5)}, rows=2)


def stream(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"v": value} for value in values]


def of_people(readings: Sequence[tuple[str | None, int]]) -> list[dict[str, Any]]:
    return [{"id": name, "v": value} for name, value in readings]


@pytest.mark.parametrize(
    ("first", "second", "related"),
    [
        ([1, 2, 3], [2, 3, 9], False),  # one reading as multisets, three as streams
        ([1, 2, 3], [1, 2, 9], True),
        ([1, 2, 3], [1, 9, 3], True),
        ([1, 2, 3], [3, 2, 1], False),
        ([1, 2, 3], [1, 3, 9], False),
    ],
)
def test_two_streams_differ_in_the_places_where_they_differ(
    first: list[int], second: list[int], related: bool
) -> None:
    relation = ValuesWithin({"v": Interval(0, 10)})
    assert relation.relates(stream(first), stream(second)) is related


def test_readings_are_related_when_one_place_changes_within_the_ranges() -> None:
    streams = [values for size in range(4) for values in product(VALUES, repeat=size)]
    found = 0
    for first, second in product(streams, streams):
        places = [i for i in range(min(len(first), len(second))) if first[i] != second[i]]
        ends = {end for place in places for end in (first[place], second[place])}
        expected = len(first) == len(second) and len(places) == 1 and ends <= {0, 1, 5}
        assert EACH.relates(stream(first), stream(second)) is expected
        found += expected
    assert found


def test_a_persons_readings_are_replaced_one_for_one_where_they_stand() -> None:
    """By hand: all of one person's readings, at most two and in range, changed in their places only."""
    streams = [readings for size in range(4) for readings in product(PEOPLE, repeat=size)]
    found = 0
    for first, second in product(streams, streams):
        if len(first) != len(second):
            continue
        places = [place for place in range(len(first)) if first[place] != second[place]]
        related = PERSON.relates(of_people(first), of_people(second), person="id")
        if related:
            found += 1
            gone, come = ({stream[place][0] for place in places} for stream in (first, second))
            assert 1 <= len(places) <= 2
            assert len(gone) == len(come) == 1
            assert all(stream[place][1] <= 5 for stream in (first, second) for place in places)
        named = all(name is not None for name, _ in (*first, *second))
        of_one = {stream[place][0] for stream in (first, second) for place in places}
        if named and len(of_one) == 1 and sorted(first) != sorted(second):
            (name,) = of_one
            own = [[value for owner, value in stream if owner == name] for stream in (first, second)]
            assert related is (len(own[0]) <= 2 and max(own[0] + own[1]) <= 5)
    assert found


def test_a_column_of_persons_means_nothing_where_every_reading_is_protected_by_itself() -> None:
    assert EACH.relates(of_people([("a", 1), ("b", 2)]), of_people([("a", 1), ("b", 3)]), person="id")

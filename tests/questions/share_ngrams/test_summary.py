# SPDX-License-Identifier: Apache-2.0
"""The engine counts the sequences that a reading by hand finds, in whatever order it has the rows."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import anonymaly as am
from anonymaly.questions.share_ngrams.summary import count_sequences
from tests.places import Put
from tests.questions.share_ngrams.naive import Row, counts, declare, frame, way


def counted(dataset: am.Dataset, **fields: Any) -> dict[int, int]:
    asked = {"place": ["ward"], "order": "day", "length": 3, "per_person": 4, "epsilon": 1, **fields}
    bound: Any = am.ShareNgrams(**asked).bind(dataset.declaration)
    found = count_sequences(dataset.view(bound.policy), bound)
    return dict(zip(found.cells.tolist(), found.persons.tolist(), strict=True))


def invented(seed: int, number: int = 60) -> list[Row]:
    draw = Random(seed)
    return [
        (
            draw.choice(["Ada", "Bob", "Cem", "Dee", None]),
            draw.choice([0.0, 1.0, 2.0, 3.5, 99.0, None, float("nan"), float("inf")]),
            draw.choice(["A", "B", "C", "C", None] + ["Z"] * (draw.random() < 0.1)),
            draw.random() < 0.97 or None,
        )
        for _ in range(draw.randint(0, number))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_the_engine_counts_what_is_counted_by_hand(seed: int) -> None:
    rows = invented(seed)
    for length, most in ((1, 3), (3, 2), (3, 1000)):
        fields = {"length": length, "per_person": most}
        assert counted(declare(rows), **fields) == counts(rows, length, most)
        harmless = counts(rows, length, most, harmless=True)
        assert counted(declare(rows), policy="agreed", **fields) == harmless


@pytest.mark.parametrize("shortest", [2, 3])
def test_shorter_sequences_take_no_room_where_they_are_not_wanted(shortest: int) -> None:
    rows = invented(5)
    fields = {"length": 3, "shortest": shortest}
    for most in (1, 2, 1000):
        found = counted(declare(rows), per_person=most, **fields)
        assert found == counts(rows, 3, most, shortest=shortest)
    assert found


def there(put: Put, rows: list[Row]) -> am.Dataset:
    place = put(frame(rows))
    return declare(place.pop("source"), **place)


def test_every_engine_counts_the_same_sequences(put: Put) -> None:
    rows = invented(3)
    dataset = there(put, rows)
    assert counted(dataset) == counts(rows, 3, 4)
    assert counted(dataset, policy="agreed") == counts(rows, 3, 4, harmless=True)


def test_every_engine_chooses_the_same_of_more_sequences_than_31_bits_number(put: Put) -> None:
    draw = Random(7)
    rows: list[Row] = [
        (f"p{draw.randrange(9)}", draw.random() * 30, draw.choice("ABC"), True) for _ in range(300)
    ]
    grid = [am.Bins("day", [number / 10 for number in range(301)]), "ward"]
    fields = {"place": grid, "length": 4, "per_person": 20}
    found = counted(declare(rows), **fields)
    assert sum(found.values()) == 9 * 20
    assert max(found) > 2**39
    assert counted(there(put, rows), **fields) == found


def test_the_order_of_rows_plays_no_part_even_within_one_moment() -> None:
    rows = [("Ada", 1.0, ward, True) for ward in "CABBA"] + way("Bob", "ABCABC")
    for seed in range(5):
        shuffled = Random(seed).sample(rows, len(rows))
        assert counted(declare(shuffled)) == counted(declare(rows))


def test_rows_are_not_cut_off_so_that_no_sequence_appears_that_never_happened() -> None:
    # Of three rows max_rows keeps two, and by content A and A: they would be neighbours.
    dataset = declare(way("Ada", "ABA"))
    assert dataset.declaration.rows == 2
    found = counted(dataset, length=2, per_person=100)
    assert found == {0: 1, 1: 1, 3 + 1: 1, 3 + 3: 1}, "A, B, AB and BA"


def test_no_sequence_goes_through_a_row_without_a_place_and_rows_without_a_moment_are_left_out() -> None:
    rows = way("Ada", ["A", None, "B"])
    assert counted(declare(rows)) == {0: 1, 1: 1}
    left_out = [("Ada", 0.0, "A", True), ("Ada", None, "C", True), ("Ada", 2.0, "B", True)]
    assert counted(declare(left_out)) == {0: 1, 1: 1, 3 + 1: 1}


def test_a_person_counts_for_at_most_so_many_sequences_and_once_for_each() -> None:
    rows = way("Ada", "ABCABCAABBCC" * 20)
    for most in (1, 2, 7):
        found = counted(declare(rows), per_person=most)
        assert len(found) == most
        assert set(found.values()) == {1}


def test_one_sensitive_row_of_a_person_hides_all_their_sequences() -> None:
    rows = [*way("Ada", "AB"), ("Ada", None, "C", None), *way("Bob", "AB")]
    assert counted(declare(rows), policy="agreed") == {0: 1, 1: 1, 3 + 1: 1}
    assert counted(declare(way("Ada", ["A", "Z", "B"])), policy="agreed") == {}


def test_a_grid_of_two_columns_makes_places_in_the_order_of_the_declaration() -> None:
    bins = am.Bins("day", [0, 1, 30])
    dataset = declare([("Ada", 0.5, "C", True)])
    assert counted(dataset, place=["ward", bins], length=1) == {2 * 2 + 0: 1}
    assert counted(dataset, place=[bins, "ward"], length=1) == {0 * 3 + 2: 1}

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from anonymaly.audit.cases.count import RECORDS, count_case
from anonymaly.audit.neighbours import Pair, neighbours
from anonymaly.declare.domain import Categories, Flag, Interval, Opaque, Timestamps
from anonymaly.errors import InputError
from anonymaly.promise import Everyone

COLUMNS: dict[str, Any] = {
    "age": Interval(0, 120),
    "dose": Interval(0, 1, 0.25),
    "ward": Categories(["A", "B"]),
    "floor": Categories([1, 2]),
    "consent": Flag(),
    "seen": Timestamps("2026-01-01", "2026-02-01"),
    "note": Opaque(),
}
FIRST = {"age": 30, "dose": 0.5, "ward": "A", "floor": 2, "consent": True, "note": "x", "name": "Ada"}


def made(adjacency: Any = "add_remove", person: str | None = None, seed: int = 0) -> list[Pair]:
    rows = 2 if person else 1
    return list(
        neighbours([FIRST], COLUMNS, adjacency=adjacency, person=person, max_rows=rows, seed=seed, rounds=4)
    )


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
@pytest.mark.parametrize("person", [None, "name"])
def test_pairs_are_neighbours_by_the_definition_or_the_same(adjacency: Any, person: str | None) -> None:
    relation = Everyone(adjacency, 2 if person else None)
    judged = 0
    for pair in made(adjacency, person):
        if pair.same:
            assert not relation.relates(pair.first, pair.second, person=person)
        elif not pair.oversized and pair.first != pair.second:
            related = relation.relates(pair.first, pair.second, person=person)
            # Replacing a record by its twin, or null by NaN, gives the same table.
            twin = adjacency == "replace" and len(pair.first) == len(pair.second)
            assert related or twin, pair.kind
            judged += related
    assert judged > 40


def test_the_same_seed_makes_the_same_tables_and_another_seed_others() -> None:
    assert repr(made(seed=1)) == repr(made(seed=1))
    assert repr(made(seed=1)) != repr(made(seed=2))


def test_odd_values_empty_tables_and_new_categories_all_occur() -> None:
    rows = [row for pair in made() for table in (pair.first, pair.second) for row in table]
    ages = [row["age"] for row in rows]
    assert any(age is None for age in ages)
    assert any(age is not None and math.isnan(age) for age in ages)
    assert any(age is not None and math.isinf(age) for age in ages)
    assert any(age is not None and 120 < age < math.inf for age in ages)
    assert any(row["ward"] not in ("A", "B", None) for row in rows)
    assert any(not pair.first for pair in made())
    assert any(not pair.second for pair in made())


def test_permuted_tables_hold_the_same_records() -> None:
    permuted = [pair for pair in made() if pair.kind == "permuted"]
    assert permuted
    for pair in permuted:
        assert Counter(map(repr, pair.first)) == Counter(map(repr, pair.second))
    assert any(pair.first != pair.second for pair in permuted)


def test_persons_come_and_go_with_all_their_rows_and_sometimes_too_many() -> None:
    pairs = made(person="name")
    changes = {(pair.oversized, abs(len(pair.first) - len(pair.second))) for pair in pairs if not pair.same}
    assert changes == {(False, 1), (False, 2), (True, 5)}


def test_a_worst_pair_outside_the_promise_is_refused() -> None:
    case = count_case(epsilon="0.5", adjacency="replace")
    assert next(case.pairs(seed=0, rounds=0)).first == case.worst_pair[0]
    object.__setattr__(case, "worst_pair", (RECORDS, ()))
    with pytest.raises(InputError, match="not in the relation"):
        next(case.pairs(seed=0, rounds=0))

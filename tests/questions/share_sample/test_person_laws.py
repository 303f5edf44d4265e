# SPDX-License-Identifier: Apache-2.0
"""The exact law of a sample by person: all coins, all orders of rows, and all orders of labels."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import anonymaly as am
from anonymaly.noise import ExactProbability
from anonymaly.promise import Database, Guarantee, SensitiveUnderPolicy
from tests.questions.patients import COLUMNS, POLICY, declare, row
from tests.questions.share_sample.test_laws import LEFT_OUT, loss

Law = dict[Any, Fraction]

QUERY = am.ShareSample(policy="adults", columns=["ward"], epsilon=1)


class _Enumerated:
    """Stands in for `Noise`: gives the coins, and the orders of rows and labels, of one course of events."""

    def __init__(self, coins: tuple[bool, ...], *orders: tuple[int, ...]) -> None:
        self.coins, self.orders = coins, list(orders)

    def bernoulli(self, probability: ExactProbability, size: int) -> Any:
        # The same charge as without persons, however many rows they have.
        assert probability == ExactProbability.exponential(Fraction(1)).complement()
        assert size == len(self.coins)
        return np.array(self.coins, bool)

    def permutation(self, size: int) -> Any:
        order = self.orders.pop(0)
        assert size == len(order)
        return np.array(order, np.int64)


def law(records: Database) -> Law:
    """Return the law of the released sequence of labels and wards."""
    dataset = declare(list(records), person="name", max_rows=1)
    bound = QUERY.bind(dataset.declaration)
    (stage,) = bound.stages
    streamed = stage.summarise(dataset.view(bound.policy), {}).read_all()
    sizes = _sizes(streamed.column(streamed.column_names[-1]).to_pylist())
    found: Law = defaultdict(Fraction)
    for coins in product([False, True], repeat=len(sizes)):
        persons, rows = sum(coins), sum(size for size, coin in zip(sizes, coins, strict=True) if coin)
        mass = LEFT_OUT ** (len(coins) - persons) * (1 - LEFT_OUT) ** persons
        mass /= math.factorial(rows) * math.factorial(persons)
        for order, labels in product(permutations(range(rows)), permutations(range(persons))):
            noise = _Enumerated(coins, order, labels)
            sample = stage.release(streamed.to_reader(), {}, noise)  # type: ignore[arg-type]
            assert not noise.orders, "rows and labels are put in order, each by itself"
            shown = sample.to_arrow().to_pydict()
            found[tuple(zip(shown["person"], shown["ward"], strict=True))] += mass
    assert sum(found.values()) == 1
    return found


def _sizes(begins: list[bool]) -> list[int]:
    sizes: list[int] = []
    for begin in begins:
        sizes = [*sizes, 1] if begin else [*sizes[:-1], sizes[-1] + 1]
    return sizes


# More rows than are declared, a sensitive row beside a harmless one, and a row that is nobody's.
ANN = [
    [],
    [row(30, "A", name="Ann")],
    [row(30, "A", name="Ann"), row(8, "B", name="Ann")],
    [row(30, "A", name="Ann"), row(31, "C", name="Ann")],
]
BOB = [[], [row(50, "B", name="Bob")], [row(5, "B", name="Bob")]]
NOBODY = [[], [row(60, "C")]]


@cache
def laws() -> list[tuple[Database, Law]]:
    databases = [[*ann, *bob, *nobody] for ann in ANN for bob in BOB for nobody in NOBODY]
    return [(records, law(records)) for records in databases]


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_law_by_person_keeps_epsilon_however_many_rows_come_together_and_reaches_it(
    adjacency: Any,
) -> None:
    relation = SensitiveUnderPolicy("adults", POLICY, adjacency, 1)
    losses = [
        loss(one, other)
        for first, one in laws()
        for second, other in laws()
        if relation.relates(first, second, columns=COLUMNS, person="name")
    ]
    assert len(losses) > 30
    assert max(losses) == 1 / LEFT_OUT
    dataset = declare(person="name", max_rows=1)
    assert QUERY.bind(dataset.with_adjacency(adjacency)).guarantee == Guarantee(relation, 1)


def test_all_rows_of_a_person_are_kept_or_none_is() -> None:
    found = law([*ANN[3], *BOB[1]])
    kept = {frozenset(ward for _, ward in outcome): Fraction(0) for outcome in found}
    for outcome, mass in found.items():
        kept[frozenset(ward for _, ward in outcome)] += mass
    both, one = (1 - LEFT_OUT) ** 2, (1 - LEFT_OUT) * LEFT_OUT
    assert kept == {
        frozenset(): LEFT_OUT**2,
        frozenset("AC"): one,
        frozenset("B"): one,
        frozenset("ABC"): both,
    }


def test_no_row_is_released_of_a_person_who_has_a_sensitive_one() -> None:
    assert law([*ANN[2], *NOBODY[1]]) == law(NOBODY[1])


def test_labels_and_order_say_nothing() -> None:
    found = law([*ANN[3], *BOB[1]])
    every = {outcome: mass for outcome, mass in found.items() if len(outcome) == 3}
    # 3! orders of the rows, and 2! of the labels 1 and 2.
    assert len(every) == 12
    assert len(set(every.values())) == 1
    assert {label for outcome in every for label, _ in outcome} == {1, 2}
    for outcome in every:
        of = {ward: label for label, ward in outcome}
        assert of["A"] == of["C"] != of["B"]


def test_the_order_of_the_table_has_no_part_in_the_law() -> None:
    records = [*ANN[3], *BOB[1], *NOBODY[1]]
    assert law(records) == law([records[2], records[1], records[3], records[0]])

# SPDX-License-Identifier: Apache-2.0
"""The sample's exact law: the question runs once for every way its coins and its order can come out."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pytest

import anonymaly as am
from anonymaly.noise import ExactProbability
from anonymaly.promise import Database, Guarantee, SensitiveUnderPolicy
from anonymaly.questions.share_sample.binding import ShareSampleBinding
from tests.questions.patients import COLUMNS, POLICY, declare, row

Law = dict[tuple[str, ...], Fraction]

LEFT_OUT = Fraction(2, 7)  # stands for e^-ε: the law is a polynomial in it, checked in rational numbers
QUERY = am.ShareSample(policy="adults", columns=["ward"], epsilon=1)


class _Enumerated:
    """Stands in for `Noise`: gives the coins and the order of one course of events."""

    def __init__(self, coins: tuple[bool, ...], place: int) -> None:
        self.coins, self.place = coins, place
        self.probability: ExactProbability | None = None

    def bernoulli(self, probability: ExactProbability, size: int) -> Any:
        assert size == len(self.coins)
        self.probability = probability
        return np.array(self.coins, bool)

    def permutation(self, size: int) -> Any:
        order = list(permutations(range(size)))
        return np.array(order[self.place % len(order)], np.int64)


def law(records: Database, rows: int | None = None) -> Law:
    """Return the law of the released sequence; for persons that of version 1, with a coin for each row."""
    person = {} if rows is None else {"person": "name", "max_rows": rows}
    dataset = declare(list(records), **person)
    bound = QUERY.bind(dataset.declaration)
    if rows is not None:
        assert isinstance(bound, ShareSampleBinding)
        bound = bound.earlier or bound
    (stage,) = bound.stages
    streamed = stage.summarise(dataset.view(bound.policy), {}).read_all()
    found: Law = defaultdict(Fraction)
    for coins in product([False, True], repeat=len(streamed)):
        kept = sum(coins)
        mass = LEFT_OUT ** (len(coins) - kept) * (1 - LEFT_OUT) ** kept / math.factorial(kept)
        for place in range(math.factorial(kept)):
            noise = _Enumerated(coins, place)
            sample = stage.release(streamed.to_reader(), {}, noise)  # type: ignore[arg-type]
            assert noise.probability == ExactProbability.exponential(Fraction(1, rows or 1)).complement()
            found[tuple(sample.to_arrow().column("ward").to_pylist())] += mass
    assert sum(found.values()) == 1
    return found


def loss(first: Law, second: Law) -> Fraction:
    """Return the largest ratio of the first law to the second; it is finite where a promise holds."""
    assert all(second.get(outcome, 0) > 0 for outcome in first)
    return max(mass / second[outcome] for outcome, mass in first.items())


KINDS = [row(8, "A"), row(30, "A"), row(50, "B"), row(None, "B"), row(130, "C")]
DATABASES = [list(records) for size in range(3) for records in combinations_with_replacement(KINDS, size)]


@pytest.fixture(scope="module")
def laws() -> list[tuple[Database, Law]]:
    return [(records, law(records)) for records in DATABASES]


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_the_law_keeps_epsilon_in_the_required_direction_and_reaches_it(
    laws: list[tuple[Database, Law]], adjacency: Any
) -> None:
    relation = SensitiveUnderPolicy("adults", POLICY, adjacency)
    losses = [
        loss(one, other)
        for first, one in laws
        for second, other in laws
        if relation.relates(first, second, columns=COLUMNS)
    ]
    assert len(losses) > 30
    assert max(losses) == 1 / LEFT_OUT


def test_the_reverse_direction_has_no_bound(laws: list[tuple[Database, Law]]) -> None:
    (empty,) = [one for records, one in laws if not records]
    (adult,) = [one for records, one in laws if records == [KINDS[1]]]
    assert loss(empty, adult) == 1 / LEFT_OUT
    assert ("A",) in adult
    assert ("A",) not in empty


def test_an_order_says_nothing() -> None:
    found = law([row(30, "A"), row(40, "B"), row(50, "C")])
    every = [mass for outcome, mass in found.items() if len(outcome) == 3]
    assert len(every) == 6
    assert len(set(every)) == 1


ANN = [[], [row(30, "A", name="Ann")], [row(30, "A", name="Ann"), row(8, "B", name="Ann")]]
BOB = [[], [row(50, "B", name="Bob")], [row(50, "B", name="Bob"), row(60, "C", name="Bob")]]


@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_a_question_of_version_1_that_is_still_open_protects_persons_with_two_rows(adjacency: Any) -> None:
    databases = [[*ann, *bob] for ann in ANN for bob in BOB]
    found = [(records, law(records, 2)) for records in databases]
    relation = SensitiveUnderPolicy("adults", POLICY, adjacency, 2)
    losses = [
        loss(one, other)
        for first, one in found
        for second, other in found
        if relation.relates(first, second, columns=COLUMNS, person="name")
    ]
    # The coins have ε/2 each, so e^-ε is the square of what is left out by one of them.
    assert max(losses) == 1 / LEFT_OUT**2
    dataset = declare(person="name", max_rows=2)
    assert QUERY.bind(dataset.with_adjacency(adjacency)).guarantee == Guarantee(relation, 1)

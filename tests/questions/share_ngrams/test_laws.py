# SPDX-License-Identifier: Apache-2.0
"""The exact law of what is released, by enumeration, and what one person changes in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import anonymaly as am
from anonymaly.audit.fit import fit_outcomes
from anonymaly.noise import Noise
from anonymaly.questions.share_ngrams.mechanism import release_dense, release_one_sided, release_sparse
from anonymaly.questions.share_ngrams.summary import SequenceCounts
from tests.questions.share_ngrams.naive import Row, counts, declare, way

RATE, SIZE = Fraction(1, 2), 4
SEEN = SequenceCounts(np.array([1, 3]), np.array([1, 3]))
Law = dict[Any, float]


def two_sided(count: int, rate: float, threshold: int, cap: int) -> Law:
    """Return the law of a noisy count from the threshold on, all from the cap on taken together."""
    masses = {
        value: math.tanh(rate / 2) * math.exp(-rate * abs(value - count)) for value in range(threshold, cap)
    }
    # The probability of the cap and more: count <= cap here.
    above = math.exp(-rate * (cap - count)) / (1 + math.exp(-rate))
    return {**masses, cap: above, None: 1 - above - sum(masses.values())}


def one_sided(count: int, rate: float, threshold: int, cap: int) -> Law:
    masses = {
        value: -math.expm1(-rate) * math.exp(-rate * (count - value)) for value in range(threshold, count + 1)
    }
    return {**masses, None: 1 - sum(masses.values())}


def together(law: Callable[..., Law], cells: dict[int, int], rate: float, threshold: int, cap: int) -> Law:
    parts = [law(cells.get(cell, 0), rate, threshold, cap) for cell in range(SIZE)]
    return {
        values: math.prod(part[value] for part, value in zip(parts, values, strict=True))
        for values in product(*parts)
    }


@pytest.mark.parametrize("release", [release_dense, release_sparse])
@pytest.mark.parametrize("threshold", [1, 3])
def test_for_everyone_the_law_is_that_of_noising_every_sequence(release: Any, threshold: int) -> None:
    noise, cap = Noise.seeded(5), threshold + 2
    samples = []
    for _ in range(3000):
        cells, noisy = release(SEEN, SIZE, threshold, RATE, noise)
        assert cells.tolist() == sorted(set(cells.tolist())), "another order tells which somebody has"
        kept = dict(zip(cells.tolist(), noisy.tolist(), strict=True))
        samples.append(tuple(min(kept[cell], cap) if cell in kept else None for cell in range(SIZE)))
    law = together(two_sided, {1: 1, 3: 3}, 0.5, threshold, cap)
    assert sum(law.values()) == pytest.approx(1)
    # False alarms: once in a million; a count that is off by two is seen.
    assert fit_outcomes(samples, law).p_value > 1e-6
    assert fit_outcomes(samples, together(two_sided, {1: 1, 3: 1}, 0.5, threshold, cap)).p_value < 1e-6


@pytest.mark.parametrize("threshold", [1, 2])
def test_under_a_policy_the_law_is_that_of_one_sided_noise_and_nothing_is_invented(threshold: int) -> None:
    noise, samples = Noise.seeded(6), []
    for _ in range(3000):
        cells, noisy = release_one_sided(SEEN, threshold, RATE, noise)
        kept = dict(zip(cells.tolist(), noisy.tolist(), strict=True))
        assert set(kept) <= {1, 3}
        samples.append(tuple(kept.get(cell) for cell in range(SIZE)))
    law = together(one_sided, {1: 1, 3: 3}, 0.5, threshold, 9)
    assert fit_outcomes(samples, {key: mass for key, mass in law.items() if mass}).p_value > 1e-6


def ways() -> list[list[Row]]:
    """Return all ways of one person through two wards, of up to three rows, harmless or not."""
    return [
        way("Kit", wards, consent)
        for number in range(4)
        for wards in product("AB", repeat=number)
        for consent in (True, None)
    ]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_person_moves_no_more_than_the_rate_allows_and_some_person_moves_that_much(most: int) -> None:
    others = way("Lou", "ABA")
    found: dict[str, float] = {"add_remove": 0, "replace": 0, "policy": 0}
    tables = [(rows, counts([*others, *rows], 2, most)) for rows in ways()]
    harmless = [counts([*others, *rows], 2, most, harmless=True) for rows in ways()]
    for (old, before), kept in zip(tables, harmless, strict=True):
        for (new, after), left in zip(tables, harmless, strict=True):
            moved = sum(abs(before.get(cell, 0) - after.get(cell, 0)) for cell in {**before, **after})
            kind = "replace" if old and new else "add_remove"
            found[kind] = max(found[kind], moved)
            if all(row[3] is None for row in old):  # nobody, or a sensitive person
                growth = [left.get(cell, 0) - kept.get(cell, 0) for cell in {**kept, **left}]
                assert min(growth, default=0) >= 0
                found["policy"] = max(found["policy"], sum(growth))
    assert found["add_remove"] == found["policy"] == most
    assert most < found["replace"] <= 2 * most
    for adjacency, policy in product(("add_remove", "replace"), (None, "agreed")):
        asked = am.ShareNgrams(place=["ward"], order="day", per_person=most, policy=policy, epsilon=1)
        bound: Any = asked.bind(declare([]).with_adjacency(adjacency))  # type: ignore[arg-type]
        moves = most if policy or adjacency == "add_remove" else 2 * most
        assert bound.rate == Fraction(1, moves)


def test_of_10_to_the_15_sequences_as_many_of_nobody_are_published_as_the_law_says() -> None:
    size, rate, threshold = 10**15, Fraction(1, 2), 56
    expected = size * math.exp(-28.0) / (1 + math.exp(-0.5))
    cells, noisy = release_sparse(SEEN, size, threshold, rate, Noise.seeded(2))
    # Six standard deviations.
    assert abs(len(cells) - expected) < 6 * math.sqrt(expected)
    assert noisy.min() == threshold
    assert abs(cells.mean() / size - 0.5) < 6 / math.sqrt(12 * len(cells))

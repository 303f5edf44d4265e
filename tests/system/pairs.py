# SPDX-License-Identifier: Apache-2.0
"""Cases that hold every pair of values of any two dimensions, as few as a greedy choice finds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from random import Random

Case = dict[str, str]
TRIES = 40


def covering(dimensions: Mapping[str, Sequence[str]], seed: int) -> list[Case]:
    """Return cases in which every two values of two dimensions meet; the same ones for the same seed."""
    random = Random(seed)
    left = set(all_pairs(dimensions))
    cases: list[Case] = []
    while left:
        tried = [_case(dimensions, random.choice(sorted(left)), random) for _ in range(TRIES)]
        best = max(tried, key=lambda case: len(left & set(pairs_of(case))))
        left -= set(pairs_of(best))
        cases.append(best)
    return cases


def _case(dimensions: Mapping[str, Sequence[str]], pair: tuple[str, ...], random: Random) -> Case:
    first, one, second, other = pair
    return {name: random.choice(list(values)) for name, values in dimensions.items()} | {
        first: one,
        second: other,
    }


def all_pairs(dimensions: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return every pair of values of two dimensions."""
    return [
        (first, one, second, other)
        for first, second in itertools.combinations(sorted(dimensions), 2)
        for one in dimensions[first]
        for other in dimensions[second]
    ]


def pairs_of(case: Case) -> list[tuple[str, ...]]:
    """Return the pairs of values that a case holds."""
    return all_pairs({name: [value] for name, value in case.items()})

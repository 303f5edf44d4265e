# SPDX-License-Identifier: Apache-2.0
"""The law of auto's two views together, by enumeration: for each thing that public facts may decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from anonymaly.core.arrays import Integers
from anonymaly.core.rate import Adjacency
from anonymaly.questions.share_histogram.methods import CHOOSING, choice
from anonymaly.questions.share_histogram.methods import rates as rates_of
from anonymaly.questions.share_histogram.methods.method import Facts
from anonymaly.questions.share_histogram.methods.rates import Rates
from tests.questions.share_histogram.laws import Enumerated, Law, Table, law, neighbours

EPSILON = Fraction(9)
CUT = 5e-4  # what the outcomes left out may weigh
FORMS: list[Adjacency] = ["add_remove", "replace"]
# The first table has a sensitive record in a cell that the text calls harmless: it is counted nowhere.
TABLES: list[Table] = [((1, 0), (0, 1)), ((1, 1), (1, 0)), ((0, 2), (2, 1))]
FACTS = {
    "hybrid": Facts((2,), plain=False),
    "plain": Facts((2,), plain=True),
    "decided": Facts((2,), np.array([True, False]), plain=False),
    "all decided": Facts((2,), np.array([True, True]), plain=False),
}


@cache
def views(decided: str, table: Table, rates: tuple[tuple[str, Fraction], ...]) -> Law:
    sensitive, others = (np.array(part) for part in table)

    def release(noise: Enumerated) -> Integers:
        found = CHOOSING["cells"].views(
            sensitive + others,
            others,
            rates=dict(rates),
            noise=noise,  # type: ignore[arg-type]  # one outcome after the other
            facts=FACTS[decided],
        )
        assert found.sums is not None
        return np.concatenate([found.cells, found.sums.round(9)])

    return law(release)


def excess(decided: str, adjacency: Adjacency, rates: Rates) -> Iterator[float]:
    items = tuple(rates.items())
    for table in TABLES:
        mine = views(decided, table, items)
        assert abs(sum(mine.values()) - 1) < CUT
        for neighbour in neighbours(table, adjacency):
            theirs = views(decided, neighbour, items)
            for output, mass in mine.items():
                yield mass - math.exp(EPSILON) * theirs.get(output, 0.0)


def rates_for(decided: str, adjacency: Adjacency, epsilon: Fraction) -> Rates:
    rates = rates_of.hybrid(epsilon, adjacency, 2)
    return {"two_sided": rates["two_sided"]} if decided == "plain" else rates


@pytest.mark.parametrize("adjacency", FORMS)
@pytest.mark.parametrize("decided", FACTS)
def test_no_pair_of_views_is_likelier_than_promised(decided: str, adjacency: Adjacency) -> None:
    assert max(excess(decided, adjacency, rates_for(decided, adjacency, EPSILON))) <= CUT


@pytest.mark.parametrize("adjacency", FORMS)
@pytest.mark.parametrize("decided", ["hybrid", "plain", "decided"])
def test_the_check_notices_rates_that_are_too_large(decided: str, adjacency: Adjacency) -> None:
    assert max(excess(decided, adjacency, rates_for(decided, adjacency, 3 * EPSILON))) > CUT


@pytest.mark.parametrize("adjacency", FORMS)
def test_the_numbers_that_auto_chooses_by_keep_their_share(
    adjacency: Adjacency, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates_of, "ASKING_SHARE", Fraction(1, 3))
    rates = rates_of.auto(EPSILON, adjacency, 2)
    for share, kept in ((1, True), (4, False)):
        asked = {**rates, "numbers": share * rates["numbers"]}
        losses = []
        for table in TABLES:
            mine = _numbers(table, asked)
            for neighbour in neighbours(table, adjacency):
                theirs = _numbers(neighbour, asked)
                losses += [
                    mass - math.exp(EPSILON / 3) * theirs.get(seen, 0.0) for seen, mass in mine.items()
                ]
        assert (max(losses) <= CUT) is kept


def _numbers(table: Table, rates: Rates) -> Law:
    """Return the law of the two numbers, as the first draw of a release has them."""
    sensitive, others = (np.array(part) for part in table)

    class Asked(Exception):
        pass

    class First:
        def __init__(self, noise: Enumerated) -> None:
            self.noise, self.seen = noise, np.zeros(0, np.int64)

        def deciding_numbers(self, counts: Integers, rate: Fraction) -> Integers:
            self.seen = self.noise.add_two_sided_geometric(counts, rate)
            raise Asked

    def release(noise: Enumerated) -> Integers:
        first = First(noise)
        with pytest.raises(Asked):
            choice.auto(sensitive + others, others, rates=rates, noise=first, facts=Facts((2,)))  # type: ignore[arg-type]
        return first.seen

    return law(release)

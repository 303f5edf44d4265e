# SPDX-License-Identifier: Apache-2.0
"""Every method's law on small tables, by enumeration, keeps its promise in the direction it is made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from anonymaly.core.rate import Adjacency
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.methods import rates as rates_of
from anonymaly.questions.share_histogram.methods.dawa import release_zero_bins
from anonymaly.questions.share_histogram.methods.rates import Rates
from tests.questions.share_histogram.laws import Law, Table, law, neighbours

TABLES: list[Table] = [((1, 0), (0, 1)), ((1, 1), (1, 0)), ((0, 2), (2, 1))]
# Methods of several draws have more outcomes than can be run through on all of these.
FEWER: dict[str, list[Table]] = {"auto": [((1,), (1,))], "dawaz": [((1, 1), (1, 0))]}
FORMS: list[Adjacency] = ["add_remove", "replace"]
CUT = 5e-4  # what the outcomes left out may weigh: four draws of e^-9 each
EPSILON = Fraction(9)
CAPS = {"dawaz": 3}  # its one-sided draws are only compared with counts up to this


def releases(name: str, table: Table, rates: Rates) -> Law:
    return _releases(name, table, tuple(rates.items()))


@cache
def _releases(name: str, table: Table, items: tuple[tuple[str, Fraction], ...]) -> Law:
    sensitive, others = (np.array(part) for part in table)
    method, rates = METHODS[name], dict(items)
    return law(lambda noise: method.run(sensitive + others, others, rates=rates, noise=noise), CAPS.get(name))


def excess(name: str, adjacency: Adjacency, rates: Rates, epsilon: Fraction = EPSILON) -> Iterator[float]:
    """By how much a probability is above e^ε times its neighbour's, for all pairs and outputs."""
    for table in FEWER.get(name, TABLES):
        mine = releases(name, table, rates)
        assert abs(sum(mine.values()) - 1) < CUT
        for neighbour in neighbours(table, adjacency):
            theirs = releases(name, neighbour, rates)
            for output, mass in mine.items():
                yield mass - math.exp(epsilon) * theirs.get(output, 0.0)


@pytest.fixture(autouse=True)
def _auto_asks_with_few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a fiftieth of ε there are too many outcomes; a third of ε is the same argument.
    monkeypatch.setattr(rates_of, "ASKING_SHARE", Fraction(1, 3))


def nano(epsilon: Fraction) -> int:
    return int(epsilon * 10**9)


@pytest.mark.parametrize("adjacency", FORMS)
@pytest.mark.parametrize("name", METHODS)
def test_no_output_is_likelier_than_promised(name: str, adjacency: Adjacency) -> None:
    rates = METHODS[name].rates(nano(EPSILON), adjacency=adjacency, bins=2)
    assert max(excess(name, adjacency, rates)) <= CUT


@pytest.mark.parametrize("adjacency", FORMS)
@pytest.mark.parametrize("name", [name for name in METHODS if name != "auto"])  # test_auto_laws.py has it
def test_the_check_notices_rates_that_are_too_large(name: str, adjacency: Adjacency) -> None:
    # What several draws add up to is not reached by any output of tables this small.
    times = 5 if name in FEWER else 2
    rates = METHODS[name].rates(nano(times * EPSILON), adjacency=adjacency, bins=2)
    assert max(excess(name, adjacency, rates)) > CUT


@pytest.mark.parametrize("name", ["geometric", "smoothed", "dawa"])
def test_differentially_private_methods_hold_in_both_directions(name: str) -> None:
    method, tables = METHODS[name], [((0, 0), (0, 2)), ((0, 0), (1, 2)), ((0, 0), (1, 1))]
    for adjacency, change in (("add_remove", tables[:2]), ("replace", tables[::2])):
        rates = method.rates(nano(EPSILON), adjacency=adjacency, bins=2)  # type: ignore[arg-type]
        first, second = (releases(name, table, rates) for table in change)
        for one, other in ((first, second), (second, first)):
            for output, mass in one.items():
                assert mass - math.exp(EPSILON) * other.get(output, 0.0) <= CUT


def test_one_sided_methods_show_that_a_non_sensitive_record_is_there() -> None:
    # The promise has a direction: what a non-sensitive record makes possible is impossible without it.
    rates = METHODS["one_sided"].rates(nano(Fraction(1)), adjacency="add_remove", bins=1)
    with_it, without = (releases("one_sided", ((0,), (count,)), rates) for count in (1, 0))
    assert with_it[(1.0,)] > 0.6
    assert (1.0,) not in without


def test_auto_pays_for_what_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for adjacency, parts in (("add_remove", 1), ("replace", 2)):
        rates = METHODS["auto"].rates(10**9, adjacency=adjacency, bins=4096)  # type: ignore[arg-type]
        # One record moves one of the two numbers under add/remove, and one of each if it is replaced.
        assert parts * (rates["numbers"] + rates["one_sided"]) == 1
        assert parts * (rates["numbers"] + rates["two_sided"]) == 1


def test_zero_bins_are_as_likely_as_in_a_sample_or_under_one_sided_noise() -> None:
    rate, counts = Fraction(3, 4), np.array([0, 2])
    found = law(lambda noise: release_zero_bins(counts, rate, noise), cap=3)
    sampled = law(lambda noise: METHODS["sample"].run(counts, counts, rates={"left_out": rate}, noise=noise))
    subtracted = law(
        lambda noise: METHODS["one_sided"].run(counts, counts, rates={"one_sided": rate}, noise=noise)
    )
    both_empty = found[(1.0, 1.0)]
    assert both_empty == pytest.approx(math.exp(-0.75 * 2))
    assert both_empty == pytest.approx(sampled[(0.0, 0.0)])
    reached = sum(mass for output, mass in subtracted.items() if max(output) <= 0)
    assert both_empty == pytest.approx(reached, abs=CUT)


def test_dawaz_spends_a_tenth_on_zero_bins() -> None:
    rates = rates_of.dawaz(Fraction(1), "replace", 64)
    assert rates["zero_bins"] == Fraction(1, 10)
    assert rates["totals"] == Fraction(9, 10) * Fraction(3, 4) / 2

# SPDX-License-Identifier: Apache-2.0
"""The three bounds, against every way through small graphs; and what each of them makes of the flip."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from anonymaly.questions.identify.verdicts import StepBound, Verdicts, is_anomaly, judge, steps_to_change
from tests.questions.identify.graphs import Line, Steps, Table, chance_of_yes, column, factor

MODELS = [(beta, k) for beta in (1, 2, 3, 4) for k in (1, 2, 3, 5)]
BASE = Fraction(2)  # e^ε


def line(beta: int, k: int, most: int = 4) -> Line:
    # Asked about point 1 of 0, 1, 2, 3: two others are near, one is not.
    return Line(points=4, most=most, asked=1, radius=1, beta=beta, k=k)


def bounds(world: Line, bound: StepBound) -> dict[Table, int]:
    tables = world.tables()
    own = column([table[world.asked] for table in tables])
    within = column([world.within(table, world.asked) for table in tables])
    steps = steps_to_change(bound, own, within, beta=world.beta, k=world.k)
    return dict(zip(tables, steps.tolist(), strict=True))


@pytest.mark.parametrize(("beta", "k"), MODELS)
def test_the_answer_is_the_papers_definition(beta: int, k: int) -> None:
    world = line(beta, k)
    for table in world.tables():
        own, within = column([table[1]]), column([world.within(table, 1)])
        assert is_anomaly(own, within, beta)[0] == world.anomalous(table)


@pytest.mark.parametrize(("beta", "k"), MODELS)
def test_the_differential_bound_is_the_exact_distance_over_all_steps(beta: int, k: int) -> None:
    # Point 1 and one neighbour are enough, and leave room for tables in which no way is cut off.
    world = Line(points=2, most=3 * beta + 6, asked=1, radius=1, beta=beta, k=k)
    exact, given = world.distances(world.any_step), bounds(world, "differential")
    inner = [table for table in exact if sum(table) <= 2 * beta + 2]
    assert len(inner) > 10
    assert {table: given[table] for table in inner} == {table: exact[table] for table in inner}


@pytest.mark.parametrize(("beta", "k"), MODELS)
def test_the_improved_bound_is_the_exact_distance_in_the_larger_graph(beta: int, k: int) -> None:
    world = Line(points=2, most=3 * beta + 6, asked=1, radius=1, beta=beta, k=k)
    exact, given = world.distances(world.superset_step), bounds(world, "improved")
    inner = [table for table in exact if sum(table) <= 2 * beta + 2]
    assert {table: given[table] for table in inner} == {table: exact[table] for table in inner}


@pytest.mark.parametrize("bound", ["improved", "paper"])
@pytest.mark.parametrize(("beta", "k"), MODELS)
def test_no_way_through_sensitive_steps_is_shorter_than_the_bound(
    beta: int, k: int, bound: StepBound
) -> None:
    world = line(beta, k)
    given = bounds(world, bound)
    for table, distance in world.distances(world.sensitive_step).items():
        assert 1 <= given[table] <= distance


def _wrong(world: Line, given: dict[Table, int], steps: Steps) -> list[tuple[Table, Table]]:
    """Steps along which a bound changes by more than one, or the answer changes where a bound is not 1."""
    return [
        (table, after)
        for table in world.tables()
        for after in steps(table)
        if (
            abs(given[table] - given[after]) > 1
            if world.anomalous(table) == world.anomalous(after)
            else (given[table], given[after]) != (1, 1)
        )
    ]


@pytest.mark.parametrize(("beta", "k"), MODELS)
def test_every_bound_keeps_the_conditions_of_construction_1(beta: int, k: int) -> None:
    world = line(beta, k)
    assert _wrong(world, bounds(world, "differential"), world.any_step) == []
    assert _wrong(world, bounds(world, "improved"), world.sensitive_step) == []
    assert _wrong(world, bounds(world, "paper"), world.sensitive_step) == []
    # And the check can fail: the sensitive bounds do not do for differential privacy while k is small.
    assert bool(_wrong(world, bounds(world, "improved"), world.any_step)) == (k < beta)


@pytest.mark.parametrize(("beta", "k"), list(product(range(1, 9), range(1, 11))))
def test_the_improved_bound_is_the_larger_one_just_where_it_is_said_to_be(beta: int, k: int) -> None:
    own, within = (
        column([pair[place] for pair in product(range(12), range(24)) if pair[0] <= pair[1]])
        for place in (0, 1)
    )
    improved = steps_to_change("improved", own, within, beta=beta, k=k)
    paper = steps_to_change("paper", own, within, beta=beta, k=k)
    assert (improved >= paper).all()
    few = (within <= beta - k) & (own < k)
    many = (within >= beta + 1 - k) & (within - own < beta - k) & (own < beta + 1 - within)
    np.testing.assert_array_equal(improved > paper, (own >= 2) & (few | many))
    if k >= beta:
        differential = steps_to_change("differential", own, within, beta=beta, k=k)
        np.testing.assert_array_equal(improved, differential)
        np.testing.assert_array_equal(paper, differential)


def stopped_counts(world: Line, slack: int) -> dict[Table, tuple[int, int]]:
    """What a scan that stops at β+L knows: the count up to there, and copies that it has met."""
    found = {}
    for table in world.tables():
        within = min(world.within(table, world.asked), world.beta + slack)
        found[table] = (table[world.asked], within)
    return found


def laws(world: Line, verdicts: Verdicts) -> dict[Table, Fraction]:
    return dict(zip(world.tables(), chance_of_yes(verdicts, BASE), strict=True))


def worst_factor(world: Line, law: dict[Table, Fraction], steps: Steps) -> Fraction:
    return max(factor(law[table], law[after]) for table in world.tables() for after in steps(table))


@pytest.mark.parametrize("slack", [1, 2, 3])
@pytest.mark.parametrize("bound", ["improved", "paper", "differential"])
@pytest.mark.parametrize(("beta", "k"), MODELS)
def test_the_stopped_mechanism_loses_epsilon_and_no_more(
    beta: int, k: int, bound: StepBound, slack: int
) -> None:
    world = line(beta, k)
    own, within = (
        column(list(counts)) for counts in zip(*stopped_counts(world, slack).values(), strict=True)
    )
    steps = world.any_step if bound == "differential" else world.sensitive_step
    law = laws(world, judge(own, within, beta=beta, k=k, bound=bound, slack=slack))
    assert worst_factor(world, law, steps) == BASE
    # Whatever a stopped scan has seen of copies makes no difference.
    stopped = within == beta + slack
    other = np.where(stopped, 0, own)
    assert laws(world, judge(other, within, beta=beta, k=k, bound=bound, slack=slack)) == law


def test_a_capped_count_in_the_formula_loses_twice_epsilon() -> None:
    beta, k, slack = 2, 1, 2
    world = line(beta, k)
    counts = stopped_counts(world, slack)
    own, within = (column(list(items)) for items in zip(*counts.values(), strict=True))
    steps = steps_to_change("improved", own, within, beta=beta, k=k)
    # A scan that stops before it meets a copy believes that there is none: λ is L+2 beside a neighbour's L.
    unseen = np.where(
        within == beta + slack, steps_to_change("improved", 0 * own, within, beta=beta, k=k), steps
    )
    careless = Verdicts(is_anomaly(own, within, beta), unseen)
    assert worst_factor(world, laws(world, careless), world.sensitive_step) > BASE
    honest = judge(own, within, beta=beta, k=k, bound="improved", slack=slack)
    assert worst_factor(world, laws(world, honest), world.sensitive_step) == BASE


@pytest.mark.parametrize("slack", [1, 2, 5])
def test_stopping_adds_at_most_the_stated_error(slack: int) -> None:
    beta, k, rate = 3, 1, Fraction(2)
    own, within = (column([pair[place] for pair in product(range(4), range(4, 40))]) for place in (0, 1))
    full = chance_of_yes(judge(own, within, beta=beta, k=k, bound="improved", slack=100), rate)
    short = chance_of_yes(
        judge(own, np.minimum(within, beta + slack), beta=beta, k=k, bound="improved", slack=slack), rate
    )
    assert max(abs(one - other) for one, other in zip(full, short, strict=True)) <= rate ** -(slack - 1)

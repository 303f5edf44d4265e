# SPDX-License-Identifier: Apache-2.0
"""Faults of Shafieinejad et al. 2021 as printed, and others easily made, show on tables of a few rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from math import inf, log
from typing import Any

import numpy as np
import pytest

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings, graph
from anonymaly.questions.explain.searches.graph import KnownContexts, choose, valid_neighbours
from tests.questions.explain.searches.laws import (
    HALF,
    EveryOutcome,
    Law,
    factor,
    known,
    naive_law,
    populations,
    real_law,
    run,
    settings,
)

DOUBLE = 1 / HALF
PATIENCE = 2_000


# ---- loops that do not end -------------------------------------------------------------------------------


def _algorithm_2(contexts: KnownContexts, n: int, noise: Noise) -> Iterator[set[int]]:
    found: set[int] = set()
    while len(found) <= n:
        context = noise.uniform(1 << contexts.free_bits)
        if contexts.validity[context]:
            found.add(context)
        yield found


def _algorithm_3(contexts: KnownContexts, start: int, n: int, noise: Noise) -> Iterator[list[int]]:
    current, found = start, [start]
    connected = [start]
    while len(found) <= n and connected:
        connected = [current ^ 1 << bit for bit in range(contexts.free_bits)]
        neighbour = connected[noise.uniform(len(connected))]
        if contexts.validity[neighbour]:
            found.append(neighbour)
            current = neighbour
        else:
            connected.remove(neighbour)
        yield found


def test_algorithm_2_as_printed_does_not_end_with_few_valid_contexts_and_ours_does() -> None:
    contexts, noise = known(2, [1, 2], [0, 3, 5, 0]), Noise.seeded(1)
    assert len(list(islice(_algorithm_2(contexts, 1, noise), PATIENCE))) < PATIENCE
    assert len(list(islice(_algorithm_2(contexts, 2, noise), PATIENCE))) == PATIENCE
    answer = run("uniform", contexts, rate=Fraction(9), noise=noise, samples=3, tries=100)
    assert answer == 2


def test_algorithm_3_as_printed_does_not_leave_a_lonely_start_and_ours_does() -> None:
    contexts, noise = known(2, [0, 3], [1, 0, 0, 9]), Noise.seeded(1)
    walk = list(islice(_algorithm_3(contexts, 0, 2, noise), PATIENCE))
    assert len(walk) == PATIENCE
    assert walk[-1] == [0]
    answer = run("random_walk", contexts, rate=Fraction(1), noise=noise, start=0, samples=3, tries=10**9)
    assert answer == 0


def test_flipping_in_place_as_printed_visits_contexts_that_are_no_neighbours() -> None:
    contexts = known(3, range(8), [0] * 8)
    child, printed = 0, []
    for bit in range(3):
        child ^= 1 << bit
        printed.append(child)
    assert printed == [0b001, 0b011, 0b111]
    assert valid_neighbours(contexts, 0) == [0b001, 0b010, 0b100]


# ---- what may not steer a search -------------------------------------------------------------------------

Function = Callable[..., int | None]


def _start_at_the_best(inner: str) -> Function:
    """Begin at the largest valid context, as a data owner's "initial search" might."""

    def search(contexts: KnownContexts, given: SearchSettings, **options: Any) -> int | None:
        valid = np.flatnonzero(contexts.validity)
        best = int(valid[np.argmax(contexts.utilities[valid])])
        return SEARCHES[inner].run(contexts, replace(given, start=best), **options)

    return search


def _give_up_when_small(inner: str) -> Function:
    def search(contexts: KnownContexts, given: SearchSettings, **options: Any) -> int | None:
        answer = SEARCHES[inner].run(contexts, given, **options)
        return answer if answer is not None and contexts.utilities[answer] >= 3 else None

    return search


def _stop_when_satisfied(
    contexts: KnownContexts, given: SearchSettings, rate: Fraction, noise: Noise
) -> int | None:
    """End the walk at the first context that is large enough."""
    context: Any = given.start
    met = [context]
    while len(met) < given.samples and contexts.utilities[context] < 3:
        neighbours = valid_neighbours(contexts, context)
        context = neighbours[noise.uniform(len(neighbours))]
        met.append(context)
    return choose(contexts, list(dict.fromkeys(met)), rate, noise)


def _greedy(contexts: KnownContexts, given: SearchSettings, rate: Fraction, noise: Noise) -> int | None:
    """Depth first without noise on the way, as the algorithm without privacy goes."""
    context: Any = given.start
    visited = [context]
    while len(visited) < given.samples:
        children = [child for child in valid_neighbours(contexts, context) if child not in visited]
        if not children:
            break
        context = max(children, key=lambda child: int(contexts.utilities[child]))
        visited.append(context)
    return choose(contexts, visited, rate, noise)


def _most_lost(
    function: Function | None, name: str, valid: Sequence[int] = (1, 2, 3), **parameters: Any
) -> Any:
    """The largest factor between tables of four cells with one row more or less."""
    worst: Any = 1
    laws: dict[tuple[int, ...], Law] = {}
    for counts in product(range(3), repeat=4):
        contexts = known(2, valid, populations((2, 2), counts))
        laws[counts] = real_law(name, contexts, function=function, **parameters)
    for counts, law in laws.items():
        for place in range(4):
            more = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
            if more in laws:
                worst = max(worst, factor(law, laws[more]), factor(laws[more], law))
    return worst


FAULTS: dict[str, tuple[Function, str, dict[str, Any]]] = {
    "the start is the best context": (_start_at_the_best("random_walk"), "random_walk", {"samples": 1}),
    "the start is the best one, and a search follows": (
        _start_at_the_best("breadth_first"),
        "breadth_first",
        {"samples": 2},
    ),
    "small answers are withheld": (_give_up_when_small("exact"), "exact", {}),
    "the walk stops when satisfied": (
        _stop_when_satisfied,
        "random_walk",
        {"start": 1, "samples": 3, "tries": 2},
    ),
    "neighbours are chosen without noise": (_greedy, "depth_first", {"start": 3, "samples": 2}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_search_steered_by_utility_loses_more_than_its_charge_and_ours_does_not(fault: str) -> None:
    function, name, parameters = FAULTS[fault]
    charge = DOUBLE ** SEARCHES[name].draws(settings(**parameters))
    assert _most_lost(function, name, **parameters) > charge
    assert _most_lost(None, name, **parameters) <= charge


def test_a_start_steered_by_utility_is_an_exact_answer() -> None:
    function, name, parameters = FAULTS["the start is the best context"]
    assert _most_lost(function, name, **parameters) == inf
    assert _most_lost(None, name, **parameters) == 1


@pytest.mark.parametrize("name", ["depth_first", "breadth_first"])
def test_steps_chosen_by_utility_are_not_free(name: str) -> None:
    # Each step at the whole charge, as if only the draw at the end cost anything: ε1 where ε1/N is due.
    assert DOUBLE < _most_lost(None, name, range(4), start=3, samples=3) <= DOUBLE**3


# ---- not differential privacy ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(SEARCHES))
def test_between_tables_with_other_valid_contexts_nothing_bounds_the_loss(name: str) -> None:
    # COE(D1) = {A, B}, COE(D2) = {B}; A = 1 and B = 0 are neighbours, so that searches can go from B to A.
    parameters = {"start": 0, "samples": 2, "tries": 40}
    losses = []
    for large in (10, 100, 1000):
        both = naive_law(name, known(1, [0, 1], [1, large]), **parameters)
        one = naive_law(name, known(1, [0], [1, large]), **parameters)
        assert factor(both, one) == inf  # A is not an answer of D2 at all
        # And even on B, which is valid in both, the loss grows with A's size.
        losses.append(log(one[0] / both[0]))
    if name != "uniform":
        assert losses[2] > 999 * log(2)
        assert losses[0] < losses[1] < losses[2]
    else:
        assert losses[2] > 20  # what remains is the chance that all tries missed A


def test_the_loss_is_unbounded_for_the_real_function_too() -> None:
    both, one = known(1, [0, 1], [1, 1000]), known(1, [0], [1, 1000])
    likely, unlikely = real_law("exact", one)[0], real_law("exact", both)[0]
    assert likely == 1
    assert unlikely == HALF**1000


# ---- planted faults in the steps that searches share -----------------------------------------------------


def _laws(name: str) -> list[Law]:
    return [
        real_law(name, known(3, valid, [4, 0, 1, 3, 2, 0, 1, 5]), samples=3, tries=2, start=start)
        for valid, start in [(range(8), 0), ([1, 3, 5, 7], 1), ([0, 1, 6], 1), ([0, 1, 6, 7], 2)]
    ]


def _neighbours_in_place(contexts: KnownContexts, context: int) -> list[int]:
    found = []
    for bit in range(contexts.free_bits):
        context ^= 1 << bit
        if contexts.validity[context]:
            found.append(context)
    return found


def _neighbours_unchecked(contexts: KnownContexts, context: int) -> list[int]:
    return [context ^ 1 << bit for bit in range(contexts.free_bits)]


def _start_unchecked(contexts: KnownContexts, given: SearchSettings, noise: Noise) -> int | None:
    return given.start


def _choose_the_best(contexts: KnownContexts, candidates: list[int], rate: Fraction, noise: Noise) -> int:
    return max(candidates, key=lambda context: int(contexts.utilities[context]))


@pytest.mark.parametrize("name", ["random_walk", "depth_first", "breadth_first"])
@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("valid_neighbours", _neighbours_in_place),
        ("valid_neighbours", _neighbours_unchecked),
        ("starting_context", _start_unchecked),
        ("choose", _choose_the_best),
    ],
)
def test_a_fault_in_a_shared_step_changes_the_law(
    name: str, step: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = _laws(name)
    place = "graph" if step == "starting_context" and SEARCHES[name].steered else name
    monkeypatch.setattr(f"anonymaly.questions.explain.searches.{place}.{step}", fault)
    assert _laws(name) != right


def test_an_invalid_start_is_drawn_again_and_not_replaced_by_a_neighbour() -> None:
    contexts = known(2, [3], [0, 0, 0, 7])
    law = EveryOutcome().law(lambda noise: graph.starting_context(contexts, settings(tries=2), noise))
    assert law == {3: Fraction(7, 16), None: Fraction(9, 16)}

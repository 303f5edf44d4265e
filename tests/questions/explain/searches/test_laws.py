# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import exp
from typing import Any

import pytest

from anonymaly.audit.fit import fit_outcomes
from anonymaly.noise import Noise
from anonymaly.questions.explain.searches import SEARCHES, graph
from tests.questions.explain.searches.laws import (
    HALF,
    EveryOutcome,
    choice_by_permutations,
    choice_law,
    known,
    naive_law,
    real_law,
    run,
    settings,
)

NAMES = list(SEARCHES)
GRAPHS: dict[str, tuple[int, Sequence[int]]] = {  # free bits, valid contexts
    "all of four": (2, range(4)),
    "a path": (2, [0, 1, 3]),
    "two apart": (2, [0, 3]),
    "one alone": (2, [2]),
    "none": (2, []),
    "the only context": (0, [0]),
    "all of eight": (3, range(8)),
    "a ring of six": (3, [1, 2, 3, 4, 5, 6]),
    "a star": (3, [0, 1, 2, 4]),
    "in two parts": (3, [0, 1, 6, 7]),
}


def _utilities(free_bits: int, seed: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randint(0, 4) for _ in range(1 << free_bits)]


def _cases(name: str, free_bits: int, valid: int) -> list[dict[str, Any]]:
    """Public parameters that bring out every way to end, with few enough courses to take them all."""
    if name == "exact":
        return [{}]
    if name == "uniform":
        longest = 2 if free_bits == 3 else 3
        return [{"samples": samples, "tries": tries} for samples, tries in product([1, 2, 5], [1, longest])]
    given = [(2, 3), (3, 2), (4, 4)] + ([(9, 3)] if valid <= 6 else [])
    drawn = [(1, 1), (2, 2), (3, 1)] if free_bits == 3 else [(1, 1), (2, 3), (9, 2)]
    return [
        {"samples": samples, "tries": tries, "start": start}
        for start, sizes in ((None, drawn), (0, given), (1 if free_bits else 0, given))
        for samples, tries in sizes
    ]


@pytest.mark.parametrize("x", [HALF, Fraction(1, 3)], ids=str)
def test_three_descriptions_of_permute_and_flip_have_one_law(x: Fraction) -> None:
    for utilities in ([3], [1, 1], [0, 2], [0, 1, 3, 3], [5, 0, 2, 2, 4]):
        law = choice_by_permutations(utilities, x)
        assert law == choice_law(tuple(utilities), x)
        # Noisy max with one-sided geometric noise, ties broken uniformly; the tail beyond is below 2^-150.
        noisy = [Fraction(0)] * len(utilities)
        for level in range(max(utilities), max(utilities) + 160):
            for ties in product([True, False], repeat=len(utilities)):
                mass = Fraction(1)
                for tie, utility in zip(ties, utilities, strict=True):
                    below = 1 - x ** (level - utility)  # u + G < level
                    mass *= (1 - x) * x ** (level - utility) if tie else below
                for place, tie in enumerate(ties):
                    if tie:
                        noisy[place] += mass / sum(ties)
        assert max(abs(a - b) for a, b in zip(law, noisy, strict=True)) < Fraction(1, 2**150)


def test_the_law_of_a_choice_is_that_of_the_package() -> None:
    noise, utilities, rate = Noise.seeded(1), (0, 2, 3, 3, 1), Fraction(7, 10)
    law = dict(enumerate(choice_law(utilities, exp(-rate))))
    assert fit_outcomes([noise.choose(utilities, rate) for _ in range(5_000)], law).fits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("graph_name", GRAPHS)
def test_the_exact_law_of_a_search_is_that_of_its_description(name: str, graph_name: str) -> None:
    free_bits, valid = GRAPHS[graph_name]
    for seed, case in enumerate(_cases(name, free_bits, len(valid))):
        for x in (HALF, Fraction(1, 3)):
            contexts = known(free_bits, valid, _utilities(free_bits, seed))
            law = real_law(name, contexts, x=x, **case)
            assert sum(law.values()) == 1
            assert law == naive_law(name, contexts, x=x, **case), case


@pytest.mark.parametrize("name", ["random_walk", "depth_first", "breadth_first"])
@pytest.mark.parametrize("graph_name", ["a path", "two apart", "in two parts", "a star", "none"])
def test_the_exact_law_from_several_starts_is_that_of_its_description(name: str, graph_name: str) -> None:
    free_bits, valid = GRAPHS[graph_name]
    cases = product([None, 0, 2], [2, 3], [1, 2, 4], [1, 2] if free_bits == 2 else [1])
    for seed, (start, starts, samples, tries) in enumerate(cases):
        case: dict[str, Any] = {"start": start, "starts": starts, "samples": samples, "tries": tries}
        contexts = known(free_bits, valid, _utilities(free_bits, seed))
        law = real_law(name, contexts, **case)
        assert sum(law.values()) == 1
        assert law == naive_law(name, contexts, **case), case


@pytest.mark.parametrize("name", ["depth_first", "breadth_first"])
def test_several_starts_lead_to_what_one_cannot_reach(name: str) -> None:
    contexts = known(2, [0, 3], [1, 0, 0, 9])
    assert set(real_law(name, contexts, start=0, samples=4, tries=2)) == {0}
    assert set(real_law(name, contexts, start=0, starts=2, samples=4, tries=2)) == {0, 3}


@pytest.mark.parametrize("name", ["random_walk", "depth_first", "breadth_first"])
def test_the_exact_law_on_random_graphs_of_sixteen_contexts(name: str) -> None:
    draw = random.Random(5)
    for _ in range(12):
        valid = [context for context in range(16) if draw.random() < 0.6] or [3]
        contexts = known(4, valid, [draw.randint(0, 3) for _ in range(16)])
        case: dict[str, Any] = {"start": draw.choice(valid), "samples": draw.randint(2, 4), "tries": 3}
        assert real_law(name, contexts, **case) == naive_law(name, contexts, **case)


@pytest.mark.parametrize("first_block", [1, 2])
@pytest.mark.parametrize("name", ["uniform", "breadth_first"])
def test_drawing_in_blocks_changes_no_law(
    name: str, first_block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = known(2, [1, 2, 3], [9, 0, 2, 1])
    whole = real_law(name, contexts, samples=2, tries=4)
    monkeypatch.setattr(graph, "FIRST_BLOCK", first_block)
    monkeypatch.setattr(graph, "LARGEST_BLOCK", 2)
    assert real_law(name, contexts, samples=2, tries=4) == whole


SAMPLED: list[tuple[str, str, dict[str, Any]]] = [
    ("exact", "a ring of six", {}),
    ("uniform", "a ring of six", {"samples": 2, "tries": 3}),
    ("random_walk", "a ring of six", {"samples": 3, "tries": 4, "start": 1}),
    ("random_walk", "in two parts", {"samples": 2, "tries": 2}),
    ("depth_first", "all of eight", {"samples": 3, "tries": 1, "start": 0}),
    ("depth_first", "in two parts", {"samples": 4, "tries": 2}),
    ("breadth_first", "all of eight", {"samples": 4, "tries": 1, "start": 5}),
    ("breadth_first", "a star", {"samples": 3, "tries": 2}),
]
UTILITIES = [0, 3, 1, 2, 4, 2, 0, 1]


def _sampled(name: str, graph_name: str, case: dict[str, Any], rate: Fraction, count: int) -> list[Any]:
    contexts, noise = known(*GRAPHS[graph_name], UTILITIES), Noise.seeded(11)
    return [run(name, contexts, rate=rate, noise=noise, **case) for _ in range(count)]


@pytest.mark.parametrize(("name", "graph_name", "case"), SAMPLED)
def test_samples_of_a_search_follow_its_law(name: str, graph_name: str, case: dict[str, Any]) -> None:
    rate = Fraction(1, 2)
    law = naive_law(name, known(*GRAPHS[graph_name], UTILITIES), x=exp(-rate), **case)
    assert fit_outcomes(_sampled(name, graph_name, case, rate, 3_000), law).fits


@pytest.mark.parametrize(("name", "graph_name", "case"), SAMPLED[:2] + SAMPLED[4:5] + SAMPLED[6:7])
def test_a_wrong_rate_or_a_wrong_size_does_not_follow_it(
    name: str, graph_name: str, case: dict[str, Any]
) -> None:
    rate, count = Fraction(1, 2), 3_000 if SEARCHES[name].steered else 10_000
    law = naive_law(name, known(*GRAPHS[graph_name], UTILITIES), x=exp(-rate), **case)
    assert not fit_outcomes(_sampled(name, graph_name, case, rate * 2, count), law).fits
    assert not fit_outcomes(_sampled(name, graph_name, case, rate / 2, count), law).fits
    if case:
        fewer = {**case, "samples": case["samples"] - 1}
        assert not fit_outcomes(_sampled(name, graph_name, fewer, rate, count), law).fits


@pytest.mark.parametrize("name", NAMES)
def test_no_course_of_a_search_draws_by_utility_more_often_than_is_paid_for(name: str) -> None:
    for free_bits, valid in GRAPHS.values():
        for samples in (1, 2, 3):
            contexts = known(free_bits, valid, [0] * (1 << free_bits))
            for starts in (1, 2):
                noise, tries = EveryOutcome(), 2 if free_bits < 3 else 1

                def course(draws: Any, contexts: Any = contexts, **case: Any) -> Any:
                    return run(name, contexts, rate=Fraction(1), noise=draws, **case)

                noise.law(partial(course, samples=samples, starts=starts, tries=tries))
                assert noise.choices <= SEARCHES[name].draws(settings(samples=samples, starts=starts))

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from anonymaly.core.arrays import Booleans, Integers
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings
from anonymaly.questions.explain.searches.graph import KnownContexts
from tests.questions.explain.searches.laws import EveryOutcome, known, run

NAMES = list(SEARCHES)
SAMPLING = [name for name in NAMES if name != "exact"]
WALKING = [name for name in NAMES if SEARCHES[name].takes_start]
RATE = Fraction(1, 10)


class Vast:
    """2^F contexts, far too many to look at; every third is valid."""

    def __init__(self, free_bits: int = 60) -> None:
        self.free_bits = free_bits
        self.asked = 0
        self.worth: set[int] = set()

    def valid(self, contexts: Integers) -> Booleans:
        assert contexts.dtype == np.int64
        self.asked += len(contexts)
        return contexts % 3 == 0 if self.free_bits > 1 else np.ones(len(contexts), np.bool_)

    def utility(self, contexts: Integers) -> Integers:
        self.worth.update(contexts.tolist())
        return contexts % 1000


class Nothing(Vast):
    """None of them is valid."""

    def valid(self, contexts: Integers) -> Booleans:
        return super().valid(contexts) & False


@pytest.mark.parametrize("name", SAMPLING)
def test_a_sampling_search_never_looks_at_all_contexts(name: str) -> None:
    contexts = Vast()
    answer = run(name, contexts, rate=RATE, noise=Noise.seeded(1), samples=20, tries=1000)
    assert answer is not None
    assert answer % 3 == 0
    assert contexts.asked <= 20 * 60 + 1000
    assert len(contexts.worth) <= 20 * 60
    assert all(context % 3 == 0 for context in contexts.worth)  # of no other context the utility is asked for


@pytest.mark.parametrize("name", SAMPLING)
def test_when_all_tries_miss_there_is_no_context(name: str) -> None:
    contexts = Nothing()
    assert run(name, contexts, rate=RATE, noise=Noise.seeded(1), samples=5, tries=70_000) is None
    assert contexts.asked == 70_000
    assert not contexts.worth


@pytest.mark.parametrize("name", NAMES)
def test_without_a_valid_context_there_is_none(name: str) -> None:
    contexts = known(2, [], [5, 6, 7, 8])
    for start, samples in product([None, 0, 3], [1, 4]):
        answer = run(name, contexts, rate=RATE, noise=Noise.seeded(1), start=start, samples=samples, tries=9)
        assert answer is None


@pytest.mark.parametrize("name", WALKING)
def test_a_given_start_that_is_not_valid_gives_none_though_others_are(name: str) -> None:
    contexts = known(2, [0, 1, 3], [5, 6, 7, 8])
    assert run(name, contexts, rate=RATE, noise=Noise.seeded(1), start=2) is None
    assert run(name, contexts, rate=RATE, noise=Noise.seeded(1), start=0) is not None


@pytest.mark.parametrize("name", WALKING)
@pytest.mark.parametrize("start", [-1, 4])
def test_a_start_outside_the_space_is_an_error(name: str, start: int) -> None:
    with pytest.raises(InputError, match="start"):
        run(name, known(2, [0], [0] * 4), rate=RATE, noise=Noise.seeded(1), start=start)


@pytest.mark.parametrize("name", WALKING)
def test_samples_beyond_what_can_be_reached_end_with_all_that_can(name: str) -> None:
    # {0, 1} and {6, 7} are two parts; from 1 only the first can be reached, however many samples are wanted.
    contexts = known(3, [0, 1, 6, 7], [2, 2, 0, 0, 0, 0, 900, 900])
    noise = Noise.seeded(3)
    answers = {
        run(name, contexts, rate=RATE, noise=noise, start=1, samples=10**6, tries=10**9) for _ in range(50)
    }
    assert answers == {0, 1}


@pytest.mark.parametrize("name", ["depth_first", "breadth_first"])
def test_how_many_draws_are_made_depends_on_validity_alone(name: str) -> None:
    # Lemma 7: min(N, the contexts that can be reached from the start), in every course, whatever the utility.
    for valid, reachable in (([0, 1, 3], 3), ([0, 3], 1), (range(4), 4)):
        for samples in (1, 2, 3, 4, 9):
            counted = set()
            for utilities in ([0, 0, 0, 0], [0, 5, 2, 1]):
                contexts = known(2, valid, utilities)

                def course(draws: Any, contexts: Any = contexts, samples: int = samples) -> int:
                    run(name, contexts, rate=Fraction(1), noise=draws, start=0, samples=samples)
                    return int(draws.choices)

                counted |= set(EveryOutcome().law(course))
            assert counted == {min(samples, reachable)}


@pytest.mark.parametrize("name", NAMES)
def test_the_only_context_of_a_space_without_free_values_is_the_answer(name: str) -> None:
    assert run(name, known(0, [0], [3]), rate=RATE, noise=Noise.seeded(1)) == 0
    assert run(name, known(0, [], [3]), rate=RATE, noise=Noise.seeded(1), tries=5) is None


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_valid_and_a_plain_integer(name: str) -> None:
    draw = np.random.default_rng(0)
    noise = Noise.seeded(4)
    for _ in range(30):
        validity = draw.random(64) < 0.3
        contexts = KnownContexts(validity, draw.integers(0, 500, 64))
        answer = run(name, contexts, rate=RATE, noise=noise, samples=6, tries=40)
        assert answer is None or (type(answer) is int and validity[answer])


def test_settings_that_make_no_sense_are_refused() -> None:
    for name in ("samples", "tries", "starts"):
        for wrong in (0, 2.5, True):
            with pytest.raises(InputError, match=name):
                SearchSettings(**{name: wrong})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="start"):
        SearchSettings(start=-1)


def test_known_contexts_are_a_power_of_two() -> None:
    for size in (0, 3, 6):
        with pytest.raises(InputError, match="2\\^F"):
            KnownContexts(np.zeros(size, np.bool_), np.zeros(size, np.int64))
    with pytest.raises(InputError, match="2\\^F"):
        KnownContexts(np.zeros(4, np.bool_), np.zeros(8, np.int64))


@pytest.mark.parametrize("name", NAMES)
def test_a_much_better_context_is_found(name: str) -> None:
    draw = np.random.default_rng(1)
    utilities = draw.integers(0, 50, 256)
    utilities[200] = 10_000
    contexts = KnownContexts(np.ones(256, np.bool_), utilities)
    answer = run(name, contexts, rate=RATE, noise=Noise.seeded(2), samples=256, tries=10**4)
    assert answer == 200

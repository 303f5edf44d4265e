# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonymaly.errors import InputError
from anonymaly.noise import ExactProbability, KeyedNoise, Noise, arrays

TENTH = Fraction(1, 10)


def everything(noise: Noise) -> list[Any]:
    return [
        noise.two_sided_geometric(TENTH, 20_000).tolist(),
        noise.one_sided_geometric(Fraction(1, 1000), 20_000).tolist(),
        noise.bernoulli_exp(TENTH, 20_000).tolist(),
        noise.bernoulli(Fraction(1, 3), 20_000).tolist(),
        noise.uniform(10**12, 20_000).tolist(),
        noise.choose(np.arange(20_000) % 7, Fraction(1)),
        noise.choose(np.arange(20_000) % 7, Fraction(1), "exponential"),
        noise.binomial(10**30, TENTH),
        noise.uniform(10**30),
        noise.two_sided_geometric(TENTH),
    ]


def test_a_seed_repeats_every_draw_and_another_seed_none() -> None:
    first, again, other = (everything(Noise.seeded(seed)) for seed in (5, 5, 6))
    assert first == again
    assert all(mine != theirs for mine, theirs in zip(first[:9], other[:9], strict=True))


def test_the_second_call_differs_from_the_first() -> None:
    noise = Noise.seeded(5)
    assert everything(noise)[:9] != everything(noise)[:9]


@pytest.mark.parametrize("threads", [1, 3, 7])
def test_draws_do_not_depend_on_the_number_of_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymaly.core.threads.worker_threads", lambda: 2)
    expected = Noise.seeded(1).two_sided_geometric(TENTH, 200_001)
    keyed = Noise.keyed(bytes(32)).two_sided_geometric_at(TENTH, np.arange(200_001))
    monkeypatch.setattr("anonymaly.core.threads.worker_threads", lambda: threads)
    assert np.array_equal(Noise.seeded(1).two_sided_geometric(TENTH, 200_001), expected)
    assert np.array_equal(Noise.keyed(bytes(32)).two_sided_geometric_at(TENTH, np.arange(200_001)), keyed)


def test_a_shorter_array_is_the_beginning_of_a_longer_one() -> None:
    long = Noise.seeded(1).two_sided_geometric(TENTH, 10_000)
    assert np.array_equal(Noise.seeded(1).two_sided_geometric(TENTH, 5_000), long[:5_000])


def test_chunks_do_not_repeat_each_other() -> None:
    draws = Noise.seeded(1).uniform(2**63, 10 * arrays.CHUNK)
    assert len(np.unique(draws)) == len(draws)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_draws_other_noise_than_its_parent() -> None:
    # In a process of its own: forking the test runner would run its exit handlers twice.
    script = """
import json, os, sys
from fractions import Fraction
from anonymaly.noise import Noise
noise = Noise.system()
before = noise.uniform(2**63, 100_000)
reading, writing = os.pipe()
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        os.write(writing, (json.dumps(noise.uniform(2**63, 100_000)[-5:].tolist()) + "\\n").encode())
        os._exit(0)
    children.append(child)
mine = noise.uniform(2**63, 100_000)[-5:].tolist()
states = [os.waitpid(child, 0)[1] for child in children]
os.close(writing)
print(json.dumps([states, mine, *map(json.loads, os.fdopen(reading))]))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    states, *draws = json.loads(result.stdout)
    assert states == [0, 0]
    assert len(draws) == 3
    assert len({number for sample in draws for number in sample}) == 15


def test_threads_that_share_one_source_never_draw_the_same() -> None:
    noise = Noise.system()
    with ThreadPoolExecutor(4) as pool:
        samples = list(pool.map(lambda _: noise.uniform(2**63, 20_000), range(8)))
    assert len(np.unique(np.concatenate(samples))) == 8 * 20_000


def test_importing_compiles_nothing() -> None:
    script = (
        "from anonymaly.noise import arrays, chacha, draws, geometric, keyed\n"
        "modules = (arrays, chacha, draws, geometric, keyed)\n"
        "values = [v for m in modules for v in vars(m).values() if hasattr(v, 'signatures')]\n"
        "print(len(values) > 10, sum(len(v.signatures) for v in values))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "0"]


def test_only_seeded_noise_is_reproducible_and_neither_shows_its_secret() -> None:
    assert Noise.seeded(12345).reproducible
    assert not Noise.system().reproducible
    assert "12345" not in repr(Noise.seeded(12345))
    assert repr(Noise.keyed(b"k" * 32)) == "KeyedNoise(...)"


def test_the_operating_systems_noise_cannot_be_stored() -> None:
    with pytest.raises(Exception, match="pickle"):
        pickle.dumps(Noise.system())


BAD: dict[str, tuple[Callable[[Noise], Any], str]] = {
    "float rate": (lambda n: n.two_sided_geometric(0.1), "rate"),  # type: ignore[call-overload]
    "zero rate": (lambda n: n.two_sided_geometric(Fraction(0), 3), "rate"),
    "negative rate": (lambda n: n.bernoulli_exp(Fraction(-1), 3), "rate"),
    "huge denominator": (lambda n: n.one_sided_geometric(Fraction(1, 2**56 + 1)), "rate"),
    "huge numerator": (lambda n: n.one_sided_geometric(Fraction(2**56 + 1)), "rate"),
    "true as rate": (lambda n: n.one_sided_geometric(True), "rate"),  # type: ignore[call-overload]
    "negative size": (lambda n: n.one_sided_geometric(TENTH, -1), "size"),
    "float size": (lambda n: n.uniform(5, 3.0), "size"),  # type: ignore[call-overload]
    "zero bound": (lambda n: n.uniform(0), "bound"),
    "float probability": (lambda n: n.bernoulli(0.5), "probability"),  # type: ignore[call-overload]
    "probability above one": (lambda n: n.bernoulli(Fraction(3, 2)), "probability"),
    "negative trials": (lambda n: n.binomial(-1, TENTH), "trials"),
    "float counts": (lambda n: n.add_two_sided_geometric([1.0], TENTH), "counts"),
    "large counts": (lambda n: n.add_two_sided_geometric([2**62], TENTH), "counts"),
    "counts beyond 64 bits": (lambda n: n.add_two_sided_geometric([2**70], TENTH), "counts"),
    "unsigned counts": (lambda n: n.add_two_sided_geometric(np.array([2**63], np.uint64), TENTH), "counts"),
    "large utilities": (lambda n: n.choose([2**62, 0], TENTH), "utilities"),
    "square utilities": (lambda n: n.choose([[1, 2]], TENTH), "utilities"),
    "unknown mechanism": (lambda n: n.choose([1], TENTH, "best"), "mechanism"),  # type: ignore[arg-type]
    "short mask": (lambda n: n.choose([1, 2], TENTH, valid=[True]), "valid"),
    "mask of numbers": (lambda n: n.choose([1, 2], TENTH, valid=[1, 1]), "valid"),
    "short key": (lambda n: n.keyed(bytes(31)), "key"),
    "negative index": (lambda n: n.keyed(bytes(32)).two_sided_geometric_at(TENTH, -1), "indices"),
    "index of 97 bits": (lambda n: n.keyed(bytes(32)).two_sided_geometric_at(TENTH, [2**96]), "indices"),
    "float index": (lambda n: n.keyed(bytes(32)).two_sided_geometric_at(TENTH, np.ones(3)), "indices"),
    "wide words": (
        lambda n: n.keyed(bytes(32)).two_sided_geometric_at(TENTH, np.array([[0, 2**32]], np.uint64)),
        "indices",
    ),
    "float decay": (lambda n: ExactProbability.exponential(0.5), "decay"),  # type: ignore[arg-type]
    "negative odds": (lambda n: ExactProbability.logistic(TENTH, -TENTH), "odds"),
    "negative seed": (lambda n: Noise.seeded(-1), "seed"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_the_name_of_its_field(name: str) -> None:
    call, field = BAD[name]
    with pytest.raises(InputError) as caught:
        call(Noise.seeded(1))
    assert caught.value.field == field


def test_empty_arrays_are_drawn_as_such() -> None:
    noise = Noise.seeded(1)
    assert noise.two_sided_geometric(TENTH, 0).shape == (0,)
    assert noise.bernoulli(Fraction(1, 2), 0).shape == (0,)
    assert noise.add_two_sided_geometric(np.zeros((0, 3), np.int64), TENTH).shape == (0, 3)
    assert isinstance(Noise.keyed(bytes(32)), KeyedNoise)
    assert Noise.keyed(bytes(32)).two_sided_geometric_at(TENTH, []).shape == (0,)

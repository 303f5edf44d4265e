# SPDX-License-Identifier: Apache-2.0
"""Does noise come from the operating system's entropy, and from nothing else?

Statistics cannot tell: draws of a Mersenne Twister fit every law, and 624 of its words tell all that follow.
So the bytes of ``os.urandom`` are replaced here by known ones. A draw must ask for a key of 32 bytes once, be
the same when the same bytes come again, and another with other bytes, whatever state other generators have.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from anonymaly.ask import reader, secret
from anonymaly.ask.curator import Curator
from anonymaly.ask.secret import SecretFile
from anonymaly.audit.system.fault import Problems, SystemFault, replaced
from anonymaly.noise import Noise
from anonymaly.questions.count.query import Count

KEY = 32  # bytes
THREADS = 8
DRAWS_OF_A_THREAD = 4
ANSWERS = 3
# So small that all answers of two accounts are equal by chance once in 10^19. Of the draws below `choose` is
# the likeliest to be equal: twice, once in a million. The bytes are scripted, so that it is always or never.
EPSILON = "0.000001"

_HALF, _ZEROS = Fraction(1, 2), np.zeros(1000, np.int64)
DRAWS: Mapping[str, Callable[[Noise], Any]] = {
    "two_sided_geometric": lambda noise: noise.two_sided_geometric(_HALF, 100),
    "one_sided_geometric": lambda noise: noise.one_sided_geometric(_HALF, 100),
    "add_two_sided_geometric": lambda noise: noise.add_two_sided_geometric(_ZEROS, _HALF),
    "deciding_numbers": lambda noise: noise.deciding_numbers(_ZEROS, _HALF),
    "bernoulli_exp": lambda noise: noise.bernoulli_exp(_HALF, 100),
    "bernoulli": lambda noise: noise.bernoulli(_HALF, 100),
    "uniform": lambda noise: noise.uniform(2**63, 10),
    "permutation": lambda noise: noise.permutation(100),
    "binomial": lambda noise: noise.binomial(10**30, _HALF),
    "thin": lambda noise: noise.thin(_ZEROS + 100, _HALF),
    "partition": lambda noise: noise.partition(np.zeros((3, 101), np.int64)),
    "choose": lambda noise: noise.choose(_ZEROS, _HALF),
}
_MAKERS = {"system", "seeded", "keyed"}  # what makes noise, and draws none


def _scripted_bytes(script: str, call: int, size: int) -> bytes:
    return hashlib.shake_256(f"{script} {call}".encode()).digest(size)


@contextmanager
def scripted(script: str) -> Iterator[list[int]]:
    """Have ``os.urandom`` follow a script; yield how many bytes each call asked for."""
    asked: list[int] = []
    calls = itertools.count()

    def urandom(size: int) -> bytes:
        asked.append(size)
        return _scripted_bytes(script, next(calls), size)

    with replaced(os, "urandom", urandom):
        yield asked


def entropy_problems() -> Problems:
    """Yield every draw that is not a function of the system's bytes alone.

    Examples
    --------
    >>> list(entropy_problems())
    []
    """
    for check in (_of_draws, _of_threads, _of_forks, _of_questions, _of_secrets):
        yield from check()


def _of_draws() -> Iterator[str]:
    public = {
        name
        for name, member in inspect.getmembers(Noise, inspect.isroutine)
        if not name.startswith("_") and name not in _MAKERS
    }
    for name in sorted(public ^ DRAWS.keys()):
        yield f"{name} is not known to this layer, or gone"
    for name, draw in DRAWS.items():
        draw(Noise.system())  # compiles what is not compiled yet, for which others ask the system for bytes

        def twice(noise: Noise, draw: Callable[[Noise], Any] = draw) -> list[str]:
            return [_text(draw(noise)) for _ in range(2)]

        first, other = _drawn(twice, "first", state=1), _drawn(twice, "other", state=1)
        if first[1] != [KEY, KEY]:
            yield f"{name}, called twice, asked the system for {first[1]} bytes, and not for {[KEY, KEY]}"
        if first != _drawn(twice, "first", state=2):
            yield f"{name} depends on more than the system's bytes"
        if first[0] == other[0]:
            yield f"{name} does not depend on the system's bytes"


def _drawn(draw: Callable[[Noise], Any], script: str, *, state: int) -> tuple[Any, list[int]]:
    """Return what is drawn while all generators but the system's are in a known state."""
    before = random.getstate(), np.random.get_state()
    try:
        random.seed(state)
        np.random.seed(state)
        with scripted(script) as asked:
            return draw(Noise.system()), asked
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


def _of_threads() -> Iterator[str]:
    """Compare draws by threads that share one source with as many by one thread."""
    with scripted("threads"):
        shared = Noise.system()
        with ThreadPoolExecutor(THREADS) as pool:
            drawn = list(pool.map(lambda _: _number(shared), range(THREADS * DRAWS_OF_A_THREAD)))
    with scripted("threads"):
        alone = Noise.system()
        if sorted(drawn) != sorted(_number(alone) for _ in drawn):
            yield "threads that share a source draw something else than one thread does"


def _of_forks() -> Iterator[str]:
    """Compare what forked children draw from a source of their parent's with a source of their own."""
    if not hasattr(os, "fork"):
        return
    inherited = Noise.system()
    _number(inherited)  # whatever a source keeps, it has by now
    for child in ("first child", "second child"):
        with scripted(child):
            drawn = _in_child(lambda: _number(inherited))
        with scripted(child):
            if drawn != _number(Noise.system()):
                yield f"the {child} of a fork does not draw from the system's bytes alone"


def _in_child(work: Callable[[], int]) -> int | None:
    """Return what a function returns in a forked process; None if it fails there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)  # without the parent's exit handlers
    os.close(writing)
    with os.fdopen(reading, "rb") as report:
        heard = report.read()
    os.waitpid(child, 0)
    return int(json.loads(heard)) if heard else None


def _of_questions() -> Iterator[str]:
    """Ask through a curator: the noise that it hands to a question must be the system's too."""
    first, other = _drawn(_answers, "first", state=1), _drawn(_answers, "other", state=1)
    again = _drawn(_answers, "first", state=2)
    if first[0] != again[0]:
        yield "a question's answer depends on more than the rows and the system's bytes"
    if first[0] == other[0]:
        yield "a question's answer does not depend on the system's bytes"


def _of_secrets() -> Iterator[str]:
    """Make an owner's secret, which hides whom a question was about: it must be the system's bytes."""
    made = {state: _drawn(_secret, "first", state=state) for state in (1, 2)}
    key, asked = made[1]
    if made[1] != made[2]:
        yield "the owner's secret depends on more than the system's bytes"
    if key not in [_scripted_bytes("first", call, KEY) for call in range(len(asked))]:
        yield "the owner's secret is not what the system's bytes are"


def _secret(_: Noise) -> bytes:
    with TemporaryDirectory() as folder:
        return SecretFile(Path(folder, "patients.secret")).begin().key


def _answers(_: Noise) -> list[Any]:
    with TemporaryDirectory() as folder:
        curator = Curator(
            Count.example().dataset(name="patients"), budget=1, ledger=Path(folder, "patients.ledger")
        )
        try:
            return [curator.ask(Count(epsilon=EPSILON), repeat=number).value for number in range(ANSWERS)]
        finally:
            curator.close()


def _number(noise: Noise) -> int:
    return noise.uniform(2**62)


def _text(drawn: Any) -> str:
    return str(drawn.tolist() if isinstance(drawn, np.ndarray) else drawn)


def _keyed_by(make: Callable[[], Callable[[], bytes]]) -> Callable[[], AbstractContextManager[None]]:
    """Return what plants another source of keys; ``make`` is called once for each ``Noise.system()``."""

    def system(cls: type[Noise]) -> Noise:
        return cls(make(), reproducible=False)

    return lambda: replaced(Noise, "system", classmethod(system))


def _kept() -> Callable[[], bytes]:
    key = os.urandom(KEY)
    return lambda: key


def _stretched() -> Callable[[], bytes]:
    generator = random.Random(os.urandom(KEY))
    return lambda: generator.randbytes(KEY)


def _clock() -> bytes:
    return hashlib.sha256(str(time.perf_counter_ns()).encode()).digest()


def _seeded_for_questions() -> AbstractContextManager[None]:
    source = SimpleNamespace(system=lambda: Noise.seeded(random.getrandbits(62)))
    return replaced(reader, "Noise", source)


ENTROPY_FAULTS: tuple[SystemFault, ...] = (
    SystemFault("Mersenne Twister", "entropy", _keyed_by(lambda: lambda: random.randbytes(KEY))),
    SystemFault("NumPy's generator", "entropy", _keyed_by(lambda: lambda: np.random.bytes(KEY))),
    SystemFault("Mersenne Twister seeded by the system", "entropy", _keyed_by(_stretched)),
    SystemFault("the clock", "entropy", _keyed_by(lambda: _clock)),
    SystemFault("one key for all draws", "entropy", _keyed_by(_kept)),
    SystemFault("short key", "entropy", _keyed_by(lambda: lambda: os.urandom(8) * 4)),
    SystemFault("seeded noise for questions", "entropy", _seeded_for_questions),
    SystemFault(
        "an owner's secret from the Mersenne Twister",
        "entropy",
        lambda: replaced(secret, "fresh_key", lambda: random.randbytes(KEY)),
    ),
    SystemFault(
        "an owner's secret from a Mersenne Twister seeded by the system",
        "entropy",
        lambda: replaced(secret, "fresh_key", _stretched()),
    ),
)

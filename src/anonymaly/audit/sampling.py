# SPDX-License-Identifier: Apache-2.0
"""Many answers of one question on one table, through the question's own stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.audit.case import Case
from anonymaly.guarantee import Database
from anonymaly.noise import Noise
from anonymaly.noise.source import Probability

BLOCK = 65_536


class PooledNoise(Noise):
    """Noise whose single draws are taken one after another from large arrays, some twenty times faster.

    Each is still an independent draw of the exact law; only audits need a million of them.

    Examples
    --------
    >>> noise = PooledNoise.seeded(1)
    >>> isinstance(noise.two_sided_geometric(Fraction(1, 2)), int)
    True
    """

    def __init__(self, fresh_key: Callable[[], bytes], *, reproducible: bool) -> None:
        super().__init__(fresh_key, reproducible=reproducible)
        self._pools: dict[tuple[str, Any], Iterator[Any]] = {}
        # Hashing a fraction takes as long as the draw itself, and mechanisms pass the same object again.
        self._newest: tuple[str, Any, Iterator[Any]] | None = None

    def two_sided_geometric(self, rate: Fraction, size: int | None = None) -> Any:
        """Draw as Noise does."""
        return self._draw("two_sided_geometric", rate, size)

    def one_sided_geometric(self, rate: Fraction, size: int | None = None) -> Any:
        """Draw as Noise does."""
        return self._draw("one_sided_geometric", rate, size)

    def bernoulli_exp(self, rate: Fraction, size: int | None = None) -> Any:
        """Draw as Noise does."""
        return self._draw("bernoulli_exp", rate, size)

    def bernoulli(self, probability: Probability, size: int | None = None) -> Any:
        """Draw as Noise does."""
        return self._draw("bernoulli", probability, size)

    def uniform(self, bound: int, size: int | None = None) -> Any:
        """Draw as Noise does."""
        return self._draw("uniform", bound, size)

    def _draw(self, method: str, parameter: Any, size: int | None) -> Any:
        if size is not None:
            return getattr(Noise, method)(self, parameter, size)
        newest = self._newest
        if newest is not None and newest[1] is parameter and newest[0] == method:
            return next(newest[2])
        key = (method, parameter)
        if key not in self._pools:
            self._pools[key] = self._blocks(method, parameter)
        self._newest = (method, parameter, self._pools[key])
        return next(self._pools[key])

    def _blocks(self, method: str, parameter: Any) -> Iterator[Any]:
        while True:
            yield from getattr(Noise, method)(self, parameter, BLOCK).tolist()


def sample(case: Case, records: Database, count: int, *, seed: int) -> npt.NDArray[Any]:
    """Return ``count`` independent answers to a question on one table.

    The first stage's summary is a function of the table alone and is computed once; later stages depend on
    what was released and are carried out anew each time.

    Examples
    --------
    >>> from anonymaly.audit.count_case import count_case
    >>> case = count_case(epsilon="10")
    >>> sample(case, case.worst_pair[0], 5, seed=1).tolist()
    [1, 1, 1, 1, 1]
    """
    resolved, stages = case.stages()
    table = case.dataset(records).table
    summary = stages[0].summarise(table, {})
    noise = PooledNoise.seeded(seed)
    answers = []
    for _ in range(count):
        released = {stages[0].name: stages[0].release(summary, {}, noise)}
        for stage in stages[1:]:
            released[stage.name] = stage.release(
                stage.summarise(table, dict(released)), dict(released), noise
            )
        answers.append(resolved.combine(released))
    return np.array(answers)

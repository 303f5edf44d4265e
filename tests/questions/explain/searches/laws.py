# SPDX-License-Identifier: Apache-2.0
"""Exact laws of the searches on small graphs: of the real functions, and written down naively.

ε1 is counted in units of ln(1/x) for a rational x = e^−ε1, so that every probability is a fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import factorial, inf
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.noise import Noise
from anonymaly.questions.explain.searches import SEARCHES, SearchSettings
from anonymaly.questions.explain.searches.graph import KnownContexts, SearchedContexts

Law = dict[Any, Any]
Sets = dict[frozenset[int], Any]
HALF = Fraction(1, 2)


def known(free_bits: int, valid: Iterable[int], utilities: Sequence[int]) -> KnownContexts:
    chosen = set(valid)
    mask = np.array([context in chosen for context in range(1 << free_bits)], np.bool_)
    return KnownContexts(mask, np.array(utilities, np.int64))


def settings(**given: Any) -> SearchSettings:
    """Settings of a search from one start and with few draws, but for those given."""
    return SearchSettings(**({"starts": 1, "samples": 1, "tries": 1} | given))


def run(name: str, contexts: SearchedContexts, *, rate: Fraction, noise: Noise, **given: Any) -> int | None:
    """A search from one start, but for the settings given."""
    return SEARCHES[name].run(contexts, SearchSettings(**({"starts": 1} | given)), rate=rate, noise=noise)


def add(law: Law, outcome: Any, mass: Any) -> None:
    law[outcome] = law.get(outcome, 0) + mass


def factor(first: Law, second: Law) -> Any:
    """The largest factor by which an outcome's probability falls from the first law to the second: e^loss."""
    return max(
        inf if second.get(outcome, 0) == 0 else mass / second[outcome]
        for outcome, mass in first.items()
        if mass
    )


# ---- one choice ------------------------------------------------------------------------------------------


def choice_by_permutations(utilities: Sequence[int], x: Any) -> list[Any]:
    """Permute-and-flip as McKenna and Sheldon print it."""
    best = max(utilities)
    masses = [0 * x] * len(utilities)
    for order in permutations(range(len(utilities))):
        still: Any = 1
        for candidate in order:
            success = x ** (best - utilities[candidate])
            masses[candidate] += still * success
            still *= 1 - success
    return [mass / factorial(len(utilities)) for mass in masses]


@cache
def choice_law(utilities: tuple[int, ...], x: Any) -> list[Any]:
    """The same by the sets of candidates whose flips succeed; 2^n sets instead of n! orders."""
    best = max(utilities)
    masses = [0 * x] * len(utilities)
    chances = [x ** (best - utility) for utility in utilities]
    for flips in product([True, False], repeat=len(utilities)):
        chance: Any = 1
        for success, flip in zip(chances, flips, strict=True):
            chance *= success if flip else 1 - success
        if chance:
            for candidate, flip in enumerate(flips):
                if flip:
                    masses[candidate] += chance / sum(flips)
    return masses


def choose(candidates: Iterable[int], utilities: Sequence[int], x: Any) -> list[tuple[int, Any]]:
    ordered = sorted(candidates)
    best = max(utilities[context] for context in ordered)
    masses = choice_law(tuple(utilities[context] - best for context in ordered), x)
    return list(zip(ordered, masses, strict=True))


# ---- the real functions, by all outcomes of all their draws ----------------------------------------------


class EveryOutcome(Noise):
    """Noise that takes each possible course once, and knows how likely it is."""

    def __init__(self, x: Fraction = HALF) -> None:
        super().__init__(lambda: bytes(32), reproducible=True)
        self.x = x
        self._script: list[int] = []
        self._options: list[int] = []
        self.mass: Any = Fraction(1)
        self.choices = 0

    def _branch(self, options: list[tuple[Any, Any]]) -> Any:
        place = len(self._options)
        if place == len(self._script):
            self._script.append(0)
        self._options.append(len(options))
        value, mass = options[self._script[place]]
        self.mass *= mass
        return value

    def choose(
        self,
        utilities: npt.ArrayLike,
        rate: Fraction,
        mechanism: Any = "permute_and_flip",
        valid: npt.ArrayLike | None = None,
    ) -> int:
        assert mechanism == "permute_and_flip"
        assert rate.denominator == 1
        numbers = np.asarray(utilities).tolist()
        places = range(len(numbers)) if valid is None else np.flatnonzero(valid).tolist()
        scaled = {place: int(rate) * numbers[place] for place in places}
        self.choices += 1
        return int(self._branch([pair for pair in choose(places, scaled, self.x) if pair[1]]))  # type: ignore[arg-type]

    def uniform(self, bound: int, size: int | None = None) -> Any:
        if size is None:
            return self._branch([(value, Fraction(1, bound)) for value in range(bound)])
        rows = list(product(range(bound), repeat=size))
        return self._branch([(np.array(row, np.int64), Fraction(1, len(rows))) for row in rows])

    def law(self, function: Callable[[Noise], Any]) -> Law:
        """Return the exact law of what a function returns; ``choices`` is then the most of any course."""
        law: Law = {}
        most, self._script = 0, []
        while True:
            self._options, self.mass, self.choices = [], Fraction(1), 0
            add(law, function(self), self.mass)
            most = max(most, self.choices)
            while self._script and self._script[-1] + 1 == self._options[len(self._script) - 1]:
                self._script.pop()
            if not self._script:
                self.choices = most
                return law
            self._script[-1] += 1


def real_law(
    name: str,
    contexts: KnownContexts,
    *,
    function: Any = None,
    x: Fraction = HALF,
    **parameters: Any,
) -> Law:
    search = function or SEARCHES[name].run
    given = settings(**parameters)
    return EveryOutcome(x).law(lambda noise: search(contexts, given, rate=Fraction(1), noise=noise))


# ---- the same laws, naively, from the words of GUARANTEE.md ----------------------------------------------


def naive_law(
    name: str,
    contexts: KnownContexts,
    *,
    start: int | None = None,
    starts: int = 1,
    samples: int = 1,
    tries: int = 1,
    x: Any = HALF,
) -> Law:
    size = contexts.validity.size
    valid = frozenset(context for context in range(size) if contexts.validity[context])
    utilities = [int(utility) for utility in contexts.utilities]
    one = x / x
    if name == "exact":
        return {None: one} if not valid else dict(choose(valid, utilities, x))
    if name == "uniform":
        return _finish(_blind({frozenset(): one}, valid, size, samples, tries), utilities, x)
    firsts = {start if start in valid else None: one}
    if start is None:
        # The chance of a first hit: k misses and a hit, for k below the number of tries.
        misses = [(one * (size - len(valid)) / size) ** k for k in range(tries + 1)]
        firsts = {context: sum(misses[:-1]) / size for context in valid}
        firsts[None] = misses[-1]
    bits = [1 << place for place in range(size.bit_length() - 1)]
    reached = {"random_walk": _walk, "depth_first": _depth, "breadth_first": _breadth}[name]
    law: Law = {}
    for context, mass in firsts.items():
        if context is None:
            add(law, None, mass)
            continue
        begun: Sets = {frozenset([context]): mass}
        if starts > 1 and name != "random_walk":
            begun = _blind(begun, valid, size, starts, tries)
        for group, chance in begun.items():
            ends = reached(group, valid, bits, utilities, samples, tries, x)
            for outcome, share in _finish(ends, utilities, x).items():
                add(law, outcome, chance * share)
    return {outcome: mass for outcome, mass in law.items() if mass}


def _blind(sets: Sets, valid: frozenset[int], size: int, most: int, tries: int) -> Sets:
    """Draw contexts uniformly and keep the valid ones, until there are enough different ones."""
    for _ in range(tries):
        later: Sets = {}
        for (found, mass), context in product(sets.items(), range(size)):
            kept = context in valid and len(found) < most
            add(later, found | {context} if kept else found, mass / size)
        sets = later
    return sets


def _finish(sets: Sets, utilities: Sequence[int], x: Any) -> Law:
    law: Law = {}
    for candidates, mass in sets.items():
        if not candidates:
            add(law, None, mass)
        else:
            for context, share in choose(candidates, utilities, x):
                add(law, context, mass * share)
    return law


def _walk(
    begun: frozenset[int],
    valid: frozenset[int],
    bits: list[int],
    utilities: Sequence[int],
    samples: int,
    tries: int,
    x: Any,
) -> Sets:
    """Draw neighbours without replacement until one is valid, as Algorithm 3 means it."""

    @cache
    def walk(untested: frozenset[int], met: frozenset[int], steps: int) -> Sets:
        if len(met) == samples or steps == tries or not untested:
            return {met: x / x}
        sets: Sets = {}
        for neighbour in untested:
            if neighbour in valid:
                around = frozenset(neighbour ^ bit for bit in bits)
                ends = walk(around, met | {neighbour}, steps + 1)
            else:
                ends = walk(untested - {neighbour}, met, steps)
            for end, mass in ends.items():
                add(sets, end, mass / len(untested))
        return sets

    (start,) = begun
    return walk(frozenset(start ^ bit for bit in bits), begun, 0)


def _depth(
    begun: frozenset[int],
    valid: frozenset[int],
    bits: list[int],
    utilities: Sequence[int],
    samples: int,
    tries: int,
    x: Any,
) -> Sets:
    sets: Sets = {}

    def visit(stack: tuple[frozenset[int], ...], visited: frozenset[int], mass: Any) -> None:
        if not stack or len(visited) == samples:
            add(sets, visited, mass)
            return
        children = stack[-1] - visited
        if not children:
            visit(stack[:-1], visited, mass)
            return
        for child, share in choose(children, utilities, x):
            around = frozenset(child ^ bit for bit in bits) & valid
            visit((*stack, around), visited | {child}, mass * share)

    visit((begun,), frozenset(), x / x)
    return sets


def _breadth(
    begun: frozenset[int],
    valid: frozenset[int],
    bits: list[int],
    utilities: Sequence[int],
    samples: int,
    tries: int,
    x: Any,
) -> Sets:
    """Algorithm 5's own loop: where there is one start, it is the only candidate of the first choice."""
    sets: Sets = {}

    def visit(waiting: frozenset[int], visited: frozenset[int], mass: Any) -> None:
        if not waiting or len(visited) == samples:
            add(sets, visited, mass)
            return
        for chosen, share in choose(waiting, utilities, x):
            seen = visited | {chosen}
            around = {chosen ^ bit for bit in bits} & valid
            visit((waiting | around) - seen, seen, mass * share)

    visit(begun, frozenset(), x / x)
    return sets


# ---- tiny tables -----------------------------------------------------------------------------------------


def contexts_of(sizes: Sequence[int]) -> list[list[int]]:
    """Return for each context the base cells in it; the record's own value is the first of each attribute."""
    cells = list(product(*(range(size) for size in sizes)))
    free = [(place, value) for place, size in enumerate(sizes) for value in range(1, size)]
    held = []
    for context in range(1 << len(free)):
        values = {pair for bit, pair in enumerate(free) if context >> bit & 1}
        held.append(
            [
                number
                for number, cell in enumerate(cells)
                if all(value == 0 or (place, value) in values for place, value in enumerate(cell))
            ]
        )
    return held


def populations(sizes: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Return each context's number of rows, given the number of rows in each base cell."""
    return [sum(counts[cell] for cell in cells) for cells in contexts_of(sizes)]


def overlaps(sizes: Sequence[int], counts: Sequence[int], reference: int) -> list[int]:
    """Return for each context how many of its rows are in the reference context too."""
    held = contexts_of(sizes)
    return [sum(counts[cell] for cell in set(cells) & set(held[reference])) for cells in held]

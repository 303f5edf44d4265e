# SPDX-License-Identifier: Apache-2.0
"""Answers of any kind, read as statistics: which answer it was, its numbers, sums, texts and sizes.

Whatever is read from an answer loses no more than the answer does, so that no way of reading it makes a
bound too high; it can only hide a loss. What is read is decided by the first answers alone, so that those
that confirm have no part in it; what a later answer has not is NaN in a number and OTHER in a text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.audit.leaves import Leaves, leaves_of
from anonymaly.audit.statistics import Statistic, lowest_bit

MOST_PARTS = 64  # that are looked at one by one
MOST_LOOKED = 200  # answers on either table by which it is decided what is read
PROJECTIONS = 4
NEARLY_ALL = 0.9
OTHER = "(not there)"
Row = npt.NDArray[np.float64]
Place = tuple[str, int]  # the name of a block of numbers, and which of them


def drawn(mechanism: Callable[[Any], Any], data: Any) -> Leaves:
    """Return one answer; that it raises an error is an answer, too, and the error's class is which.

    Examples
    --------
    >>> drawn(lambda data: 1 / data, 0).label
    'raises ZeroDivisionError'
    """
    try:
        answer = mechanism(data)
    except Exception as problem:  # its words may hold a row's values, its class does not
        return Leaves(f"raises {type(problem).__name__}", failed=True)
    return leaves_of(answer)


@dataclass(frozen=True)
class Read:
    """What is kept of one answer, in the order of the plan by which it was read."""

    label: str
    row: Row
    texts: tuple[str, ...]
    failed: bool
    blank: bool


@dataclass(frozen=True)
class LookPlan:
    """What is read of every answer.

    Parameters
    ----------
    places : tuple
        The numbers that are looked at one by one.
    lengths, texts : tuple of str
        The names of the sizes and texts that are looked at.
    weights : mapping
        How much each number counts in the sum that told the first answers apart best.
    several : bool
        Whether there are sums of numbers to look at; the answers that made the plan look better by them than
        others do.
    unseen : tuple of str
        What could not be looked into.
    """

    places: tuple[Place, ...]
    lengths: tuple[str, ...]
    texts: tuple[str, ...]
    weights: dict[str, Row]
    several: bool
    unseen: tuple[str, ...] = ()

    @classmethod
    def of(cls, first: Sequence[Leaves], second: Sequence[Leaves]) -> LookPlan:
        """Decide by some answers on either table.

        Examples
        --------
        >>> some = [leaves_of([1.0, 2.0]), leaves_of([1.5, 2.0])]
        >>> LookPlan.of(some, some).places
        (('answer', 0), ('answer', 1))
        """
        both = [*first, *second]
        sizes: dict[str, int] = {}
        for item in both:
            for name, values in item.values.items():
                sizes[name] = max(len(values), sizes.get(name, 0))
        scores: dict[str, Row] = {}
        weights: dict[str, Row] = {}
        for name, size in sizes.items():
            one, other = (_filled(side, name, size) for side in (first, second))
            difference = one.mean(axis=0) - other.mean(axis=0)
            spread = one.var(axis=0) + other.var(axis=0) + 1e-12 * difference**2 + 1e-300
            scores[name] = np.abs(difference) / np.sqrt(spread)
            weights[name] = np.clip(difference / spread, -1e100, 1e100)
        places = [(name, place) for name, size in sizes.items() for place in range(size)]
        if len(places) > MOST_PARTS:
            order = np.argsort(-np.concatenate([scores[name] for name in sizes]), kind="stable")
            places = [places[place] for place in sorted(order[:MOST_PARTS].tolist())]
        lengths = list(dict.fromkeys(name for item in both for name in item.lengths))
        texts = list(dict.fromkeys(name for item in both for name in item.texts))
        return cls(
            tuple(places),
            tuple(lengths[:MOST_PARTS]),
            tuple(texts[:MOST_PARTS]) if len(texts) > 1 or places else (),
            weights,
            sum(sizes.values()) > 1,
            tuple(dict.fromkeys(name for item in both for name in item.opaque)),
        )

    def read(self, item: Leaves) -> Read:
        """Keep of an answer what the plan says."""
        found: list[float] = []
        for name, place in self.places:
            values = item.values.get(name)
            found.append(math.nan if values is None or place >= len(values) else values[place])
        found += [item.lengths.get(name, -1) for name in self.lengths]
        if self.several:
            found += self._together(item)
        texts = tuple(item.texts.get(name, OTHER) for name in self.texts)
        return Read(item.label, np.array(found, np.float64), texts, item.failed, item.is_blank)

    def _together(self, item: Leaves) -> list[float]:
        if not item.values:
            return [math.nan] * len(TOGETHER)
        values = np.concatenate(list(item.values.values()))
        weighted = sum(
            float(numbers[: len(self.weights[name])] @ self.weights[name][: len(numbers)])
            for name, numbers in item.values.items()
            if name in self.weights
        )
        with np.errstate(all="ignore"):
            projected = _coefficients(_rounded_up(len(values)))[:, : len(values)] @ values
            norms = [values.sum(), np.abs(values).sum(), math.sqrt(float(values @ values))]
        return [*map(float, norms), float(values.min()), float(values.max()), weighted, *projected.tolist()]

    def statistics(self, first: Sequence[Read], second: Sequence[Read], choosing: int) -> Iterator[Statistic]:
        """Yield every statistic of equally many answers on two tables, of which the first few choose."""
        both, cut = [*first, *second], len(first)

        def texts(name: str, values: list[str]) -> Statistic:
            # As objects: an array of texts takes the room of its longest for each.
            array = np.array(values, object)
            return name, array[:cut], array[cut:]

        yield texts("answer", [item.label for item in both])
        rows = np.array([item.row for item in both]).reshape(len(both), -1)
        names = [self._name(*place) for place in self.places]
        chosen = np.r_[:choosing, cut : cut + choosing]
        named = [*names, *(f"length of {name}" for name in self.lengths), *(TOGETHER if self.several else ())]
        for place, name in enumerate(named):
            column = rows[:, place]
            yield name, column[:cut], column[cut:]
            seen = column[chosen]
            if not (np.isnan(seen) | (seen == np.rint(seen))).all():
                bits = lowest_bit(column)
                yield f"lowest bit of {name}", bits[:cut], bits[cut:]
        for place in range(1, len(names)):
            # Parts that share noise betray themselves together.
            with np.errstate(invalid="ignore"):
                column = rows[:, place] - rows[:, 0]
            yield f"{names[place]} - {names[0]}", column[:cut], column[cut:]
        for place, name in enumerate(self.texts):
            yield texts(name, [item.texts[place] for item in both])

    def _name(self, name: str, place: int) -> str:
        return name if len(self.weights[name]) == 1 else f"{name}[{place}]"


TOGETHER = (
    "sum",
    "sum of absolute values",
    "norm",
    "smallest",
    "largest",
    "weighted sum",
    *(f"fixed random sum {number + 1}" for number in range(PROJECTIONS)),
)


def show_nothing(statistics: Sequence[Statistic], answers: Sequence[Read], choosing: int) -> bool:
    """Say whether no event can be made of answers: texts are ever new, and numbers never change."""
    if all(item.blank for item in answers):
        return True

    def is_of_use(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
        values = np.concatenate([one[:choosing], other[:choosing]])
        distinct = len(set(values.tolist())) if values.dtype.kind == "O" else len(np.unique(values))
        return distinct > 1 and (values.dtype.kind != "O" or distinct < NEARLY_ALL * len(values))

    same = len({item.label for item in answers}) == 1  # seen well, and never another one
    return not same and not any(is_of_use(one, other) for _, one, other in statistics)


def _filled(side: Sequence[Leaves], name: str, size: int) -> npt.NDArray[np.float64]:
    """Return numbers of answers, where there is none or an infinite one 0."""
    found = np.zeros((len(side), size))
    for place, item in enumerate(side):
        values = item.values.get(name)
        if values is not None:
            found[place, : len(values)] = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    return np.clip(found, -1e100, 1e100)


def _rounded_up(size: int) -> int:
    return 1 << (size - 1).bit_length()


@cache
def _coefficients(size: int) -> npt.NDArray[np.float64]:
    """Return coefficients that are the same for every answer and were there before it."""
    rows = [np.random.default_rng(number).choice([-1.0, 1.0], size) for number in range(PROJECTIONS)]
    return np.array(rows)

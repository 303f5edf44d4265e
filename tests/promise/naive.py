# SPDX-License-Identifier: Apache-2.0
"""Tiny worlds of databases, and every relation written a second time, as an explicit set of pairs.

Nothing here uses the package's own definitions: pairs are generated forwards, by taking records out and
putting records in, and a record is k-sensitive by the paper's definition (some database within k changes
in which it is normal). A database is a sorted tuple of places in the world's list of records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement
from typing import Any

from anonymaly.declare.domain import Domain, Interval, Opaque
from anonymaly.promise import Relation

Tiny = tuple[int, ...]
Pairs = frozenset[tuple[Tiny, Tiny]]


@dataclass(frozen=True)
class Steps:
    """Ordered add/remove pairs, removals and additions apart."""

    removals: Pairs
    additions: Pairs

    @cached_property
    def pairs(self) -> Pairs:
        return self.removals | self.additions

    def then(self) -> Pairs:
        """The replacements made of one removal and one addition, in either order."""
        return joined(self.removals, self.additions) | joined(self.additions, self.removals)


def joined(first: Pairs, second: Pairs) -> Pairs:
    following: dict[Tiny, set[Tiny]] = {}
    for middle, end in second:
        following.setdefault(middle, set()).add(end)
    return frozenset((a, c) for a, b in first for c in following.get(b, ()) if a != c)


def reversed_pairs(pairs: Pairs) -> Pairs:
    return frozenset((b, a) for a, b in pairs)


class World:
    """All databases of up to ``largest`` records, and of ``beyond`` for the way between two of them."""

    def __init__(self, records: list[dict[str, Any]], largest: int, beyond: int) -> None:
        self.records = records
        self.databases = multisets(len(records), largest)
        self.universe = multisets(len(records), beyond)
        self.columns: dict[str, Domain] = {"v": Interval(0, 10), "id": Opaque()}
        self._found: dict[Any, Pairs] = {}

    def real(self, tiny: Tiny) -> list[dict[str, Any]]:
        return [self.records[place] for place in tiny]

    def pairs(self, relation: Relation, valid: Callable[[Any, Any], Any] | None = None) -> Pairs:
        """The relation as its own definition has it, on all ordered pairs of the databases."""
        if (relation, valid) not in self._found:
            person = "id" if relation.rows is not None else None
            real = {tiny: self.real(tiny) for tiny in self.databases}
            # Reversed, because the order of records in a database must not matter.
            turned = {tiny: records[::-1] for tiny, records in real.items()}
            self._found[relation, valid] = frozenset(
                (first, second)
                for first in self.databases
                for second in self.databases
                if relation.relates(
                    real[first], turned[second], columns=self.columns, person=person, valid_contexts=valid
                )
            )
        return self._found[relation, valid]

    def within(self, pairs: Iterable[tuple[Tiny, Tiny]]) -> Pairs:
        known = set(self.databases)
        return frozenset((a, b) for a, b in pairs if a in known and b in known)

    def units(self, tiny: Tiny) -> list[Tiny]:
        """Each person's rows; a row without a person is one."""
        people = {self.records[place].get("id") for place in tiny} - {None}
        owned = [tuple(place for place in tiny if self.records[place].get("id") == name) for name in people]
        return owned + [(place,) for place in sorted(set(tiny)) if self.records[place].get("id") is None]

    def steps(self, covers: Callable[[Tiny, Tiny, bool], bool], rows: int | None = None) -> Steps:
        """All steps of the universe that a condition on (unit, holder, is a removal) lets through.

        With ``rows``, units are persons with at most that many.
        """
        removals, additions = set(), set()
        for holder in self.universe:
            units = self.units(holder) if rows is not None else [(place,) for place in sorted(set(holder))]
            for unit in units:
                if len(unit) > (rows or 1):
                    continue
                rest = without(holder, unit)
                if covers(unit, holder, True):
                    removals.add((holder, rest))
                if covers(unit, holder, False):
                    additions.add((rest, holder))
        return Steps(frozenset(removals), frozenset(additions))


def multisets(kinds: int, largest: int) -> list[Tiny]:
    return [tiny for size in range(largest + 1) for tiny in combinations_with_replacement(range(kinds), size)]


def without(holder: Tiny, unit: Tiny) -> Tiny:
    rest = list(holder)
    for place in unit:
        rest.remove(place)
    return tuple(rest)


def cut(world: World, tiny: Tiny, rows: int) -> Tiny:
    """What is read of a database: of each person the first ``rows`` rows by content, all rows of nobody."""
    named = [unit for unit in world.units(tiny) if world.records[unit[0]].get("id") is not None]
    nobody = [place for place in tiny if world.records[place].get("id") is None]
    return tuple(sorted([place for unit in named for place in unit[:rows]] + nobody))


def near(records: list[dict[str, Any]], radius: float) -> Callable[[int, int], bool]:
    """Within the radius by a single column; a record is near itself, whatever it holds."""

    def judge(one: int, other: int) -> bool:
        left, right = records[one]["v"], records[other]["v"]
        return one == other or left == right or (None not in (left, right) and abs(left - right) <= radius)

    return judge


def k_sensitive(
    kinds: int, close: Callable[[int, int], bool], beta: int, k: int
) -> Callable[[int, Tiny], bool]:
    """Definition 5 of Asif et al. 2021, literally: normal in some database within k additions or removals."""

    @cache
    def judge(place: int, tiny: Tiny) -> bool:
        reached = {tiny}
        for _ in range(k):
            reached |= {tuple(sorted((*x, j))) for x in reached for j in range(kinds)}
            reached |= {without(x, (j,)) for x in reached for j in set(x)}
        return any(place in x and sum(close(place, j) for j in x) > beta for x in reached)

    return judge


def reachable(pairs: Pairs, start: Tiny, steps: int) -> set[Tiny]:
    following: dict[Tiny, set[Tiny]] = {}
    for a, b in pairs:
        following.setdefault(a, set()).add(b)
    seen = {start}
    for _ in range(steps):
        seen |= {b for a in seen for b in following.get(a, ())}
    return seen


def unreached(claimed: Pairs, pairs: Pairs, steps: int) -> list[tuple[Tiny, Tiny]]:
    """The claimed pairs that no way of that many steps joins: for each, steps × ε is an empty promise."""
    ways = {start: reachable(pairs, start, steps) for start in {a for a, _ in claimed}}
    return [(a, b) for a, b in claimed if b not in ways[a]]


# 1 and 2 are neighbours at radius 1; null and 99 are outside the domain 0 to 10.
ROWS = World([{"v": 1}, {"v": 2}, {"v": None}, {"v": 99}], largest=4, beyond=5)
NEAR = near(ROWS.records, 1)

PEOPLE = World(
    [
        {"id": "p", "v": 1},
        {"id": "p", "v": 7},
        {"id": "q", "v": 1},
        {"id": "q", "v": 2},
        {"id": None, "v": 1},
    ],
    largest=3,
    beyond=5,
)
ANY_NUMBER = 5  # of rows: no database of the people's universe has more
PEOPLE_NEAR = near(PEOPLE.records, 1)

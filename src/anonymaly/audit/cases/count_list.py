# SPDX-License-Identifier: Apache-2.0
"""What ``count`` claims of a list of filters, written from its GUARANTEE.md, and broken variants.

Answers are seen with each count moved into a few numbers. What is computed from an answer loses no more than
it does, and here it loses as much: the ends of the range gather the tails, in which all of ε is lost.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, get_args

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity
from anonymaly.audit.cases.count import COLUMNS, RECORDS
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.count.binding import CountBinding
from anonymaly.questions.count.query import Count

LOW, HIGH = -1, 4  # counts are moved into these

Judge = Callable[[Any, Any], bool]  # of an age and a ward


@dataclass(frozen=True)
class Filters:
    """Filters with what they mean, and how many of them one record matches at most."""

    texts: tuple[str, ...]
    judges: tuple[Judge, ...]
    together: int
    most: dict[str, Any]  # a record that matches so many
    other: dict[str, Any]  # a record that matches others, as many as possible


APART = Filters(
    ("age < 30", "age >= 30 and age < 60", "age >= 60 and ward == 'A'"),
    (
        lambda age, ward: age is not None and age < 30,
        lambda age, ward: age is not None and 30 <= age < 60,
        lambda age, ward: age is not None and age >= 60 and ward == "A",
    ),
    1,
    {"age": 20, "ward": "B"},
    {"age": 70, "ward": "A"},
)
OVERLAPPING = Filters(
    ("age >= 60", "ward == 'A'", "age < 30 and ward == 'B'"),
    (
        lambda age, ward: age is not None and age >= 60,
        lambda age, ward: ward == "A",
        lambda age, ward: age is not None and age < 30 and ward == "B",
    ),
    2,
    {"age": 60, "ward": "A"},
    {"age": 20, "ward": "B"},
)
# In the declared domain these are apart, but a table may hold a ward that nobody declared.
UNDECLARED = Filters(
    ("ward != 'A'", "ward != 'B'"),
    (
        lambda age, ward: ward is not None and ward != "A",
        lambda age, ward: ward is not None and ward != "B",
    ),
    2,
    {"age": 20, "ward": "C"},
    {"age": 20, "ward": None},
)


@dataclass(frozen=True)
class CountListCase(Case):
    """A case whose answers are written as text, each count moved into its few numbers."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stage with such answers."""
        return tuple(map(_written, super().stages(bound)))


def count_list_case(
    *,
    epsilon: Number,
    filters: Filters = APART,
    adjacency: Adjacency = "add_remove",
    max_rows: int | None = None,
    kind: type[Count] = Count,
) -> Case:
    """Return ``count`` of a list of filters as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    filters : Filters
        What is counted: by default filters of which no record matches two.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    max_rows : int, optional
        Protect persons of up to this many rows; single rows without it.
    kind : type
        The question's type: ``Count``, or a broken variant of it.

    Examples
    --------
    >>> case = count_list_case(epsilon="1")
    >>> round(case.outcomes(())["0,0,0"], 4)
    0.0987
    """
    rows, number = max_rows or 1, len(filters.texts)
    changed = filters.together if adjacency == "add_remove" else min(number, 2 * filters.together)
    query = kind(where=filters.texts, epsilon=epsilon)
    rate = float(to_fraction(query.cost) / Fraction(rows * changed))

    def outcomes(records: Database) -> Outcomes:
        """Count by hand, and add two-sided geometric noise of rate ε/(m·c) to each: Lemmas 3 and 4."""
        pairs = [(_number(row["age"]), row["ward"]) for row in _kept(records, max_rows)]
        laws = [_law(sum(judge(*pair) for pair in pairs), rate) for judge in filters.judges]
        return {
            ",".join(map(str, values)): math.prod(law[value] for law, value in zip(laws, values, strict=True))
            for values in product(range(LOW, HIGH + 1), repeat=number)
        }

    person = None if max_rows is None else "name"
    unit = f"persons with up to {rows} rows" if person else "records"
    return CountListCase(
        name=f"{number} counts, {changed} changed by a record, {unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        sensitivity={"count": Sensitivity(rows * changed)},
        worst_pair=(
            _of("Ida", filters.most, rows),
            () if adjacency == "add_remove" else _of("Jo", filters.other, rows),
        ),
        # Lemma 4: the bound is attained where so many counts change, and under replacement not all may.
        tight=adjacency == "add_remove" or filters is APART,
        outcomes=outcomes,
        adjacency=adjacency,
        person=person,
        max_rows=max_rows,
    )


def _kept(records: Database, max_rows: int | None) -> Database:
    """Return at most so many rows of each person, chosen by their content; all where rows are protected."""
    if max_rows is None:
        return records
    kept: list[Any] = []
    for row in sorted(records, key=str):
        if row["name"] is None or sum(row["name"] == other["name"] for other in kept) < max_rows:
            kept.append(row)
    return tuple(kept)


def _of(name: str, record: dict[str, Any], rows: int) -> Database:
    return tuple({**record, "name": name} for _ in range(rows))


def _number(value: Any) -> Any:
    """Return a number as the view shows it: NaN and infinity are null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _law(centre: int, rate: float) -> dict[int, float]:
    """Return the law of a count with noise, moved into its few numbers."""
    mass = {
        value: math.tanh(rate / 2) * math.exp(-rate * abs(value - centre)) for value in range(LOW, HIGH + 1)
    }
    for end, outwards in ((LOW, -1), (HIGH, 1)):
        # Pr[X >= x] = e^(-rx) / (1 + e^-r) for x >= 0; beyond the centre it is what is left.
        gap = outwards * (end - centre)
        tail = math.exp(-rate * abs(gap)) / (1 + math.exp(-rate))
        mass[end] = tail if gap >= 0 else 1 - tail * math.exp(-rate)
    return mass


def _written(stage: Stage) -> Stage:
    def release(counts: list[int], released: Released, noise: Noise) -> str:
        answer = stage.release(counts, released, noise)
        return ",".join(str(min(max(count, LOW), HIGH)) for count in answer)

    return dataclasses.replace(stage, release=release)


def _broken(release: Callable[[list[int], Fraction, Noise], list[int]], **options: Any) -> Case:
    """Return the case of a list that is released in another way; its claims stay those of the real one."""

    class BrokenCount(Count):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            assert isinstance(bound, CountBinding)  # noqa: S101 - what bind returns
            (stage,) = super().stages(bound)
            return (
                dataclasses.replace(
                    stage, release=lambda counts, released, noise: release(counts, bound.rate, noise)
                ),
            )

    return count_list_case(**{"epsilon": "1", **options, "kind": BrokenCount})


def _at_twice_the_rate(counts: list[int], rate: Fraction, noise: Noise) -> list[int]:
    return [int(count) for count in noise.add_two_sided_geometric(counts, 2 * rate)]


def _one_draw_for_all(counts: list[int], rate: Fraction, noise: Noise) -> list[int]:
    drawn = noise.two_sided_geometric(rate)
    return [count + drawn for count in counts]


def _only_where_somebody_is(counts: list[int], rate: Fraction, noise: Noise) -> list[int]:
    """Draw for counts of somebody only, as if an empty one said nothing."""
    return [count + noise.two_sided_geometric(rate) if count else 0 for count in counts]


MANY = 10_000

COUNT_LIST_CASES: tuple[ListedCase, ...] = tuple(
    ListedCase(
        partial(count_list_case, filters=filters, adjacency=adjacency, max_rows=rows),
        # Where two persons of two rows change places the loss is spread over many answers.
        samples=60_000 if rows and adjacency == "replace" else 12_000,
    )
    for adjacency in get_args(Adjacency)
    for filters, rows in ((APART, None), (APART, 2), (OVERLAPPING, None), (UNDECLARED, None))
)
COUNT_LIST_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "overlapping filters charged once",
        "bound",
        lambda: _broken(_at_twice_the_rate, filters=OVERLAPPING),
        samples=MANY,
    ),
    Mutant(
        "a replaced record counted in one filter only",
        "bound",
        lambda: _broken(_at_twice_the_rate, adjacency="replace"),
        samples=MANY,
    ),
    Mutant(
        "undeclared values forgotten when filters are compared",
        "bound",
        lambda: _broken(_at_twice_the_rate, filters=UNDECLARED),
        samples=MANY,
    ),
    Mutant("one draw for all counts of a list", "bound", lambda: _broken(_one_draw_for_all), samples=MANY),
    Mutant("empty counts of a list without noise", "replay", lambda: _broken(_only_where_somebody_is)),
)

# SPDX-License-Identifier: Apache-2.0
"""What ``identify`` claims, written from its GUARANTEE.md rather than from its code."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, Literal

import numpy as np

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity, absolute_difference
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.declare.dataset import Adjacency
from anonymaly.declare.domain import Domain, Interval
from anonymaly.declare.rules import AnomalyModel
from anonymaly.promise import Database
from anonymaly.questions.identify.balls import BallCounts
from anonymaly.questions.identify.query import Identify

BETA, K, RADIUS = 4, 2, 1
LOW, HIGH = 0, 10
COLUMNS: Mapping[str, Domain] = {"x": Interval(LOW, HIGH)}
ASKED = 5  # the record; a batch asks about it twice, and about one beside it
BATCH = (ASKED, ASKED, ASKED + 1)
OVERLAP = 3  # Lemma 8: all balls of the batch meet
STOP = 0.9  # so large an extra error that counting stops at once: L = 2 or a little more


def _rows(*values: float | None, name: str | None = None) -> tuple[dict[str, Any], ...]:
    return tuple({"x": value, "name": name} for value in values)


RECORDS: Database = _rows(ASKED, ASKED, ASKED + 1, ASKED + 1, 1, 1, 2, None, HIGH, HIGH + 5)


@dataclass(frozen=True)
class IdentifyCase(Case):
    """A case whose answers are written as text and whose summaries can be compared."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the stages with counts as lists and answers as a y or n for each record."""
        return tuple(map(_written, super().stages(bound)))


def identify_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    guarantee: Literal["sensitive", "differential"] = "sensitive",
    batch: bool = False,
    max_rows: int | None = None,
    kind: type[Identify] = Identify,
) -> Case:
    """Return ``identify`` as an audit sees it.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    guarantee : {"sensitive", "differential"}
        Which promise.
    batch : bool
        Whether to ask about three records, whose balls all meet.
    max_rows : int, optional
        Protect persons of up to so many rows; rows without it.
    kind : type
        The question's type: ``Identify``, or a broken variant of it.

    Examples
    --------
    >>> case = identify_case(epsilon="1")
    >>> {answer: round(chance, 3) for answer, chance in case.outcomes(case.worst_pair[0]).items()}
    {'y': 0.731, 'n': 0.269}
    """
    asked: dict[str, Any] = {"records": {"x": BATCH}} if batch else {"record": {"x": ASKED}}
    query = kind(model="rare", guarantee=guarantee, epsilon=epsilon, extra_error=STOP, **asked)
    rows = max_rows or 1
    steps = rows * (2 if adjacency == "replace" else 1) * (OVERLAP if batch else 1)
    rate = float(to_fraction(query.cost) / Fraction(steps))
    needed = None if guarantee == "differential" else BETA + 1 - (K + rows - 1)
    slack = 1 + math.ceil(-math.log(STOP) / rate)

    def outcomes(records: Database) -> Outcomes:
        """Count by hand, look for the nearest table with the other answer, and flip: Lemmas 2 to 9."""
        chances = [
            _chance_of_yes(*_counts(records, point), needed, rate, slack)
            for point in (BATCH if batch else (ASKED,))
        ]
        return {
            "".join(answers): math.prod(
                chance if answer == "y" else 1 - chance
                for answer, chance in zip(answers, chances, strict=True)
            )
            for answers in product("yn", repeat=len(chances))
        }

    unit = f"persons with up to {rows} rows" if max_rows else "records"
    return IdentifyCase(
        name=f"identify, {guarantee}, {'batch, ' * batch}{unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # In each ball every row that comes or goes counts once.
        sensitivity={
            "verdicts": Sensitivity(
                steps, lambda one, other: absolute_difference(one["within"], other["within"])
            )
        },
        worst_pair=_worst_pair(adjacency, rows),
        # A second row of the replaced, or a second answer, has no way to be turned on twice.
        tight=adjacency == "add_remove" or not (batch or rows > 1),
        outcomes=outcomes,
        adjacency=adjacency,
        person=None if max_rows is None else "name",
        max_rows=max_rows,
        rules={"rare": AnomalyModel(["x"], RADIUS, BETA, K)},
    )


def _worst_pair(adjacency: Adjacency, rows: int) -> tuple[Database, Database]:
    """Tables between which every step of the change moves the answer the same way."""
    if adjacency == "replace":
        # A copy goes and a neighbour comes: yes by a hair, no by a hair, no by two.
        kept = _rows(*[ASKED + 1] * (BETA - rows))
        return (*kept, *_rows(*[ASKED] * rows, name="Ida")), (*kept, *_rows(*[ASKED + 1] * rows, name="Jo"))
    kept = _rows(ASKED, ASKED, *[ASKED + 1] * (BETA - 1 - rows))
    return kept, (*kept, *_rows(*[ASKED + 1] * rows, name="Ida"))


def _written(stage: Stage) -> Stage:
    def summarise(table: Any, released: Released) -> dict[str, list[int]]:
        counts = stage.summarise(table, released)
        return {"within": counts.within.tolist(), "own": counts.own.tolist()}

    def release(seen: dict[str, list[int]], released: Released, noise: Any) -> str:
        counts = BallCounts(*(np.array(seen[name], np.int64) for name in ("within", "own")))
        answers = stage.release(counts, released, noise)
        return "".join("y" if answer else "n" for answer in np.atleast_1d(answers))

    return dataclasses.replace(stage, summarise=summarise, release=release)


def _counts(records: Database, point: int) -> tuple[int, int]:
    """Return how many rows equal the point and how many others are near it, moved into their bounds."""
    values = [row["x"] for row in records if row["x"] is not None and not math.isnan(row["x"])]
    places = [min(max(value, LOW), HIGH) for value in values]
    within = sum(abs(place - point) <= RADIUS for place in places)
    return places.count(point), within - places.count(point)


def _chance_of_yes(own: int, others: int, needed: int | None, rate: float, slack: int) -> float:
    stopped = own + others >= BETA + slack
    steps = slack if stopped else _distance(own, others, needed)
    flip = math.exp(-rate * (steps - 1)) / (1 + math.exp(rate))
    return 1 - flip if _is_anomaly(own, others) and not stopped else flip


def _is_anomaly(own: int, others: int) -> bool:
    return own >= 1 and own + others <= BETA


@cache
def _distance(own: int, others: int, needed: int | None) -> int:
    """Walk from table to table until the answer is another one; count the steps.

    A copy of the record may come or go only if ``needed`` rows are near it where it is; others always may.
    """
    seen, edge, steps = {(own, others)}, [(own, others)], 0
    while all(_is_anomaly(*place) == _is_anomaly(own, others) for place in edge):
        edge = [place for here in edge for place in _next(*here, needed) if place not in seen]
        seen.update(edge)
        steps += 1
    return steps


def _next(own: int, others: int, needed: int | None) -> Iterator[tuple[int, int]]:
    yield own, others + 1
    if others:
        yield own, others - 1
    if needed is None or own + others + 1 >= needed:
        yield own + 1, others
    if own and (needed is None or own + others >= needed):
        yield own - 1, others

# SPDX-License-Identifier: Apache-2.0
"""What ``identify`` claims, written from its GUARANTEE.md and not from its code; and broken variants."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity, absolute_difference
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.declaration import Declaration
from anonymaly.declare.domain import Domain, Interval
from anonymaly.declare.rules import AnomalyModel
from anonymaly.noise import Noise
from anonymaly.promise import Database, Relation, SensitiveRecords
from anonymaly.promise.change import Background, Row
from anonymaly.questions.identify.balls import BallCounts
from anonymaly.questions.identify.binding import IdentifyBinding
from anonymaly.questions.identify.mechanism import release_verdicts
from anonymaly.questions.identify.query import Identify
from anonymaly.questions.identify.verdicts import Verdicts, is_anomaly, steps_to_change

if TYPE_CHECKING:
    import ibis.expr.types as ir

BETA, K, RADIUS = 4, 2, 1
LOW, HIGH = 0, 10
COLUMNS: Mapping[str, Domain] = {"x": Interval(LOW, HIGH)}
ASKED = 5  # the record; a batch asks about it twice, and about one beside it
BATCH = (ASKED, ASKED, ASKED + 1)
OVERLAP = 3  # Lemma 8: all balls of the batch meet
CHAIN = (ASKED - 2, ASKED, ASKED + 2)  # each ball touches the next
CHAIN_OVERLAP = 2  # no place is in all three, though all centres are within twice the radius of the middle
EXTRA_ERROR = 0.9  # large, so that counting stops at once: L = 2 or a little more


def _rows(*values: float | None, name: str | None = None) -> Database:
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
    chain: bool = False,
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
    chain : bool
        Whether to ask about three records, each of whose balls meets the next.
    max_rows : int, optional
        Protect persons of up to this many rows; without it, rows.
    kind : type
        The question's type: ``Identify``, or a broken variant of it.

    Examples
    --------
    >>> case = identify_case(epsilon="1")
    >>> {answer: round(chance, 3) for answer, chance in case.outcomes(case.worst_pair[0]).items()}
    {'y': 0.731, 'n': 0.269}
    """
    points = CHAIN if chain else BATCH if batch else (ASKED,)
    overlap = CHAIN_OVERLAP if chain else OVERLAP if batch else 1
    asked: dict[str, Any] = {"record": {"x": ASKED}} if len(points) == 1 else {"records": {"x": points}}
    query = kind(model="rare", guarantee=guarantee, epsilon=epsilon, extra_error=EXTRA_ERROR, **asked)
    rows = max_rows or 1
    steps = rows * (2 if adjacency == "replace" else 1) * overlap
    rate = float(to_fraction(query.cost) / Fraction(steps))
    needed = None if guarantee == "differential" else BETA + 1 - (K + rows - 1)
    slack = 1 + math.ceil(-math.log(EXTRA_ERROR) / rate)

    def outcomes(records: Database) -> Outcomes:
        """Count by hand, look for the nearest table with the other answer, and flip: Lemmas 2 to 9."""
        read = _read(records, max_rows)
        chances = [_chance_of_yes(*_counts(read, point), needed, rate, slack) for point in points]
        return {
            "".join(answers): math.prod(
                chance if answer == "y" else 1 - chance
                for answer, chance in zip(answers, chances, strict=True)
            )
            for answers in product("yn", repeat=len(chances))
        }

    unit = f"persons with up to {rows} rows" if max_rows else "records"
    form = "chain, " if chain else "batch, " if batch else ""
    return IdentifyCase(
        name=f"identify, {guarantee}, {form}{unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=RECORDS,
        # In each ball every row that comes or goes counts once.
        sensitivity={
            "verdicts": Sensitivity(
                steps, lambda one, other: absolute_difference(one["within"], other["within"])
            )
        },
        worst_pair=TOUCHING if chain else _worst_pair(adjacency, rows),
        # A second row of the replaced, or a second answer, has no way to be turned on twice.
        tight=adjacency == "add_remove" or not (batch or rows > 1),
        outcomes=outcomes,
        adjacency=adjacency,
        person=None if max_rows is None else "name",
        max_rows=max_rows,
        rules={"rare": AnomalyModel(["x"], RADIUS, BETA, K)},
    )


# The row that comes lies where two balls of the chain touch, and makes both records normal by a hair.
_FULL = _rows(CHAIN[0], *[CHAIN[0] - 1] * (BETA - 1), CHAIN[1], *[CHAIN[1] + 0.5] * (BETA - 1))
TOUCHING = (_FULL, (*_FULL, *_rows(CHAIN[0] + RADIUS)))


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


def _read(records: Database, max_rows: int | None) -> Database:
    """Return the rows that are read: of a person with more than ``max_rows``, the first by their values."""
    if max_rows is None:
        return records
    kept: dict[Any, list[Any]] = {}
    for row in sorted(records, key=lambda row: -math.inf if _is_null(row["x"]) else row["x"]):
        rows = kept.setdefault(row["name"], [])
        if row["name"] is None or len(rows) < max_rows:
            rows.append(row)
    return [row for rows in kept.values() for row in rows]


def _is_null(value: float | None) -> bool:
    return value is None or not math.isfinite(value)


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


Release = Callable[[BallCounts, IdentifyBinding, Noise], list[bool]]


def _flipped(verdicts: Verdicts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
    return [bool(answer) for answer in release_verdicts(verdicts, bound.rate, noise)]


def _real(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
    return _flipped(bound.judge(counts.own, counts.within), bound, noise)


def _broken(
    release: Release = _real,
    *,
    prepare: Callable[[ir.Table], ir.Table] = lambda table: table,
    worst_pair: tuple[Database, Database] | None = None,
    adjacency: Adjacency = "add_remove",
    batch: bool = False,
    chain: bool = False,
    max_rows: int | None = None,
) -> Case:
    """Return the case of an identify that counts or releases in another way; its claims stay the same."""

    class BrokenIdentify(Identify):
        def stages(self, bound: Binding) -> tuple[Stage, ...]:
            assert isinstance(bound, IdentifyBinding)  # noqa: S101 - what bind returns
            (stage,) = super().stages(bound)
            return (
                dataclasses.replace(
                    stage,
                    summarise=lambda table, released: stage.summarise(prepare(table), released),
                    release=lambda counts, released, noise: release(counts, bound, noise),
                ),
            )

    case = identify_case(
        epsilon="1", adjacency=adjacency, batch=batch, chain=chain, max_rows=max_rows, kind=BrokenIdentify
    )
    return case if worst_pair is None else dataclasses.replace(case, worst_pair=worst_pair)


def _capped_count(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
    """Put a count that was stopped into the formula, with copies that it has not met: against Lemma 6."""
    beta = bound.model.beta
    steps = steps_to_change(bound.step_bound, counts.own, counts.within, beta=beta, k=bound.k)
    return _flipped(Verdicts(is_anomaly(counts.own, counts.within, beta), steps), bound, noise)


def _two_steps_more(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
    """Flip a clear answer as if it were two steps clearer: λ+2 beside a neighbour's 1."""
    verdicts = bound.judge(counts.own, counts.within)
    steps = verdicts.steps + 2 * (verdicts.steps > 1)
    return _flipped(Verdicts(verdicts.anomalous, steps), bound, noise)


def _with_k(less: int) -> Release:
    return lambda counts, bound, noise: _real(counts, dataclasses.replace(bound, k=bound.k - less), noise)


def _times_the_rate(times: int) -> Release:
    return lambda counts, bound, noise: _real(
        counts, dataclasses.replace(bound, rate=times * bound.rate), noise
    )


def _withheld_when_crowded(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
    """Say no without a draw where the count was stopped, as if that were certain and harmless."""
    answers = _real(counts, bound, noise)
    reached = counts.within >= bound.balls.stop
    return [answer and not stopped for answer, stopped in zip(answers, reached, strict=True)]


def _left_out() -> Case:
    """Count rows within the bounds alone, and ask about a record at the upper one."""
    neighbours = _rows(*[HIGH + 1] * (BETA - K))
    case = _broken(
        prepare=lambda table: table.filter(table["x"].between(LOW, HIGH)),
        worst_pair=(neighbours, (*neighbours, *_rows(HIGH))),
    )
    return dataclasses.replace(case, query=case.query.model_copy(update={"record": (("x", HIGH),)}))


class _EveryRowCounts(SensitiveRecords):
    """A promise to whoever has enough rows near, those of others that are cut off among them."""

    def _counted(self, holder: tuple[Row, ...], facts: Background) -> tuple[Row, ...]:
        return holder


class _WiderBinding(IdentifyBinding):
    @property
    def relation(self) -> Relation:
        return _EveryRowCounts.read(super().relation.to_dict())


class _WiderIdentify(Identify):
    def bind(self, declaration: Declaration) -> Binding:
        bound = super().bind(declaration)
        fields = {field.name: getattr(bound, field.name) for field in dataclasses.fields(bound)}
        return _WiderBinding(**fields)


def _cut_rows_counted() -> Case:
    """Return the case of a record whose only neighbours are rows that are cut off, with a promise to it."""
    case = identify_case(epsilon="1", max_rows=1, kind=_WiderIdentify)
    return dataclasses.replace(case, worst_pair=CUT_OFF)


def _reused() -> Case:
    kept: list[list[bool]] = []

    def release(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
        if not kept:
            kept.append(_real(counts, bound, noise))
        return kept[0]

    return _broken(release)


def _fixed_seed(counts: BallCounts, bound: IdentifyBinding, noise: Noise) -> list[bool]:
    return _real(counts, bound, Noise.seeded(7))


# Without the record, and with it: the fewest neighbours at which it is protected.
BOUNDARY = (_rows(*[ASKED + 1] * (BETA - K)), _rows(ASKED, *[ASKED + 1] * (BETA - K)))
# One below where counting stops, L = 2, and there; a copy among them.
CROWD = (_rows(ASKED, *[ASKED + 1] * BETA), _rows(ASKED, *[ASKED + 1] * (BETA + 1)))
# The same of a person with two rows, who has one neighbour besides.
PERSON = (_rows(ASKED + 1), (*_rows(ASKED + 1), *_rows(ASKED, ASKED, name="Ida")))
# Somebody has many rows near the record, of which one is read, and that one is far away.
_MANY = _rows(1, *[ASKED] * BETA, name="Eve")
CUT_OFF = (_MANY, (*_MANY, *_rows(ASKED, name="Ida")))

FORMS: tuple[dict[str, Any], ...] = ({}, {"guarantee": "differential"}, {"batch": True}, {"max_rows": 2})
IDENTIFY_CASES: tuple[ListedCase, ...] = (
    *(
        ListedCase(
            partial(identify_case, adjacency=adjacency, **form), samples=16_000, thorough_samples=200_000
        )
        for adjacency, form in product(get_args(Adjacency), FORMS)
    ),
    ListedCase(partial(identify_case, chain=True), thorough_samples=200_000),
)
IDENTIFY_MUTANTS: tuple[Mutant, ...] = (
    Mutant("capped count in the formula", "bound", lambda: _broken(_capped_count, worst_pair=CROWD)),
    Mutant("flipped as if two steps clearer", "bound", lambda: _broken(_two_steps_more, worst_pair=CROWD)),
    Mutant(
        "sensitive bound wrong at the boundary", "bound", lambda: _broken(_with_k(1), worst_pair=BOUNDARY)
    ),
    Mutant(
        "k not raised for persons with two rows",
        "bound",
        lambda: _broken(_with_k(1), worst_pair=PERSON, max_rows=2),
        samples=10_000,  # loses 1.21 where 1 is promised
    ),
    Mutant("rate × 2", "bound", lambda: _broken(_times_the_rate(2))),
    Mutant(
        "replace charged like add/remove", "bound", lambda: _broken(_times_the_rate(2), adjacency="replace")
    ),
    Mutant("overlapping balls charged as one", "bound", lambda: _broken(_times_the_rate(3), batch=True)),
    Mutant("balls that touch charged as apart", "bound", lambda: _broken(_times_the_rate(2), chain=True)),
    Mutant(
        "stopped counts answered for certain",
        "bound",
        lambda: _broken(_withheld_when_crowded, worst_pair=CROWD),
    ),
    Mutant("rows beyond the bounds left out", "bound", _left_out),
    Mutant("rows that are cut off make somebody protected", "bound", _cut_rows_counted),
    Mutant("noise reused for a second answer", "replay", _reused),
    Mutant("fixed seed: given noise not used", "replay", lambda: _broken(_fixed_seed)),
)

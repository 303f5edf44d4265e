# SPDX-License-Identifier: Apache-2.0
"""What ``explain`` for everyone claims, from its GUARANTEE.md and not from its code; planted faults."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, get_args

import numpy as np

from anonymaly.ask.binding import Binding, Released, Stage
from anonymaly.audit.case import Case, Outcomes, Sensitivity, absolute_difference
from anonymaly.audit.cases.choice import choice_law
from anonymaly.audit.listed import ListedCase
from anonymaly.audit.mutants import Mutant
from anonymaly.audit.neighbours import Pair
from anonymaly.core.epsilon import Number, to_fraction
from anonymaly.core.rate import Adjacency
from anonymaly.declare.domain import Categories, Domain, Interval
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.explain.everyone.binding import EveryoneBinding
from anonymaly.questions.explain.everyone.mechanism import Names, draw_groups, listed_margins
from anonymaly.questions.explain.everyone.summary import StepCounts, count_steps_by_cell
from anonymaly.questions.explain.everyone.why import quartile_utilities
from anonymaly.questions.explain.query import Explain

Draw = Callable[[StepCounts, EveryoneBinding, Noise], Names]

NONE = "none"
STEPS = 16
ASKED = STEPS - 1  # the record's step: whatever lies in the lowest ones is far below it
COLUMNS: Mapping[str, Domain] = {
    "job": Categories(["Nurse", "Doctor"]),
    "pay": Interval(0, STEPS),
}
RECORD = {"job": "Nurse", "pay": ASKED + 0.5}
LOW, HIGH = 0.5, 8.5  # pays in steps 0 and 8
GROUPS = ("Nurse", "any")


def _rows(job: str, pay: float, number: int) -> tuple[dict[str, Any], ...]:
    return tuple({"job": job, "pay": pay, "name": None} for _ in range(number))


@dataclass(frozen=True)
class EveryoneCase(Case):
    """A case whose answer is written as the group's name, with summaries that can be compared."""

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the one stage with its answer as text."""
        return tuple(_written(stage) for stage in super().stages(bound))

    def pairs(self, *, seed: int, rounds: int) -> Iterator[Pair]:
        """Yield a pair at which a group begins to have a margin, then those of all questions."""
        few = (*_rows("Nurse", LOW, 3), *_rows("Nurse", HIGH, 1))
        first, *rest = super().pairs(seed=seed, rounds=rounds)
        more = (*few, *_rows("Nurse", LOW, 1))
        if self.adjacency == "replace":
            more = (*_rows("Nurse", LOW, 4),)
        return chain([first, Pair("a group begins to have a margin", few, more)], rest)


def explain_everyone_case(
    *,
    epsilon: Number,
    adjacency: Adjacency = "add_remove",
    max_rows: int | None = None,
    kind: type[Explain] = Explain,
) -> Case:
    """Return ``explain`` for everyone as an audit sees it: two groups, and none.

    Parameters
    ----------
    epsilon : number
        The charge.
    adjacency : {"add_remove", "replace"}
        What a neighbour is.
    max_rows : int, optional
        Protect persons of up to this many rows; single rows without it.
    kind : type
        The question's type: ``Explain``, or a broken variant of it.

    Examples
    --------
    >>> case = explain_everyone_case(epsilon="1")
    >>> {name: round(chance, 2) for name, chance in case.outcomes(case.worst_pair[0]).items()}
    {'Nurse': 0.49, 'any': 0.49, 'none': 0.01}
    """
    query = kind(record=RECORD, metric="pay", attributes=["job"], steps=STEPS, why=0, epsilon=epsilon)
    rows = max_rows or 1
    moved = rows if adjacency == "add_remove" else 2 * rows
    rate = to_fraction(query.cost) / (4 * moved)  # Lemma 2: quarters of a record
    # Lemma 5; floats suffice here, as the least whole number above is not near one.
    none_at = math.ceil(math.log(len(GROUPS) * 20) / float(rate))

    def outcomes(records: Database) -> Outcomes:
        """Judge both groups by hand, and draw among them and none: Lemmas 2, 4 and 5."""
        pays = [_step(row["pay"]) for row in records if _step(row["pay"]) is not None]
        nurses = [
            _step(row["pay"]) for row in records if row["job"] == "Nurse" and _step(row["pay"]) is not None
        ]
        margins = dict(zip(GROUPS, (_margin(nurses), _margin(pays)), strict=True))
        return choice_law({**margins, NONE: none_at}, float(rate))

    unit = "records" if max_rows is None else f"persons with up to {rows} rows"
    return EveryoneCase(
        name=f"explain for everyone, {unit}, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=_worst_pair(adjacency, None)[0][-12:],
        sensitivity={"group": Sensitivity(moved, _change)},
        worst_pair=_worst_pair(adjacency, max_rows),
        outcomes=outcomes,
        adjacency=adjacency,
        person=None if max_rows is None else "name",
        max_rows=max_rows,
    )


def _worst_pair(adjacency: Adjacency, max_rows: int | None) -> tuple[Database, Database]:
    """Return a tie of two groups that what comes or changes breaks by all that it may.

    Nurses are at step 0 and four times as many doctors at step 8, so both margins are the number of nurses,
    in quarters. A nurse at step 8 is outside of what the fence of nurses is made of, and inside of what that
    of all is: it takes three quarters from the one and adds one to the other; in place of one at step 0, four
    of both.
    """
    rows = max_rows or 1
    nurses = 28 * rows * (1 if adjacency == "add_remove" else 2)
    table = (*_rows("Doctor", HIGH, 4 * nurses), *_rows("Nurse", LOW, nurses - rows))
    old, new = ({"job": "Nurse", "pay": pay, "name": "p0"} for pay in (LOW, HIGH))
    if adjacency == "add_remove":
        kept = (*table, *_rows("Nurse", LOW, rows))
        return kept, (*kept, *(new for _ in range(rows)))
    return (*table, *(old for _ in range(rows))), (*table, *(new for _ in range(rows)))


def _step(pay: Any) -> int | None:
    if pay is None or not math.isfinite(pay):
        return None  # as a view reads it
    return int(min(math.floor(min(max(pay, 0), STEPS)), STEPS - 1))


def _margin(steps: Sequence[int | None]) -> int:
    """Return the best of all fences that the record's step is beyond, one by one (Lemma 2)."""
    values = np.array([step for step in steps if step is not None], np.int64)
    best = 0
    for low in range(STEPS):
        for high in range(low + 1, STEPS + 1):  # edges: from step low on, and below edge high
            above, below = 5 * high - 3 * low < 2 * ASKED, 5 * low - 3 * high > 2 * (ASKED + 1)
            if above or below:
                held = min(int((values < high).sum()), int((values >= low).sum()))
                best = max(best, 4 * held - 3 * len(values))
    return best


@dataclass(frozen=True, eq=False)
class _Counted:
    """A summary that can be compared."""

    summary: StepCounts

    @property
    def counts(self) -> dict[Any, int]:
        cells = zip(self.summary.cells.tolist(), self.summary.steps.tolist(), strict=True)
        return dict(zip(cells, self.summary.counts.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Counted) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]


def _change(first: _Counted, second: _Counted) -> float:
    return absolute_difference(first.counts, second.counts)


def _written(stage: Stage) -> Stage:
    def release(seen: _Counted, released: Released, noise: Noise) -> str:
        groups = stage.release(seen.summary, released, noise).groups
        return NONE if not groups else GROUPS[groups[0].parts[0].how == "any"]

    return dataclasses.replace(
        stage, summarise=lambda table, released: _Counted(stage.summarise(table, released)), release=release
    )


# ---- one quartile, alone ---------------------------------------------------------------------------------

QUARTER = 1


@dataclass(frozen=True)
class QuartileCase(Case):
    """A case of the lower quartile of all records, at all of ε: the edge's number is the answer."""

    faster: Fraction = Fraction(1)

    def stages(self, bound: Binding) -> tuple[Stage, ...]:
        """Return the draw of that quartile from counts of steps."""
        assert isinstance(bound, EveryoneBinding)  # noqa: S101 - what bind returns
        assert bound.why is not None  # noqa: S101 - asked with a share for reasons
        # Of the parts that the share has, the size and the other quartiles are not drawn.
        rate = bound.why.quartiles[QUARTER - 1] * 4 * self.faster

        def summarise(table: Any, released: Released) -> list[int]:
            summary = count_steps_by_cell(table, bound)
            counts: list[int] = (
                np.bincount(summary.steps, summary.counts, bound.grid.steps).astype(int).tolist()
            )
            return counts

        def release(counts: list[int], released: Released, noise: Noise) -> int:
            return noise.choose(quartile_utilities(np.array(counts), QUARTER), rate)

        return (Stage(name="why", summarise=summarise, release=release),)


def explain_quartile_case(
    *, epsilon: Number, adjacency: Adjacency = "add_remove", faster: Fraction = Fraction(1)
) -> Case:
    """Return the lower quartile of a group as an audit sees it; ``faster`` multiplies the rate in a fault.

    Examples
    --------
    >>> case = explain_quartile_case(epsilon="1")
    >>> {edge: round(chance, 2) for edge, chance in case.outcomes(case.worst_pair[0]).items()}
    {0: 0.02, 1: 0.49, 2: 0.49, 3: 0.0}
    """
    share = Fraction(9, 10)
    query = Explain(
        record={"job": "Nurse", "pay": 1},
        metric="pay",
        attributes=["job"],
        steps=3,
        why=float(share),
        epsilon=epsilon,
    )
    spread = 6 if adjacency == "add_remove" else 8  # Lemma 7, in quarters of a rank
    rate = float(to_fraction(query.cost) * share / spread)

    def outcomes(records: Database) -> Outcomes:
        """Count below each edge by hand, and draw by the distance from a quarter of all."""
        pays = [min(max(row["pay"], 0), STEPS) for row in records if _step(row["pay"]) is not None]
        thirds = [min(int(pay * 3 / STEPS), 2) for pay in pays]
        utilities = {
            edge: -abs(4 * sum(third < edge for third in thirds) - QUARTER * len(thirds)) for edge in range(4)
        }
        return choice_law(utilities, rate)  # type: ignore[arg-type]  # edges for names

    low, middle, high = (_rows("Nurse", pay, 1) for pay in (1.0, 6.0, 12.0))
    # 5, 10 and 25 records in the three steps: the edges after the first and the second are 5 ranks off.
    table = (*low * 5, *middle * 10, *high * 25)
    changed = (*table, *low) if adjacency == "add_remove" else (*low * 6, *middle * 10, *high * 24)
    return QuartileCase(
        name=f"a quartile of explain, {adjacency}, ε = {query.epsilon}",
        query=query,
        columns=COLUMNS,
        records=table[:8],
        sensitivity={"why": Sensitivity(1 if adjacency == "add_remove" else 2)},
        worst_pair=(table, changed),
        tight=False,  # a share of ε, and for replacement the bound is not attained here
        outcomes=outcomes,
        adjacency=adjacency,
        faster=faster,
    )


# ---- planted faults --------------------------------------------------------------------------------------


def _drawn(draw: Draw, **options: Any) -> Case:
    """Return the case of an explain that draws in another way; its claims stay those of the real one."""

    class BrokenExplain(Explain):
        def stages(self, bound: Any) -> tuple[Stage, ...]:
            (stage,) = super().stages(bound)

            def release(summary: StepCounts, released: Released, noise: Noise) -> Any:
                names = draw(summary, bound, noise)
                return _Named(names, bound)

            return (dataclasses.replace(stage, release=release),)

    return explain_everyone_case(**{"epsilon": "1", **options, "kind": BrokenExplain})


@dataclass(frozen=True)
class _Named:
    """Drawn names as the real answer has them."""

    names: Names
    bound: EveryoneBinding

    @property
    def groups(self) -> list[Any]:
        return [
            _Parts([axis.part(option) for axis, option in zip(self.bound.axes, name, strict=True)])
            for name in self.names
        ]


@dataclass(frozen=True)
class _Parts:
    parts: list[Any]


def _half_the_spread(summary: StepCounts, bound: EveryoneBinding, noise: Noise) -> Names:
    return draw_groups(summary, dataclasses.replace(bound, rate=2 * bound.rate), noise)


def _only_valid(summary: StepCounts, bound: EveryoneBinding, noise: Noise) -> Names:
    """Leave groups without a margin out: who makes one begin to have one is seen for certain."""
    listed, margins = listed_margins(summary, bound, noise)
    valid = np.flatnonzero(margins)
    chosen = noise.choose(np.append(margins[valid], bound.none_at), bound.rate)
    return () if chosen == len(valid) else (listed.name(int(valid[chosen])),)


def _never_none(summary: StepCounts, bound: EveryoneBinding, noise: Noise) -> Names:
    listed, margins = listed_margins(summary, bound, noise)
    return (listed.name(noise.choose(margins, bound.rate)),)


EXPLAIN_EVERYONE_CASES: tuple[ListedCase, ...] = (
    *(
        ListedCase(partial(explain_everyone_case, adjacency=adjacency), 9_000, thorough_samples=100_000)
        for adjacency in get_args(Adjacency)
    ),
    ListedCase(partial(explain_everyone_case, max_rows=2), 9_000, thorough_samples=100_000),
    *(
        ListedCase(partial(explain_quartile_case, adjacency=adjacency), thorough_samples=100_000)
        for adjacency in get_args(Adjacency)
    ),
)
EXPLAIN_EVERYONE_MUTANTS: tuple[Mutant, ...] = (
    Mutant("half the spread", "bound", lambda: _drawn(_half_the_spread)),
    Mutant("half the spread, of persons", "bound", lambda: _drawn(_half_the_spread, max_rows=2)),
    Mutant("half the spread, replaced", "bound", lambda: _drawn(_half_the_spread, adjacency="replace")),
    Mutant("groups filtered by validity", "replay", lambda: _drawn(_only_valid)),
    Mutant("no candidate for none", "fit", lambda: _drawn(_never_none), fit_samples=8_000),
    # With n held fixed a row moves ranks by 1, and not also a quarter of all of them.
    Mutant(
        "change of n forgotten in a quartile's utility",
        "bound",
        lambda: explain_quartile_case(epsilon="2", faster=Fraction(3, 2)),
    ),
)

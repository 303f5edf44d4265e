# SPDX-License-Identifier: Apache-2.0
"""Broken variants of ``identify``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from anonymaly.ask.binding import Stage
from anonymaly.audit.case import Case
from anonymaly.audit.cases.identify import ASKED, BETA, HIGH, LOW, K, identify_case
from anonymaly.audit.mutants import Mutant
from anonymaly.declare.dataset import Declaration
from anonymaly.noise import Noise
from anonymaly.promise import Database
from anonymaly.questions.identify.balls import BallCounts
from anonymaly.questions.identify.binding import Plan, make_plan
from anonymaly.questions.identify.mechanism import Verdicts, release_verdicts
from anonymaly.questions.identify.query import Identify
from anonymaly.questions.identify.verdicts import is_anomaly, judge, steps_to_change

Release = Callable[[BallCounts, Plan, Noise], list[bool]]


def _flipped(verdicts: Verdicts, plan: Plan, noise: Noise) -> list[bool]:
    return [bool(answer) for answer in release_verdicts(verdicts, plan.rate, noise)]


def _judged(counts: BallCounts, plan: Plan) -> Verdicts:
    return judge(
        counts.own, counts.within, beta=plan.model.beta, k=plan.k, bound=plan.bound, slack=plan.slack
    )


def _real(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
    return _flipped(_judged(counts, plan), plan, noise)


def _broken(
    release: Release = _real,
    prepare: Callable[[Any], Any] | None = None,
    worst_pair: tuple[Database, Database] | None = None,
    **options: Any,
) -> Case:
    """Return the case of an identify that counts or releases in another way; its claims stay the same."""

    class BrokenIdentify(Identify):
        def stages(self, declaration: Declaration) -> tuple[Stage, ...]:
            plan = make_plan(self, declaration)
            (stage,) = super().stages(declaration)
            return (
                dataclasses.replace(
                    stage,
                    summarise=lambda table, released: stage.summarise(
                        table if prepare is None else prepare(table), released
                    ),
                    release=lambda counts, released, noise: release(counts, plan, noise),
                ),
            )

    case = identify_case(**{"epsilon": "1", **options, "kind": BrokenIdentify})
    return case if worst_pair is None else dataclasses.replace(case, worst_pair=worst_pair)


def _at(*values: float, name: str | None = None) -> Database:
    return tuple({"x": value, "name": name} for value in values)


def _capped_count(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
    """Put a count that was stopped into the formula, with the copies that it has not met."""
    beta = plan.model.beta
    steps = steps_to_change(plan.bound, counts.own, counts.within, beta=beta, k=plan.k)
    return _flipped(Verdicts(is_anomaly(counts.own, counts.within, beta), steps), plan, noise)


def _two_steps_more(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
    """Flip a clear answer as if it were two steps clearer: λ+2 beside a neighbour's 1."""
    verdicts = _judged(counts, plan)
    steps = verdicts.steps + 2 * (verdicts.steps > 1)
    return _flipped(Verdicts(verdicts.anomalous, steps), plan, noise)


def _with_k(less: int) -> Release:
    def release(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
        return _real(counts, dataclasses.replace(plan, k=plan.k - less), noise)

    return release


def _times_the_rate(times: int) -> Release:
    def release(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
        return _real(counts, dataclasses.replace(plan, rate=times * plan.rate), noise)

    return release


def _withheld_when_crowded(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
    """Say no without a draw where the count was stopped, as if that were certain and harmless."""
    answers = _real(counts, plan, noise)
    return [
        answer and not reached
        for answer, reached in zip(answers, counts.within >= plan.balls.stop, strict=True)
    ]


def _left_out() -> Case:
    """Count rows within the bounds alone, and ask about a record at the upper one."""
    neighbours = _at(*[HIGH + 1] * (BETA - K))
    case = _broken(
        prepare=lambda table: table.filter(table["x"].between(LOW, HIGH)),
        worst_pair=(neighbours, (*neighbours, *_at(HIGH))),
    )
    return dataclasses.replace(case, query=case.query.model_copy(update={"record": (("x", HIGH),)}))


def _reused() -> Case:
    kept: list[list[bool]] = []

    def release(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
        if not kept:
            kept.append(_real(counts, plan, noise))
        return kept[0]

    return _broken(release)


def _fixed_seed(counts: BallCounts, plan: Plan, noise: Noise) -> list[bool]:
    return _real(counts, plan, Noise.seeded(7))


# Without the record, and with it: the fewest neighbours at which it is protected.
BOUNDARY = (_at(*[ASKED + 1] * (BETA - K)), _at(ASKED, *[ASKED + 1] * (BETA - K)))
# One below where counting stops, L = 2, and there; a copy among them.
CROWD = (_at(ASKED, *[ASKED + 1] * BETA), _at(ASKED, *[ASKED + 1] * (BETA + 1)))
# The same of a person with two rows, who has one neighbour besides.
PERSON = (_at(ASKED + 1), (*_at(ASKED + 1), *_at(ASKED, ASKED, name="Ida")))

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
    ),
    Mutant("rate × 2", "bound", lambda: _broken(_times_the_rate(2))),
    Mutant(
        "replace charged like add/remove", "bound", lambda: _broken(_times_the_rate(2), adjacency="replace")
    ),
    Mutant("overlapping balls charged as one", "bound", lambda: _broken(_times_the_rate(3), batch=True)),
    Mutant(
        "stopped counts answered for certain",
        "bound",
        lambda: _broken(_withheld_when_crowded, worst_pair=CROWD),
    ),
    Mutant("rows beyond the bounds left out", "bound", _left_out),
    Mutant("noise reused for a second answer", "replay", _reused),
    Mutant("fixed seed: given noise not used", "replay", lambda: _broken(_fixed_seed)),
)

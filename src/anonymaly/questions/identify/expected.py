# SPDX-License-Identifier: Apache-2.0
"""How often an answer is wrong, as far as it can be told before any row is read: by neighbour counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from anonymaly.ask.binding import Expectation
from anonymaly.core.epsilon import NANO, to_text
from anonymaly.questions.identify.binding import Plan
from anonymaly.questions.identify.mechanism import flip_probability
from anonymaly.questions.identify.verdicts import judge

POINTS = 40  # of the curve; enough for a picture, few enough for the ledger


def expect_flips(plan: Plan, cost: int) -> Expectation:
    """Return the noise and the error of a plan: chances that hold whatever the rows are."""
    each = Fraction(cost, NANO * plan.overlap)
    model = plan.model
    present, absent = error_curve(plan, [1, model.beta, 2 * model.beta], [0])
    privacy = (
        "differential privacy" + ("" if plan.bound == "differential" else ", because k reaches beta")
        if plan.protects_everyone
        else "sensitive privacy"
    )
    overlap = "no balls overlap" if plan.overlap == 1 else f"at most {plan.overlap:,} balls overlap"
    batch = (
        ""
        if plan.records == 1
        else f"; {plan.records:,} records, {overlap}: ε {float(each):.4g} each for a total of {to_text(cost)}"
    )
    return Expectation(
        noise=f"each answer is flipped by chance, the more rarely the clearer it is ({privacy}{batch})",
        error=(
            f"wrong with probability {present[0]:.3g} for a record that is alone within the radius, "
            f"{present[1]:.3g} for one with {model.beta:,} records there, {present[2]:.3g} with "
            f"{2 * model.beta:,}; {absent[0]:.3g} for one that is not in the data, nor any near it"
        ),
        details={
            "records": plan.records,
            "overlap": plan.overlap,
            "epsilon_each": float(each),
            "extra_error_at_most": float(np.exp(-float(plan.rate) * (plan.slack - 1))),
            "curve": _curve(plan),
        },
    )


def error_curve(plan: Plan, present: list[int], absent: list[int]) -> tuple[list[float], list[float]]:
    """Return the error by the number of records within the radius: of one there once, of one not there."""
    return _errors(plan, 1, present), _errors(plan, 0, absent)


def _errors(plan: Plan, own: int, within: list[int]) -> list[float]:
    counts = np.array(within, np.int64)
    verdicts = judge(
        np.full_like(counts, own),
        counts,
        beta=plan.model.beta,
        k=plan.k,
        bound=plan.bound,
        slack=plan.slack,
    )
    return [float(flip_probability(plan.rate, int(steps))) for steps in verdicts.steps]


def _curve(plan: Plan) -> dict[str, Any]:
    last, beta = plan.balls.stop, plan.model.beta
    spread = {round(last * place / POINTS) for place in range(POINTS + 1)}
    neighbours = sorted(spread | {1, max(1, beta - plan.k), beta, beta + 1})
    present, absent = error_curve(plan, neighbours[1:], neighbours)
    return {"neighbours": neighbours, "present": [None, *present], "absent": absent}

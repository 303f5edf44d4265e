# SPDX-License-Identifier: Apache-2.0
"""Two attacks that read a table through explain at next to no ε, against the form for everyone.

Under a rule each question was an exact test of a guess. Here each has a law, computed from the question's own
summary and margins, and the factor by which an attacker's odds change is that of the laws on two tables.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas
import pytest

import anonymaly as am
from anonymaly.errors import InputError
from anonymaly.noise import Noise
from anonymaly.questions.explain.everyone.binding import bind_for_everyone
from anonymaly.questions.explain.everyone.mechanism import draw_groups, listed_margins
from anonymaly.questions.explain.everyone.summary import count_steps_by_cell
from tests.questions.explain.everyone import plain

Law = dict[tuple[int, ...] | None, float]


class Attacked:
    """A table as an attacker meets it: the law of each answer, and answers drawn from it."""

    def __init__(self, frame: pandas.DataFrame, columns: dict[str, Any], adjacency: Any) -> None:
        dataset = am.Dataset(frame, name="staff", columns=columns)
        self._declaration, self._table = dataset.with_adjacency(adjacency), dataset.table

    def law(self, query: am.Explain) -> Law:
        """Return the probability of each group, and of none."""
        bound = bind_for_everyone(query, self._declaration)
        summary = count_steps_by_cell(self._table, bound)
        listed, margins = listed_margins(summary, bound, Noise.seeded(1))
        law = plain.law((*margins.tolist(), bound.none_at), float(bound.rate))
        names: list[tuple[int, ...] | None] = [listed.name(index) for index in range(listed.size)]
        return dict(zip([*names, None], law, strict=True))

    def answer(self, query: am.Explain, noise: Noise) -> tuple[int, ...] | None:
        """Return the group that is drawn, if any is."""
        bound = bind_for_everyone(query, self._declaration)
        names = draw_groups(count_steps_by_cell(self._table, bound), bound, noise)
        return names[0] if names else None


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.1"])
def test_guessing_every_pay_of_a_city_tells_of_a_person_at_most_e_to_the_epsilon(epsilon: str) -> None:
    draw = np.random.default_rng(5)
    columns = {
        "job": am.Categories(["Nurse", "Doctor"]),
        "city": am.Categories(["Ottawa", "Toronto"]),
        "pay": am.Interval(0, 200, step=1),
    }
    frame = pandas.DataFrame(
        {
            "job": draw.choice(["Nurse", "Doctor"], 12),
            "city": draw.choice(["Ottawa", "Toronto"], 12),
            "pay": draw.integers(40, 140, 12).astype(float),
        }
    )
    victim = frame.iloc[4]
    present, absent = (Attacked(rows, columns, "add_remove") for rows in (frame, frame.drop(index=4)))
    learned = 0.0
    guesses = [int(victim["pay"]), *range(40, 140, 10)]
    for pay in guesses:
        query = am.Explain(
            record={"job": victim["job"], "city": victim["city"], "pay": pay},
            metric="pay",
            attributes=["job", "city"],
            # As sharp a test of whether anybody has just this pay as there is.
            detector="rare",
            parameters={"radius": 0, "share": 0.5},
            why=0,
            epsilon=epsilon,
        )
        one, other = present.law(query), absent.law(query)
        loss = max(abs(math.log(one[name] / other[name])) for name in one)
        assert loss <= float(epsilon) * (1 + 1e-6)
        learned += loss
    # Whatever all answers are, the odds that the person is there change by no more than this factor.
    assert math.exp(learned) <= math.exp(len(guesses) * float(epsilon)) * (1 + 1e-6)
    if epsilon == "0.1":
        assert learned > 0.01  # the bound is about something: answers do depend on the person


def test_what_made_the_attacks_exact_is_refused_without_a_rule() -> None:
    declaration = am.Dataset(
        pandas.DataFrame({"dept": ["A"], "pay": [1.0]}),
        name="staff",
        columns={"dept": am.Categories(["A", "B"]), "pay": am.Interval(0, 200_000, step=1)},
    ).declaration
    asked: dict[str, Any] = {"record": {"dept": "A", "pay": 140_000}, "metric": "pay", "attributes": ["dept"]}
    for fields in (
        {"detector": "mad", "parameters": {"threshold": 1e-9}},
        {"detector": "grubbs", "parameters": {"alpha": 0.01}},
        {"search": "random_walk", "samples": 1, "start": {"dept": ["A"]}},
    ):
        with pytest.raises(InputError, match="Cite rule="):
            am.Explain(**asked, **fields, epsilon="0.000000001").bind(declaration)


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.05"])
def test_halving_a_parameter_tells_of_a_third_person_at_most_e_to_the_epsilon(epsilon: str) -> None:
    draw = np.random.default_rng(2)
    columns = {"dept": am.Categories(["A", "B"]), "pay": am.Interval(0, 200_000, step=1)}
    pays = [140_000.0, 135_000.0, *draw.integers(50_000, 80_000, 18).astype(float)]

    def staff(secret: float) -> Attacked:
        frame = pandas.DataFrame({"dept": ["A"] * 20 + ["B"], "pay": [*pays, secret]})
        return Attacked(frame, columns, "replace")

    truth, guess = staff(93_417), staff(120_000)
    noise = Noise.seeded(7)
    learned = 0.0
    low, high = 0.01, 20.0
    for asked in range(
        1, 21
    ):  # a fence so wide that the record stands out just so would tell the quartiles exactly
        factor = round(math.sqrt(low * high), 6)
        query = am.Explain(
            record={"dept": "A", "pay": 140_000},
            metric="pay",
            attributes=["dept"],
            parameters={"factor": factor},
            steps=4096,
            why=0,
            epsilon=epsilon,
        )
        answer = truth.answer(query, noise)
        learned += abs(math.log(truth.law(query)[answer] / guess.law(query)[answer]))
        low, high = (low, factor) if answer is None else (factor, high)
        assert learned <= asked * float(epsilon) * (1 + 1e-6)

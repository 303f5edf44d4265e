# SPDX-License-Identifier: Apache-2.0
"""Anybody's mechanism: what is measured of it, whatever it answers. False alarms 1e-6 in each test."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anonymaly as am
from anonymaly.audit.answers import LookPlan, drawn
from anonymaly.audit.mechanism import FEWEST
from anonymaly.core.progress import listening
from anonymaly.errors import InputError
from anonymaly.noise import Noise

FEW = 2_000
LOSS = math.log(3)  # of telling the truth three times in four


def told(truth: Any) -> bool:
    return bool(truth) if random.random() < 0.75 else not truth


def measured(mechanism: Any, **options: Any) -> am.audit.MechanismLoss:
    return am.audit.lower_bound(mechanism, 0, 1, **{"epsilon": 0.5, "samples": FEW, **options})


def test_the_bound_is_close_below_the_loss_and_above_a_claim_that_is_too_low() -> None:
    broken, right = measured(told, samples=20_000, epsilon=1), measured(told, samples=20_000, epsilon=LOSS)
    assert 0.9 * LOSS < broken.lower_bound <= LOSS
    assert (broken.violated, right.violated) == (True, False)
    assert str(broken).startswith("violation found; ε = 1 is claimed and at least 1.0")
    assert str(right).startswith("no violation found; of ε = 1.09861 at least 1.0")
    assert "verified" not in f"{broken} {right}"
    assert "20,000 samples" in str(right)


def test_bounds_exceed_the_truth_no_more_often_than_one_minus_the_confidence() -> None:
    exceeded = sum(measured(told, samples=200, epsilon=LOSS, confidence=0.9).violated for _ in range(100))
    # 10 expected at most, with a standard deviation of 3; the bounds are in truth far more careful.
    assert exceeded <= 25


@pytest.mark.parametrize(
    "answer",
    [
        lambda bit: "yes" if bit else "no",
        lambda bit: b"yes" if bit else b"no",
        lambda bit: {"bits": [int(bit), 1]},
        lambda bit: {int(bit), 5},
        lambda bit: [int(bit), 1],
        lambda bit: np.array([[int(bit)], [4]]),
        lambda bit: np.array([0.5] * 100) + bit,
        lambda bit: np.array([int(bit), None], object),
        np.float32,
        lambda bit: Fraction(1, 2 + int(bit)),
        lambda bit: 10**400 + int(bit),
        lambda bit: math.nan if bit else 1.0,
        lambda bit: math.inf if bit else 1.0,
        lambda bit: None if bit else 1.0,
        lambda bit: np.zeros(2) if bit else np.zeros(3),
        lambda bit: [0] if bit else 0,
        lambda bit: object() if bit else 0,
        lambda bit: 1 / (1 - bit),
        lambda bit: "x" * (100 + int(bit)),
    ],
)
def test_answers_of_any_kind_are_told_apart_as_far_as_they_tell_the_tables_apart(answer: Any) -> None:
    found = measured(lambda truth: answer(told(truth)))
    assert 0.5 < found.lower_bound <= LOSS, str(found)


ROW_50_DIFFERS = [[*range(50), last, *range(51, 100)] for last in (50, 999)]


@pytest.mark.parametrize(
    "publish",
    [
        lambda rows: pd.DataFrame({"x": rows}),
        pd.Series,
        lambda rows: pd.DataFrame({"x": 1}, index=rows),
        lambda rows: pl.DataFrame({"x": rows}),
        lambda rows: pl.Series("x", rows),
        lambda rows: pa.table({"x": rows}),
        pa.array,
        lambda rows: {"table": pd.DataFrame({"x": rows}).astype(str)},
        lambda rows: Holder(tuple(rows)),
    ],
)
def test_a_table_that_is_published_as_it_is_loses_all_that_can_be_shown(publish: Any) -> None:
    found = am.audit.lower_bound(publish, *ROW_50_DIFFERS, epsilon=0.5, samples=200)
    assert found.lower_bound == found.largest, str(found)


class Holder:
    """An answer without words of its own: shown, it would tell where it lies in memory."""

    def __init__(self, held: Any) -> None:
        self.held = held


NUMPY = np.random.default_rng()


def small_noise(size: int | None = None) -> Any:
    return NUMPY.laplace(0, 0.01, size)


def fails_at_times(truth: int) -> Any:
    if random.random() < 1 / 700:
        raise ValueError
    return np.array([truth + small_noise(), 0.0])


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda truth: {"a": truth + small_noise(), "b": 0.0},
        lambda truth: {"a": {"b": [truth + small_noise()]}},
        lambda truth: [[truth + small_noise(), 0.0]],
        lambda truth: Decimal(truth + small_noise()),
        lambda truth: ("n", truth + small_noise()),
        lambda truth: complex(0, truth + small_noise()),
        lambda truth: np.array([truth + 1j * small_noise()]),
        lambda truth: np.array([(truth + small_noise(),)], [("a", float)]),
        lambda truth: pd.Series([truth + small_noise()]),
        lambda truth: pd.DataFrame({"n": [truth + small_noise()]}),
        lambda truth: pl.DataFrame({"n": [truth + small_noise()]}),
        lambda truth: pa.table({"n": [truth + small_noise()]}),
        lambda truth: Holder(truth + small_noise()),
        lambda truth: f"count={truth + small_noise()}",
        pytest.param(lambda truth: [truth + small_noise()] * 65, marks=pytest.mark.slow),
        pytest.param(lambda truth: truth + small_noise(65), marks=pytest.mark.slow),
        pytest.param(
            lambda truth: small_noise(5000) + truth * (np.arange(5000) == 4321), marks=pytest.mark.slow
        ),
        lambda truth: np.array([truth + small_noise()] * int(NUMPY.integers(1, 4))),
        lambda truth: [2**70 + 5 * truth + int(NUMPY.integers(3)), int(NUMPY.integers(10**9))],
        fails_at_times,
    ],
)
def test_noise_that_is_far_too_small_is_seen_in_whatever_it_is_wrapped(mechanism: Any) -> None:
    assert measured(mechanism, samples=1000).lower_bound > 3


@pytest.mark.slow
def test_a_difference_spread_over_many_numbers_is_seen_in_their_sums() -> None:
    # Each number alone is moved by a fifth of its noise's deviation, and all together by four of them.
    shift = np.where(np.arange(400) % 2, 0.2, -0.2)
    assert measured(lambda truth: NUMPY.normal(0, 10, 400) + 10 * truth * shift, samples=4000).violated


def test_answers_that_are_the_same_wherever_they_lie_in_memory_lose_nothing() -> None:
    def constant(rows: list[int]) -> Holder:
        held = [Holder(row) for row in rows]
        return Holder(len(held) * 0)

    found = am.audit.lower_bound(constant, [1] * 3, [1] * 4, epsilon=0.5, samples=200)
    assert (found.lower_bound, found.largest > 0) == (0, True)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda truth: (item for item in [truth]),
        lambda truth: lambda: truth,
        lambda truth: object(),
        lambda truth: "".join(chr(97 + value % 26) for value in os.urandom(32)),
    ],
)
def test_an_audit_that_can_see_nothing_of_the_answers_says_so(mechanism: Any) -> None:
    found = measured(mechanism)
    assert (found.violated, found.largest) == (False, 0)
    assert "this audit could see nothing of such answers" in str(found)
    assert "no violation found" not in str(found)


def test_what_is_looked_at_is_decided_before_the_answers_that_confirm() -> None:
    # One odd answer among those that confirm changed which events there were, and so the event.
    def names(odd: Any) -> list[str]:
        first, second = (
            [drawn(lambda truth: np.array([truth + small_noise(), 0.5]), truth) for _ in range(100)]
            for truth in (0, 1)
        )
        plan = LookPlan.of(first[:5], second[:5])
        first[-1] = drawn(odd, 0)
        one, other = ([plan.read(item) for item in side] for side in (first, second))
        return [name for name, *_ in plan.statistics(one, other, 20)]

    usual = names(lambda truth: np.zeros(2))
    assert "answer[0]" in usual
    for odd in (lambda truth: 1 / truth, lambda truth: "no", lambda truth: 7, lambda truth: np.ones(99)):
        assert names(odd) == usual


def test_an_error_is_an_answer_and_only_its_class_is_told() -> None:
    def fails(truth: int) -> int:
        if truth:
            raise ValueError("Alice has HIV")
        return 0

    found = measured(fails)
    assert found.violated
    assert "raises ValueError" in found.event or "answer = 0" in found.event
    assert "Alice" not in f"{found} {found!r} {found.to_dict()}"


def test_an_answer_that_only_one_table_gives_has_the_finite_bound_that_so_many_samples_show() -> None:
    found = measured(lambda truth: truth)
    assert found.lower_bound == found.largest < math.inf
    assert measured(lambda truth: truth, samples=4 * FEW).lower_bound > found.lower_bound + 1


def test_an_answer_that_never_changes_loses_nothing() -> None:
    assert measured(lambda truth: 7).lower_bound == 0
    assert measured(lambda truth: math.nan).lower_bound == 0
    assert measured(lambda truth: []).lower_bound == 0
    assert measured(lambda truth: object()).lower_bound == 0, "every answer is another one"


def test_one_sided_promises_are_measured_in_one_direction() -> None:
    # Shows a record with 0.3 where there is one: harmless from the first table, a disclosure from the second.
    def shown(records: int) -> int:
        return int(random.random() < 0.3 * records)

    assert measured(shown, one_sided=True).lower_bound <= -math.log(0.7)
    assert measured(shown).violated


def test_integer_noise_by_its_law_is_not_rejected_where_floats_are() -> None:
    noise, numpy = Noise.system(), np.random.default_rng()
    assert measured(lambda count: count + numpy.laplace(0, 2)).violated
    assert not measured(lambda count: count + noise.two_sided_geometric(Fraction(1, 2))).violated


def test_how_far_it_has_come_is_told_to_whoever_listens() -> None:
    said: list[tuple[int, int]] = []
    heard: list[tuple[str, int, int]] = []
    with listening(lambda *told: heard.append(told)):
        measured(told, progress=lambda done, total: said.append((done, total)))
    assert said[-1] == (5000, 5000)
    assert [number for _, number, _ in heard] == sorted(number for number, _ in said)
    assert len(said) == 100


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"mechanism": 7}, "mechanism"),
        ({"mechanism": lambda: 7}, "mechanism"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"samples": 0}, "samples"),
        ({"samples": FEWEST - 1}, "samples"),
        ({"samples": 1e6}, "samples"),
        ({"samples": True}, "samples"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
    ],
)
def test_what_cannot_be_measured_is_refused(options: dict[str, Any], field: str) -> None:
    mechanism = options.pop("mechanism", told)
    with pytest.raises(InputError) as refused:
        measured(mechanism, **options)
    assert refused.value.field == field
    assert refused.value.next_step


def test_a_claim_above_all_that_so_many_samples_can_show_is_refused() -> None:
    with pytest.raises(InputError, match="can show no loss above") as refused:
        measured(told, epsilon=5)
    enough = int(str(refused.value.next_step).split()[3].strip(",").replace(",", ""))
    assert measured(lambda truth: truth, epsilon=5, samples=enough).violated


def test_a_claim_that_no_number_of_samples_breaks_is_refused_without_advice_that_is_refused_too() -> None:
    with pytest.raises(InputError) as refused:
        measured(told, epsilon=50)
    assert refused.value.next_step == (
        "No number of samples that can be drawn shows more: give a smaller epsilon."
    )


def test_a_number_of_samples_may_come_from_an_array() -> None:
    assert measured(told, samples=np.int64(FEW)).samples == FEW


def test_an_interruption_is_not_an_answer() -> None:
    def interrupted(truth: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(interrupted)


class Slotted:
    """Holds a number, and no ``__dict__``."""

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        self.number = number


@pytest.mark.parametrize(
    "answered",
    [
        Slotted,
        ValueError,
        lambda number: Fraction(10**5000 + number, 3),
        lambda number: {"a": 0, "b": 0} if number else {"b": 0, "a": 0},
    ],
    ids=["slots", "error", "huge fraction", "order of a mapping"],
)
def test_what_an_answer_holds_is_found_wherever_it_hides(answered: Callable[[int], Any]) -> None:
    assert measured(lambda truth: answered(int(truth)), epsilon=1).violated


def test_parts_that_could_not_be_looked_into_are_named() -> None:
    found = measured(lambda truth: [told(truth), object(), told], epsilon=1.2)
    assert found.unseen == ("answer[1], a object", "answer[2], a function")
    assert "nor of what could not be looked into: answer[1], a object" in str(found)
    assert found.to_dict()["unseen"] == list(found.unseen)
    assert "looked into" not in str(measured(told, epsilon=1.2))

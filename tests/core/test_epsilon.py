# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.epsilon import LARGEST, LARGEST_TOTAL, NANO, to_fraction, to_nano, to_text
from anonymaly.errors import InputError

untimed = settings(deadline=None)

losses = st.integers(1, LARGEST)


@untimed
@given(losses)
def test_text_reads_back_as_the_same_loss(nano: int) -> None:
    assert to_nano(to_text(nano)) == nano


@untimed
@given(st.integers(1, 10**14))
def test_a_float_reads_as_what_was_typed(nano: int) -> None:
    assert to_nano(float(to_text(min(nano, LARGEST)))) == min(nano, LARGEST)


@untimed
@given(st.integers() | st.integers(0, 10**200) | st.integers(1, 5000).map(lambda power: 10**power + 1))
def test_text_is_exact_and_shortest_for_any_total(nano: int) -> None:
    text = to_text(nano)
    assert Fraction(Decimal(text)) == to_fraction(nano)
    assert not text.startswith(".")
    assert "." not in text or not text.endswith(("0", "."))
    assert "E" not in text


def test_text_of_known_losses() -> None:
    assert [to_text(nano) for nano in (0, 1, 10, 10**8, NANO, 120 * NANO, -(10**8), 10**30 + 1)] == [
        "0",
        "0.000000001",
        "0.00000001",
        "0.1",
        "1",
        "120",
        "-0.1",
        "1000000000000000000000.000000001",
    ]


def test_ten_times_a_tenth_is_one() -> None:
    assert sum(to_nano(0.1) for _ in range(10)) == to_nano(1) == NANO
    assert to_nano(0.1) + to_nano(0.2) == to_nano(0.3)


@pytest.mark.parametrize(
    ("value", "nano"),
    [
        (1, NANO),
        ("0.1", 10**8),
        (" 0.1 ", 10**8),
        ("+.5", 5 * 10**8),
        ("1e-9", 1),
        (1e-9, 1),
        (Decimal("0.100"), 10**8),
        (1000, LARGEST),
        ("1E3", LARGEST),
        (np.float64(0.1), 10**8),
        (np.int64(2), 2 * NANO),
        (2.5, 2_500_000_000),
    ],
)
def test_every_way_to_write_a_number_is_read(value: Any, nano: int) -> None:
    assert to_nano(value) == nano


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "finite"),
        (math.inf, "finite"),
        (-math.inf, "finite"),
        ("nan", "finite"),
        ("Infinity", "finite"),
        (Decimal("sNaN"), "finite"),
        (0, "positive"),
        (-0.0, "positive"),
        ("-1", "positive"),
        pytest.param(-(10**5000), "positive", id="very-negative"),
        (1001, "at most 1000"),
        ("1000.000000001", "at most 1000"),
        ("1e999999999", "at most 1000"),
        pytest.param(10**5000, "at most 1000", id="very-large"),
        (1e308, "at most 1000"),
        (Decimal("1e999999"), "at most 1000"),
        (0.1234567891, "nine decimals"),
        ("1e-10", "nine decimals"),
        ("1e-999999999", "nine decimals"),
        (5e-324, "nine decimals"),
        ("0.3333333333333333333333333333333333333333333333", "nine decimals"),
        ("", "must be a number"),
        ("ten", "must be a number"),
        ("0,1", "must be a number, got '0,1'"),
        ("1_0", "must be a number"),
        ("\u0661", "must be a number"),
        pytest.param("0" * 1_000_000, "must be a number", id="very-long"),
        (True, "must be a number, got bool"),
        (None, "must be a number, got NoneType"),
        ([0.1], "must be a number, got list"),
        (Fraction(1, 10), "must be a number, got Fraction"),
        (1j, "must be a number, got complex"),
        (np.bool_(True), "must be a number"),
    ],
)
def test_what_is_no_loss_is_refused_with_reason_and_next_step(value: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        to_nano(value, field="budget")
    assert refused.value.field == "budget"
    assert refused.value.next_step
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(("value", "offered"), [("0.1234567891", "0.123456789"), ("1e-12", "0.000000001")])
def test_too_many_decimals_come_with_a_number_that_is_accepted(value: str, offered: str) -> None:
    with pytest.raises(InputError) as refused:
        to_nano(value)
    assert str(refused.value).endswith(f"to {offered}.")
    assert to_nano(offered) > 0


@untimed
@given(losses)
def test_the_callers_decimal_context_changes_nothing(nano: int) -> None:
    with decimal.localcontext() as context:
        context.prec = 2
        assert to_nano(to_text(nano)) == nano


@untimed
@given(losses, losses)
def test_fractions_add_up_as_the_ledger_does(one: int, other: int) -> None:
    assert to_fraction(one) + to_fraction(other) == to_fraction(one + other)


def test_a_total_may_be_larger_than_any_single_loss() -> None:
    assert to_nano(5000, largest=LARGEST_TOTAL) == 5000 * NANO
    assert 2 * LARGEST_TOTAL < 2**63
    with pytest.raises(InputError, match="must be at most 1000000000, got 1000000001"):
        to_nano(10**9 + 1, largest=LARGEST_TOTAL)

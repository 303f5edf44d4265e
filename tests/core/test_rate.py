# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymaly
from anonymaly.core.epsilon import LARGEST, NANO
from anonymaly.core.rate import LARGEST_TERM, drawable, noise_rate, rounded_down, rows_moved
from anonymaly.errors import InputError
from anonymaly.noise.checks import read_rate

SHARES = st.integers(1, LARGEST)
# With both at their most a share of one billionth is still above 2^-56.
MOVES = st.integers(1, 2_000)
PARTS = st.integers(1, 30_000)
LONG = st.integers(0, 2**80)


@given(SHARES, MOVES, PARTS)
def test_all_parts_together_never_spend_more_than_the_share(share: int, moves: int, parts: int) -> None:
    assert 0 < noise_rate(share, moves=moves, parts=parts) * moves * parts <= Fraction(share, NANO)


@given(SHARES, MOVES, PARTS)
def test_a_quotient_that_can_be_drawn_with_is_the_rate(share: int, moves: int, parts: int) -> None:
    exact = Fraction(share, NANO * moves * parts)
    rate = noise_rate(share, moves=moves, parts=parts)
    if max(exact.numerator, exact.denominator) <= LARGEST_TERM:
        assert rate == exact
    else:
        assert exact - Fraction(1, LARGEST_TERM) < rate < exact


@given(SHARES, st.integers(1, 2**60), st.integers(1, 2**20))
def test_a_rate_can_always_be_drawn_with_or_is_refused_as_nothing(share: int, moves: int, parts: int) -> None:
    if Fraction(share, NANO * moves * parts) >= Fraction(1, LARGEST_TERM):
        read_rate(noise_rate(share, moves=moves, parts=parts))
        return
    with pytest.raises(InputError, match=r"epsilon: .* is too little to divide by") as refused:
        noise_rate(share, moves=moves, parts=parts)
    assert refused.value.next_step


@given(SHARES, SHARES, MOVES, MOVES, PARTS, PARTS)
def test_more_to_spend_is_a_higher_rate_and_more_to_divide_by_a_lower_one(
    share: int, more: int, moves: int, farther: int, parts: int, further: int
) -> None:
    least = noise_rate(min(share, more), moves=max(moves, farther), parts=max(parts, further))
    most = noise_rate(max(share, more), moves=min(moves, farther), parts=min(parts, further))
    assert least <= most


@given(LONG, st.integers(1, 2**80), st.integers(1, 60))
def test_rounding_finds_the_largest_fraction_that_is_not_above(number: int, of: int, largest: int) -> None:
    exact = Fraction(number, of)
    # For each denominator the largest numerator that fits, and the largest of these.
    best = max(
        Fraction(min(largest, exact.numerator * d // exact.denominator), d) for d in range(1, largest + 1)
    )
    assert rounded_down(exact, largest) == best


@given(LONG, st.integers(1, 2**80))
def test_rounding_again_changes_nothing(number: int, of: int) -> None:
    once = rounded_down(Fraction(number, of))
    assert rounded_down(once) == once <= Fraction(number, of)
    if once:
        assert drawable(Fraction(number, of)) == once


def test_a_part_of_a_rate_that_is_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="epsilon: is too small"):
        drawable(Fraction(1, 2**57))


def test_a_refusal_names_the_field_and_the_step_that_were_given() -> None:
    with pytest.raises(InputError, match=r"celsius.step: 0.000000001 is too little .* Give a coarser step\."):
        noise_rate(1, moves=2**40, field="celsius.step", next_step="Give a coarser step.")


@given(st.integers(1, 10**6))
def test_one_person_replaced_is_one_that_goes_and_one_that_comes(rows: int) -> None:
    assert rows_moved(rows, "replace") == 2 * rows_moved(rows, "add_remove") == 2 * rows


def test_no_question_and_no_stream_divides_a_charge_by_itself() -> None:
    root = Path(anonymaly.__file__).parent
    files = [path for name in ("questions", "stream") for path in (root / name).rglob("*.py")]
    assert len(files) > 50
    makers = re.compile(r"\b(NANO|to_fraction)\b")
    assert not [str(path) for path in files if makers.search(path.read_text(encoding="utf-8"))]

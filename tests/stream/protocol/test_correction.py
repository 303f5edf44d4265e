# SPDX-License-Identifier: Apache-2.0
"""The correction is Figure 2's, written out set by set, and says something in every case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anonymaly.stream.protocol.correction import Gap, missed_layers, split_suspects


def figure_two(
    ddiff: list[int], distance: list[int], suspects: set[int], width: int
) -> tuple[set[int], int | None, set[int], set[int], set[int]]:
    """Steps 3 to 5 as printed, but for the last of equal gaps and for the case without suspects."""
    everyone = set(range(len(ddiff)))
    inward = {i for i in everyone - suspects if ddiff[i] < 0}
    if not suspects:
        return set(), None, inward, set(), set()
    order = sorted(suspects, key=lambda i: ddiff[i])
    following = order[1:] + order[-1:]  # the paper: j_(k+1) = j_k behind the last
    gaps = [ddiff[after] - ddiff[before] for before, after in zip(order, following, strict=True)]
    t = max(range(len(order)), key=lambda k: (gaps[k], k))
    false = {i for i in suspects if ddiff[i] > ddiff[order[t]]}
    true = suspects - false
    d_tp = min(ddiff[i] for i in true)
    i2 = {i for i in everyone - suspects if distance[i] >= d_tp}
    i3 = {i for i in everyone - suspects if distance[i] >= d_tp + width}
    layer2 = {i for i in i2 if 0 <= ddiff[i] <= d_tp}
    layer3 = {i for i in i3 if d_tp <= ddiff[i] <= d_tp + width}
    return true, d_tp, inward, layer2, layer3


@st.composite
def windows(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    size = draw(st.integers(0, 14))
    small = st.integers(-6, 6)
    shifts = draw(arrays(np.int64, size, elements=small | st.integers(-1000, 1000)))
    distances = draw(arrays(np.int64, size, elements=st.integers(0, 40)))
    return shifts, distances, draw(arrays(np.bool_, size)), draw(st.integers(0, 10))


@settings(max_examples=500, deadline=None)
@given(windows())
def test_it_equals_the_figure_set_by_set(window: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    shifts, distances, suspects, width = window
    split = split_suspects(shifts, suspects, "any")
    near = far = np.zeros(len(shifts), np.bool_)
    if split.least is not None:
        near, far = ~suspects & (distances >= split.least), ~suspects & (distances >= split.least + width)
    layers = missed_layers(shifts, suspects, near, far, split.least, width)
    ours = (split.confirmed, layers.inward, layers.covered, layers.covered_far)
    true, d_tp, *printed = figure_two(
        shifts.tolist(), distances.tolist(), set(np.flatnonzero(suspects).tolist()), width
    )
    assert split.least == d_tp
    assert [set(np.flatnonzero(members).tolist()) for members in ours] == [true, *printed]


@settings(max_examples=300, deadline=None)
@given(windows())
def test_gaps_among_readings_that_moved_inward_divide_only_as_printed(
    window: tuple[np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    shifts, _, suspects, _ = window
    outward = split_suspects(shifts, suspects, "outward")
    assert not (suspects & ~outward.confirmed & (shifts <= 0)).any()  # nobody who moved inward is dropped
    assert outward.least == split_suspects(shifts, suspects, "any").least
    if not (suspects & (shifts < 0)).any():
        assert (outward.confirmed == split_suspects(shifts, suspects, "any").confirmed).all()


def test_one_suspect_that_moved_far_inward_does_not_make_all_others_false() -> None:
    shifts, suspects = np.array([-900, 3, 4, 5, 60, 9]), np.array([True] * 5 + [False])
    assert split_suspects(shifts, suspects, "any").confirmed.tolist() == [True] + [False] * 5
    assert split_suspects(shifts, suspects).confirmed.tolist() == [True, True, True, True, False, False]


@pytest.mark.parametrize("gap", ["outward", "any"])
@pytest.mark.parametrize(
    ("shifts", "suspects", "confirmed", "least"),
    [
        ([], [], [], None),
        ([-1, 2], [False, False], [False, False], None),
        ([7, 2], [True, False], [True, False], 7),
        ([-7, 2], [True, False], [True, False], -7),
        ([4, 4, 4], [True, True, True], [True, True, True], 4),
        ([1, 3, 5], [True, True, True], [True, True, False], 1),  # two equal gaps: the last one divides
        ([1, 1, 5, 5], [True, True, True, True], [True, True, False, False], 1),
    ],
)
def test_degenerate_windows(
    gap: Gap, shifts: list[int], suspects: list[bool], confirmed: list[bool], least: int | None
) -> None:
    split = split_suspects(np.array(shifts, np.int64), np.array(suspects, np.bool_), gap)
    assert split.confirmed.tolist() == confirmed
    assert split.least == least

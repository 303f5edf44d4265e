# SPDX-License-Identifier: Apache-2.0
"""Contexts are numbered as stated; populations and overlaps are counts of records."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.questions.explain.kernels.order import order_of
from anonymaly.questions.explain.kernels.populations import overlaps, populations
from anonymaly.questions.explain.space import ContextSpace
from tests.questions.explain import naive


@settings(deadline=None)
@given(naive.tables())
def test_indices_and_masks_are_each_others_inverse(table: naive.Table) -> None:
    space = table.space
    seen = {space.masks(index) for index in range(space.size)}
    assert len(seen) == space.size == 2 ** (sum(space.sizes) - len(space.sizes))
    for index in range(space.size):
        masks = space.masks(index)
        assert space.index(masks) == index
        expected = 0
        for size, own, mask in zip(space.sizes, space.own, masks, strict=True):
            assert mask >> own & 1
            bits = [mask >> value & 1 for value in range(size) if value != own]
            expected = expected << (size - 1) | sum(bit << place for place, bit in enumerate(bits))
        assert expected == index
        near = list(space.neighbours(index))
        assert len(set(near)) == space.free_bits
        changed = [
            sum((a ^ b).bit_count() for a, b in zip(masks, space.masks(other), strict=True)) for other in near
        ]
        assert changed == [1] * len(near)


@settings(deadline=None)
@given(naive.tables(), st.data())
def test_populations_and_overlaps_count_records(table: naive.Table, data: st.DataObject) -> None:
    space = table.space
    counts = table.counts()
    assert populations(space, counts).tolist() == [
        len(table.in_context(index)[0]) for index in range(space.size)
    ]
    given_masks = tuple(data.draw(st.integers(0, 2**size - 1)) for size in space.sizes)
    digits = np.stack(np.unravel_index(table.cells, space.sizes), axis=1)

    def inside(masks: tuple[int, ...]) -> np.ndarray:
        return np.all([(mask >> digits[:, place]) & 1 for place, mask in enumerate(masks)], axis=0)

    assert overlaps(space, counts, given_masks).tolist() == [
        int((inside(given_masks) & inside(space.masks(index))).sum()) for index in range(space.size)
    ]


@pytest.mark.parametrize("sizes", [(1,), (1, 1, 1), (12,), (2, 11, 1), (10, 2), (2, 2, 2, 2, 2, 2), (20,)])
@pytest.mark.parametrize("natural", [False, True])
def test_an_order_of_work_meets_every_context_once_and_adds_up_its_cells(
    sizes: tuple[int, ...], natural: bool
) -> None:
    generator = np.random.default_rng(math.prod(sizes))
    space = ContextSpace(sizes, tuple(int(generator.integers(size)) for size in sizes))
    order = order_of(space, natural)
    choices = np.arange(1 << order.inner.bits)
    indices = (order.prefix_bases[:, None] | choices << order.inner.shift).ravel()
    assert np.array_equal(np.sort(indices), np.arange(space.size))
    cells = generator.integers(1, 100, space.cells)
    table = order.prefix_table(cells, np.add)
    chosen = np.hstack([np.ones((len(choices), 1), int), choices[:, None] >> np.arange(order.inner.bits) & 1])
    some = generator.integers(0, space.size, 500)
    assert np.array_equal((table @ chosen.T).ravel()[np.argsort(indices)][some], space.members(some) @ cells)


def test_a_space_that_cannot_be_is_refused() -> None:
    for sizes, own in [((), ()), ((2,) * 7, (0,) * 7), ((2,), (2,)), ((2, 2), (0,)), ((32, 33), (0, 0))]:
        with pytest.raises(ValueError, match=r"attributes|own value|free values"):
            ContextSpace(sizes, own)
    space = ContextSpace((3,), (1,))
    with pytest.raises(IndexError, match="no context"):
        space.masks(4)
    with pytest.raises(ValueError, match="does not choose"):
        space.index((0b101,))
    with pytest.raises(IndexError, match="not all indices"):
        space.members([4])
    with pytest.raises(ValueError, match="as many counts"):
        populations(space, [1, 2])
    with pytest.raises(ValueError, match="chooses among"):
        overlaps(space, [1, 2, 3], (0b1000,))

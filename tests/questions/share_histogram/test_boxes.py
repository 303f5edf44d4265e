# SPDX-License-Identifier: Apache-2.0
"""Smoothing of several columns: the cheapest partition into boxes, whatever the order of columns."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import exp, log

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymaly.core.arrays import Integers
from anonymaly.noise import Noise
from anonymaly.questions.share_histogram.kernels.boxes import (
    LARGEST,
    cheapest_boxes,
    smooth_boxes,
    three_sizes,
)
from anonymaly.questions.share_histogram.kernels.pieces import BEGIN, END, LEFT, PLACES, RIGHT, cut
from anonymaly.questions.share_histogram.kernels.smoothing import smooth, smooth_part
from anonymaly.questions.share_histogram.methods import METHODS
from anonymaly.questions.share_histogram.methods.method import Facts
from anonymaly.questions.share_histogram.methods.prices import LEAST_LEVEL, ZEROS_PRICE, run_price
from tests.questions.share_histogram.laws import Law, law

Span = tuple[int, int]
SHAPES = st.lists(st.integers(1, 6), min_size=2, max_size=3)


def numbers(shape: list[int], seed: int, most: int = 40) -> Integers:
    """Blocks of one level, zeros and lone counts, with noise."""
    generator = np.random.default_rng(seed)
    counts = np.zeros(shape, np.int64)
    block = tuple(slice(0, int(generator.integers(0, size + 1))) for size in shape)
    counts[block] = generator.integers(0, most)
    counts += generator.integers(0, most, shape) * (generator.random(shape) < 0.2)
    return counts + generator.integers(-3, 4, shape)


def halves(span: Span, moved: int) -> list[Span]:
    """The pieces that a piece is cut into: at the multiple of the greatest power of 2 that lies inside."""
    begin, end = span[0] + moved, span[1] + moved
    length = 1 << (end - 1).bit_length()
    while (end - 1) // length == begin // length:
        length //= 2
    middle = (end - 1) // length * length
    return [(begin - moved, middle - moved), (middle - moved, end - moved)]


def naive_cost(counts: Integers, rate: Fraction, place: int, plain_price: float | None) -> float:
    """The cost of the cheapest of all ways to cut, found by trying each of them, with nothing prepared."""
    speed, price = float(rate), run_price(counts.size, float(rate))
    moved = [(place << (size - 1).bit_length()) // PLACES for size in counts.shape]

    def scale(span: Span, moved: int) -> int:
        # The length of the shortest aligned piece that holds the span; spans at the ends are shorter than it.
        length = 1
        while (span[0] + moved) // length != (span[1] + moved - 1) // length:
            length *= 2
        return length

    @cache
    def cheapest(box: tuple[Span, ...]) -> float:
        inside = counts[tuple(slice(*span) for span in box)].ravel()
        found = [speed * np.abs(inside).sum() + ZEROS_PRICE * log(counts.size)]
        level = np.sort(inside)[(len(inside) - 1) // 2]
        size = np.prod([scale(span, by) for span, by in zip(box, moved, strict=True)])
        if level > 0 and size <= LARGEST:
            apart = speed * np.abs(inside - level).sum()
            plain = speed * np.abs(inside).sum() >= apart + price
            own = min(price, plain_price) if plain and plain_price is not None else price
            found.append(apart + own)
        for axis, span in enumerate(box):
            if span[1] - span[0] > 1:
                cuts = halves(span, moved[axis])
                found.append(sum(cheapest((*box[:axis], half, *box[axis + 1 :])) for half in cuts))
        return float(min(found))

    return cheapest(tuple((0, size) for size in counts.shape))


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 10**6), st.sampled_from([None, 1.0]), st.sampled_from([1, Fraction(1, 5)]))
def test_no_way_to_cut_is_cheaper(shape: list[int], seed: int, plain: float | None, rate: Fraction) -> None:
    counts = numbers(shape, seed)
    found = cheapest_boxes(counts.ravel(), counts.shape, Fraction(rate), plain_price=plain)
    for place, partition in enumerate(found):
        assert partition.cost == pytest.approx(naive_cost(counts, Fraction(rate), place, plain))


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.integers(0, 10**6))
def test_every_level_is_zero_or_a_released_count_that_noise_does_not_hide(
    shape: list[int], seed: int
) -> None:
    counts = numbers(shape, seed)
    found = smooth_boxes(counts.ravel(), counts.shape, Fraction(1))
    assert found.dtype == counts.dtype
    assert set(found.tolist()) <= {0, *(n for n in counts.ravel().tolist() if n >= LEAST_LEVEL)}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 100])
@pytest.mark.parametrize("place", range(PLACES))
def test_pieces_of_a_length_follow_each_other_and_are_made_of_their_halves(size: int, place: int) -> None:
    pieces = cut(size, place)
    table = pieces.table
    assert not table[0].any()
    assert table[-1, :2].tolist() == [0, size]
    for length, (first, last) in enumerate(zip(pieces.starts, pieces.starts[1:], strict=False)):
        begins, ends = table[first:last, BEGIN], table[first:last, END]
        assert [0, *ends] == [*begins, size]
        assert ((ends - begins <= 1 << length) & (ends > begins)).all()
        for piece in table[first:last] if length else ():
            cells = [c for half in (LEFT, RIGHT) for c in range(*table[piece[half], : END + 1])]
            assert cells == list(range(piece[BEGIN], piece[END]))


@pytest.mark.parametrize("size", [4, 7, 64, 100])
def test_any_two_neighbours_are_soon_together_in_one_of_the_places(size: int) -> None:
    for cell in range(size - 1):
        shortest = [
            min(end - begin for begin, end in cut(size, place).table[1:, :2] if begin <= cell < end - 1)
            for place in range(PLACES)
        ]
        assert min(shortest) <= 4


def noisy(counts: npt.NDArray[np.int64], rate: Fraction, seed: int) -> Integers:
    return Noise.seeded(seed).add_two_sided_geometric(counts.ravel(), rate).reshape(counts.shape)


@pytest.mark.parametrize("shape", [(12, 30), (5, 1, 7), (4, 9, 10)])
def test_the_order_of_columns_changes_no_cost(shape: tuple[int, ...]) -> None:
    released = noisy(np.abs(numbers(list(shape), 3, 90)), Fraction(1, 2), 1)
    costs = [
        [each.cost for each in cheapest_boxes(turned.ravel(), turned.shape, Fraction(1, 2))]
        for turned in (released.transpose(order) for order in permutations(range(len(shape))))
    ]
    for other in costs:
        assert other == pytest.approx(costs[0])


@pytest.mark.parametrize("across", [True, False])
def test_stripes_are_found_along_either_column(across: bool) -> None:
    # In one row, stripes along the last column are runs, and along the first they are single cells.
    counts = np.zeros((48, 48), np.int64)
    counts[:, [5, 20, 21, 40]] = 25
    counts = counts if across else counts.T
    flat, boxes = [], []
    for seed in range(5):
        released = noisy(counts, Fraction(1, 4), seed).ravel()
        flat.append(np.abs(smooth(released, Fraction(1, 4)) - counts.ravel()).sum())
        boxes.append(np.abs(smooth(released, Fraction(1, 4), shape=(48, 48)) - counts.ravel()).sum())
    assert np.mean(boxes) < 0.1 * counts.sum()
    if across:
        assert np.mean(boxes) < 0.5 * np.mean(flat)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-5, 60), min_size=1, max_size=40), st.integers(0, 2))
def test_one_column_is_smoothed_as_before(row: list[int], ones: int) -> None:
    released = np.array(row)
    shape = (1,) * ones + (len(row),) + (1,) * (2 - ones)
    for plain in (None, 1.0):
        assert (smooth(released, Fraction(1, 2), shape=shape, plain_price=plain)
                == smooth(released, Fraction(1, 2), plain_price=plain)).all()  # fmt: skip


def test_more_than_three_columns_are_taken_for_three() -> None:
    assert three_sizes((3, 1, 4, 5, 6)) == (3, 4, 30)
    counts = numbers([3, 4, 5, 2], 8)
    found = smooth(counts.ravel(), Fraction(1), shape=counts.shape)
    assert (found == smooth(counts.ravel(), Fraction(1), shape=(3, 4, 10))).all()


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 3, 1), (2, 2, 2), (3, 5), (17, 33), (1, 70, 3)])
def test_any_shape_is_fine(shape: tuple[int, ...]) -> None:
    counts = np.full(shape, 500)
    assert (smooth(counts.ravel(), Fraction(1), shape=shape) == 500).all()
    assert not smooth(counts.ravel() * 0 - 2, Fraction(1), shape=shape).any()


def test_large_numbers_stay_exact() -> None:
    counts = np.full((6, 6), 2**60 + 1)  # whose sum is beyond 64 bits
    assert (smooth(counts.ravel(), Fraction(1, 10**6), shape=(6, 6)) == 2**60 + 1).all()


def test_a_part_that_is_a_table_of_its_own_is_smoothed_as_one() -> None:
    counts = numbers([6, 5], 11)
    part = np.zeros((6, 5), bool)
    part[np.ix_([0, 2, 5], [1, 2, 4])] = True
    released = np.where(part, counts, 0)
    found = smooth_part(released.ravel(), part.ravel(), Fraction(1), shape=(6, 5)).reshape(6, 5)
    own = released[np.ix_([0, 2, 5], [1, 2, 4])]
    assert (found[part] == smooth(own.ravel(), Fraction(1), shape=(3, 3))).all()
    assert not found[~part].any()


def test_nothing_outside_of_a_part_gets_a_level() -> None:
    part = np.ones((8, 8), bool)
    part[:3, :3] = False
    released = np.where(part, 90, 0)
    found = smooth_part(released.ravel(), part.ravel(), Fraction(1), shape=(8, 8)).reshape(8, 8)
    assert (found == released).all()


@pytest.mark.parametrize("name", ["smoothed", "hybrid", "auto"])
def test_methods_that_smooth_know_the_columns(name: str) -> None:
    # Noise takes the same numbers from the generator, whatever the shape: only what is done after it differs.
    every = np.zeros((40, 40), np.int64)
    every[:, 10:12] = 15
    method, errors = METHODS[name], {}
    rates = method.rates(5 * 10**8, adjacency="add_remove", bins=every.size)
    for shape in ((1600,), (40, 40)):
        found = [
            method.views(
                every.ravel(), 0 * every.ravel(), rates=rates, noise=Noise.seeded(seed), facts=Facts(shape)
            ).cells
            for seed in range(5)
        ]
        errors[shape] = np.mean([np.abs(cells - every.ravel()).sum() for cells in found])
    assert errors[(40, 40)] < 0.9 * errors[(1600,)]


def test_boxes_look_at_nothing_but_what_was_released() -> None:
    every = np.abs(numbers([12, 20], 4)).ravel()
    rates = METHODS["smoothed"].rates(10**9, adjacency="add_remove", bins=240)
    facts = Facts((12, 20))
    released, found = (
        METHODS[name].views(every, every, rates=rates, noise=Noise.seeded(7), facts=facts).cells
        for name in ("geometric", "smoothed")
    )
    assert found.any()
    assert (found == smooth(released, rates["two_sided"], shape=(12, 20))).all()


def test_no_output_of_two_columns_is_likelier_than_promised() -> None:
    epsilon, method = 9, METHODS["smoothed"]
    rates = method.rates(epsilon * 10**9, adjacency="add_remove", bins=4)

    def releases(counts: list[int]) -> Law:
        return law(
            lambda noise: method.views(counts, counts, rates=rates, noise=noise, facts=Facts((2, 2))).cells
        )

    first, second = releases([3, 0, 1, 2]), releases([3, 0, 2, 2])
    for one, other in ((first, second), (second, first)):
        assert sum(one.values()) == pytest.approx(1, abs=5e-4)
        for output, mass in one.items():
            assert mass - exp(epsilon) * other.get(output, 0.0) <= 5e-4


def test_the_same_numbers_give_the_same_levels() -> None:
    released = noisy(np.abs(numbers([30, 30], 5)), Fraction(1, 3), 2).ravel()
    first = smooth(released, Fraction(1, 3), shape=(30, 30))
    before = released.copy()
    assert (smooth(released, Fraction(1, 3), shape=(30, 30)) == first).all()
    assert (released == before).all()


def test_levels_of_a_partition_are_boxes() -> None:
    counts = np.zeros((8, 8), np.int64)
    counts[2:4, 4:8] = 50
    for partition, (x, y) in product(
        cheapest_boxes(counts.ravel(), (8, 8), Fraction(1)), product(range(8), repeat=2)
    ):
        assert partition.levels.reshape(8, 8)[x, y] == counts[x, y]

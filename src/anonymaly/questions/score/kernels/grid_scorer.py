# SPDX-License-Identifier: Apache-2.0
"""The function that scores points by released cells, on all cores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anonymaly.core.arrays import Floats, Integers, Words64
from anonymaly.core.threads import equal_ranges, in_threads
from anonymaly.noise.chacha import check, open_stream
from anonymaly.noise.geometric import geometric_table
from anonymaly.questions.score.kernels.grid import Cells, score_points
from anonymaly.questions.score.kernels.shells import Rule, make_tally
from anonymaly.questions.score.kernels.walk import make_arena
from anonymaly.questions.score.methods.lattice import Ranks, axes_in_32_bits
from anonymaly.questions.score.methods.method import Body, Scorer

HELD_VISITS = 2**10  # of a held model's walk, which then counts as having run out
MOST_VISITS = 2**14
# The number of a scan's coordinates that are added up in the time of one visit.
VISIT = 300
FEWEST_POINTS = 256  # for a thread of their own


def multipliers(dimensions: int) -> Words64:
    """Return an odd constant for each axis; a cell's hash is a sum of their multiples."""
    # Steps of the golden ratio's fraction, mixed as in SplitMix64: fixed, and without small relations.
    words = np.arange(1, dimensions + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words | np.uint64(1)


def make_slots(cells: Ranks, factors: Words64) -> Integers:
    """Return a table of rows by hash: twice as many slots as cells, at least."""
    length = 1 << max(4, (2 * len(cells)).bit_length())
    slots = np.full(length, -1, np.int64)
    hashed = (cells.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
    first = (hashed ^ (hashed >> np.uint64(29))) & np.uint64(length - 1)
    waiting = np.arange(len(cells))
    places = first.astype(np.int64)
    while len(waiting):
        # Of several that want one free slot the last written gets it; the others try the next.
        free = slots[places] < 0
        slots[places[free]] = waiting[free]
        settled = slots[places] == waiting
        waiting, places = waiting[~settled], (places[~settled] + 1) & (length - 1)
    return slots


def make_scorer(body: Body, rule: Rule, rate: Fraction, *, held: bool) -> Scorer:
    """Return the function from points to scores."""
    coordinates = np.ascontiguousarray(body["cells"], np.uint16)
    columns, dimensions = np.ascontiguousarray(coordinates.T), coordinates.shape[1]
    factors = multipliers(dimensions)
    counts = np.ascontiguousarray(body["counts"], np.int64)
    slots = make_slots(coordinates, factors)
    # A published model draws nothing, so the rate in its file is not read.
    drawn = rate if held else Fraction(1)
    table = geometric_table(drawn.numerator, drawn.denominator)
    key = body["key"].tobytes() if held else bytes(32)
    # Once a walk has cost as much as a scan, the scan takes over: no more than twice the scan's time in all.
    visits = HELD_VISITS if held else min(MOST_VISITS, len(counts) * dimensions // VISIT)

    def work(points: Floats, output: Floats) -> None:
        packed = axes_in_32_bits(rule.width)
        cells = Cells(coordinates, columns, counts, slots, held, open_stream(key), table, packed)
        arena = make_arena(factors, rule.width, visits)
        score_points(points, cells, rule, visits, arena, make_tally(len(counts)), output)
        check(cells.stream)

    def score(points: Floats) -> Floats:
        output = np.empty(len(points))
        parts = equal_ranges(len(points), FEWEST_POINTS)
        in_threads(lambda part: work(points[slice(*part)], output[slice(*part)]), parts)
        return output

    return score

# SPDX-License-Identifier: Apache-2.0
"""How many records each context holds: sums over subsets of base cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.compiled import compiled
from anonymaly.questions.explain.kernels.order import order_of
from anonymaly.questions.explain.space import ContextSpace


def populations(space: ContextSpace, counts: npt.ArrayLike) -> Integers:
    """Return how many records each context holds, the record itself included.

    Parameters
    ----------
    space
        The contexts.
    counts
        How many other records each base cell holds.

    Examples
    --------
    >>> populations(ContextSpace((2, 2), (0, 0)), [5, 4, 3, 2]).tolist()
    [6, 10, 9, 15]
    """
    order = order_of(space, natural=True)
    given = np.asarray(counts, dtype=np.int64)
    if given.shape != (space.cells,):
        raise ValueError(f"{space.cells} base cells need as many counts, not {given.shape}")
    return order.full_table(given, np.add) + 1


@compiled
def sums_at(
    contexts: Integers, cell_bits: Integers, values: npt.NDArray[Any], sums: npt.NDArray[Any]
) -> None:
    """Add up the values of all base cells that each context holds."""
    # 0.4 µs for 576 cells, where a product of a Boolean and an integer matrix takes 5.
    for number in range(len(contexts)):
        missing = ~contexts[number]
        for cell in range(len(cell_bits)):
            if cell_bits[cell] & missing == 0:
                sums[number] += values[cell]


def totals(space: ContextSpace, contexts: npt.ArrayLike, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return for each of a few contexts the sum over the base cells that it holds.

    Examples
    --------
    >>> totals(ContextSpace((2, 2), (0, 0)), [1, 2], np.array([5, 4, 3, 2])).tolist()
    [9, 8]
    """
    chosen = space.checked(contexts)
    found = np.zeros(len(chosen), dtype=values.dtype)
    sums_at(chosen, space.cell_bits, values, found)
    return found


def overlaps(space: ContextSpace, counts: npt.ArrayLike, masks: Sequence[int]) -> Integers:
    """Return how many records each context shares with a given one.

    The given context need not contain the record; the record is counted where both do.

    Examples
    --------
    >>> overlaps(ContextSpace((2, 2), (0, 0)), [5, 4, 3, 2], masks=(0b10, 0b11)).tolist()
    [0, 0, 3, 5]
    """
    inside = np.ones(space.cells, dtype=np.bool_)
    for attribute, (size, mask) in enumerate(zip(space.sizes, masks, strict=True)):
        if not 0 <= mask < 1 << size:
            raise ValueError(f"{mask:b} chooses among more than {size} values")
        inside &= (mask >> space.digits[:, attribute]) & 1 == 1
    holds_record = all(mask >> own & 1 for own, mask in zip(space.own, masks, strict=True))
    shared = populations(space, np.where(inside, np.asarray(counts, dtype=np.int64), 0))
    return shared if holds_record else shared - 1

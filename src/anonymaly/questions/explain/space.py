# SPDX-License-Identifier: Apache-2.0
"""The contexts that contain a record, by number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

MOST_ATTRIBUTES = 6
MOST_FREE_BITS = 62  # a context's number fits in 64 bits


@dataclass(frozen=True)
class ContextSpace:
    """All contexts that contain a record: of each attribute the record's own value and any of the others.

    An attribute of s values leaves s−1 free bits, one for each other value in order. A context's index is
    these bits end to end, the first attribute in the highest.

    Parameters
    ----------
    sizes
        The number of values of each attribute.
    own
        Which of them is the record's.

    Examples
    --------
    >>> space = ContextSpace(sizes=(3, 2), own=(1, 0))
    >>> space.free_bits, space.size, space.cells
    (3, 8, 6)
    >>> space.own_cell
    2
    >>> [bin(mask) for mask in space.masks(5)]
    ['0b110', '0b11']
    >>> space.index((0b110, 0b11))
    5
    >>> list(space.neighbours(5))
    [4, 7, 1]
    """

    sizes: tuple[int, ...]
    own: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(int(size) for size in self.sizes))
        object.__setattr__(self, "own", tuple(int(own) for own in self.own))
        if not 1 <= len(self.sizes) <= MOST_ATTRIBUTES:
            raise ValueError(f"a context needs 1 to {MOST_ATTRIBUTES} attributes, not {len(self.sizes)}")
        if len(self.own) != len(self.sizes):
            raise ValueError("each attribute needs the record's own value")
        if not all(0 <= own < size for own, size in zip(self.own, self.sizes, strict=True)):
            raise ValueError(f"the own values {self.own} are not all among {self.sizes}")
        if self.free_bits > MOST_FREE_BITS:
            raise ValueError(f"{self.free_bits} free values are more than {MOST_FREE_BITS}")

    @cached_property
    def free_bits(self) -> int:
        """How many values may be chosen or not."""
        return sum(self.sizes) - len(self.sizes)

    @cached_property
    def size(self) -> int:
        """How many contexts there are."""
        return 1 << self.free_bits

    @cached_property
    def cells(self) -> int:
        """How many base cells there are: combinations of one value of each attribute."""
        return math.prod(self.sizes)

    @cached_property
    def own_cell(self) -> int:
        """The record's base cell."""
        return int(np.ravel_multi_index(self.own, self.sizes))

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        """Where each attribute's free bits begin in an index."""
        shifts = []
        shift = self.free_bits
        for size in self.sizes:
            shift -= size - 1
            shifts.append(shift)
        return tuple(shifts)

    @cached_property
    def digits(self) -> npt.NDArray[np.int64]:
        """The value of each attribute in each base cell, one row for each cell."""
        return np.stack(np.unravel_index(np.arange(self.cells), self.sizes), axis=1).astype(np.int64)

    @cached_property
    def cell_bits(self) -> npt.NDArray[np.int64]:
        """The free bits that a context must have to hold each base cell."""
        bits = np.zeros(self.cells, dtype=np.int64)
        for attribute, (own, shift) in enumerate(zip(self.own, self.shifts, strict=True)):
            values = self.digits[:, attribute]
            # The own value has no bit; the others are numbered as if it were left out.
            bits |= np.where(values == own, 0, np.int64(1) << np.maximum(0, values - (values > own)) << shift)
        return bits

    def masks(self, index: int) -> tuple[int, ...]:
        """Return a context's chosen values, one bit each, the record's own included."""
        if not 0 <= index < self.size:
            raise IndexError(f"there is no context {index} among {self.size}")
        masks = []
        for size, own, shift in zip(self.sizes, self.own, self.shifts, strict=True):
            free = (int(index) >> shift) & ((1 << (size - 1)) - 1)
            low = free & ((1 << own) - 1)
            masks.append(low | 1 << own | (free ^ low) << 1)
        return tuple(masks)

    def index(self, masks: Sequence[int]) -> int:
        """Return the index of the context with these chosen values."""
        index = 0
        for size, own, mask in zip(self.sizes, self.own, masks, strict=True):
            if not 0 <= mask < 1 << size or not mask >> own & 1:
                raise ValueError(f"{mask:b} does not choose value {own} among {size}")
            low = mask & ((1 << own) - 1)
            index = index << (size - 1) | low | mask >> (own + 1) << own
        return index

    def index_of_bits(self, bits: str) -> int:
        """Return the index of the context whose bits, attribute by attribute, are written so.

        Examples
        --------
        >>> space = ContextSpace((3, 2), (0, 0))
        >>> space.index_of_bits("10111"), space.masks(5)
        (5, (5, 3))
        """
        masks = []
        for size in self.sizes:
            masks.append(int(bits[:size][::-1], 2))
            bits = bits[size:]
        return self.index(masks)

    def neighbours(self, index: int) -> Iterator[int]:
        """Yield the contexts with one value more or less, from the lowest bit to the highest."""
        for bit in range(self.free_bits):
            yield index ^ 1 << bit

    def checked(self, indices: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return one or several indices as an array, refusing those of no context."""
        chosen = np.atleast_1d(np.asarray(indices, dtype=np.int64))
        if len(chosen) and not (chosen.min() >= 0 and chosen.max() < self.size):
            raise IndexError(f"not all indices are among {self.size} contexts")
        return chosen

    def members(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return which base cells each context holds: one row for each context. Meant for a few contexts.

        Examples
        --------
        >>> ContextSpace((2, 2), (0, 0)).members([1]).tolist()
        [[True, True, False, False]]
        """
        inside: npt.NDArray[np.bool_] = (self.cell_bits & ~self.checked(indices)[:, None]) == 0
        return inside

# SPDX-License-Identifier: Apache-2.0
"""The order in which kernels go through all contexts, so that neighbouring contexts share their work.

Free bits are decided field by field (an attribute, or a part of a large one). Once a field is decided its
chosen values behave as the record's own value does, so base cells fall into fewer and fewer classes: a
summary for each class, made once for each choice of the fields so far, serves all choices of the later ones.
The choices of all but the last field are a prefix; a kernel takes a range of prefixes and, within each, goes
through the last field's choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymaly.core.arrays import Integers
from anonymaly.core.threads import equal_ranges, in_threads
from anonymaly.questions.explain.kernels.kernel import Progress
from anonymaly.questions.explain.space import ContextSpace

MOST_FIELD_BITS = 8
CHUNKS = 128  # progress is reported after each
FEW = 256  # contexts, judged one by one, from which a thread pays
SMALL = 1 << 12  # contexts up to which a thread does not pay


@dataclass(frozen=True)
class BitField:
    """Free bits that are decided together.

    Attributes
    ----------
    shift, bits
        Where they lie in a context's index.
    slots
        For each class before: 0 if the field does not decide it, 1 + the number of its bit if it does.
    merged
        For each class before: its class once the field is decided.
    classes
        How many classes there are before.
    """

    shift: int
    bits: int
    slots: Integers
    merged: Integers
    classes: int


class OrderArrays(NamedTuple):
    """An order of work as a compiled kernel takes it; all but ``bases`` have a row for each field."""

    bases: Integers  # the index of each prefix's first context
    bits: Integers
    classes: Integers  # before the field
    slots: Integers  # of each class; padded
    merged: Integers  # class of each class after the field; padded


@dataclass(frozen=True)
class Order:
    """Fields in order; base cells are the classes before the first, in the order `first_classes`."""

    fields: tuple[BitField, ...]
    first_classes: Integers

    @property
    def prefixes(self) -> int:
        """How many choices all fields but the last have together."""
        return 1 << sum(field.bits for field in self.fields[:-1])

    @property
    def inner(self) -> BitField:
        """The last field. Its classes are numbered as its slots are."""
        return self.fields[-1]

    @cached_property
    def prefix_bases(self) -> Integers:
        """The index of each prefix's first context."""
        bases = np.zeros(1, dtype=np.int64)
        for field in self.fields[:-1]:
            choices = np.arange(1 << field.bits, dtype=np.int64) << field.shift
            bases = (bases[:, None] | choices).ravel()
        return bases

    def prefix_table(self, cells: npt.NDArray[Any], operation: np.ufunc) -> npt.NDArray[Any]:
        """Return for each prefix the cells' numbers put together, a column for each slot of the last field.

        With addition these are subset sums; minimum and maximum of numbers around 0 give ranges. Each further
        free value doubles the rows by one vector operation.
        """
        return self._combined(cells, operation, self.fields[:-1], self.inner.classes)

    def full_table(self, cells: npt.NDArray[Any], operation: np.ufunc) -> npt.NDArray[Any]:
        """Return the same for each choice of all fields, in their order."""
        return self._combined(cells, operation, self.fields, 1).ravel()

    def _combined(
        self, cells: npt.NDArray[Any], operation: np.ufunc, fields: tuple[BitField, ...], columns: int
    ) -> npt.NDArray[Any]:
        table = np.zeros((1, self.fields[0].classes), dtype=cells.dtype)
        table[0, self.first_classes] = cells
        for level, field in enumerate(fields):
            after = fields[level + 1].classes if level + 1 < len(fields) else columns
            grown = np.empty((len(table), 1 << field.bits, after), dtype=table.dtype)
            for slot in range(field.bits + 1):
                # 0 is neutral for all three operations.
                part = np.zeros((len(table), after), dtype=table.dtype)
                for number in np.flatnonzero(field.slots == slot):
                    target = field.merged[number]
                    part[:, target] = operation(part[:, target], table[:, number])
                if slot == 0:
                    grown[:, 0] = part
                else:
                    half = 1 << (slot - 1)
                    operation(grown[:, :half], part[:, None], out=grown[:, half : 2 * half])
            table = grown.reshape(-1, after)
        return table

    @cached_property
    def arrays(self) -> OrderArrays:
        """The same as arrays for a compiled kernel."""
        widest = max(field.classes for field in self.fields)
        slots = np.zeros((len(self.fields), widest), dtype=np.int64)
        merged = np.zeros((len(self.fields), widest), dtype=np.int64)
        for level, field in enumerate(self.fields):
            slots[level, : field.classes] = field.slots
            merged[level, : field.classes] = field.merged
        return OrderArrays(
            bases=self.prefix_bases,
            bits=np.array([field.bits for field in self.fields], dtype=np.int64),
            classes=np.array([field.classes for field in self.fields], dtype=np.int64),
            slots=slots,
            merged=merged,
        )


@lru_cache(maxsize=8)
def order_of(space: ContextSpace, natural: bool = False) -> Order:
    """Return the order of work: large attributes last, whose many choices then share a prefix.

    In natural order, attribute by attribute, prefixes and choices count up to the context's index itself.

    Examples
    --------
    >>> order = order_of(ContextSpace((9, 8, 8), (0, 0, 0)))
    >>> [(field.shift, field.bits, field.classes) for field in order.fields]
    [(7, 7, 576), (0, 7, 72), (14, 8, 9)]
    """
    parts: list[tuple[int, int, int]] = []
    for attribute in range(len(space.sizes)) if natural else np.argsort(space.sizes, kind="stable"):
        end = space.sizes[attribute] - 1
        most = end if natural else MOST_FIELD_BITS
        pieces = []
        while end:
            pieces.append((int(attribute), max(0, end - most), end))
            end = pieces[-1][1]
        parts += sorted(pieces)  # the first piece takes what is left, so that the last one is full
    return _decide(space, parts or [(0, 0, 0)])


def _decide(space: ContextSpace, parts: list[tuple[int, int, int]]) -> Order:
    digits = space.digits.copy()
    fields: list[BitField] = []
    classes = first_classes = np.empty(0, dtype=np.int64)
    for number, (attribute, first, end) in enumerate(parts):
        own = space.own[attribute]
        decided = np.arange(first, end) + (np.arange(first, end) >= own)
        slot_of = np.zeros(space.sizes[attribute], dtype=np.int64)
        slot_of[decided] = 1 + np.arange(end - first)
        slots = slot_of[digits[:, attribute]]
        before = _numbered(space, digits) if number < len(parts) - 1 else slots
        if number == 0:
            first_classes = before
        else:
            fields[-1] = _with_merged(fields[-1], classes, before)
        count = int(before.max()) + 1
        by_class = np.zeros(count, dtype=np.int64)
        by_class[before] = slots
        fields.append(
            BitField(space.shifts[attribute] + first, end - first, by_class, np.zeros_like(by_class), count)
        )
        digits[slots > 0, attribute] = own
        classes = before
    return Order(tuple(fields), first_classes)


def _numbered(space: ContextSpace, digits: Integers) -> Integers:
    codes = np.ravel_multi_index(tuple(digits.T), space.sizes)
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _with_merged(field: BitField, before: Integers, after: Integers) -> BitField:
    merged = np.zeros(field.classes, dtype=np.int64)
    merged[before] = after
    return BitField(field.shift, field.bits, field.slots, merged, field.classes)


def share_few(number: int, work: Callable[[int, int], object]) -> None:
    """Call the work for ranges of a few contexts that share nothing, on all cores if that pays."""
    in_threads(lambda part: work(*part), equal_ranges(number, FEW))


def share_out(order: Order, work: Callable[[int, int], object], progress: Progress | None) -> None:
    """Call the work for ranges of prefixes, on all cores, and report progress in contexts."""
    prefixes, each = order.prefixes, 1 << order.inner.bits
    step = max(1, -(-prefixes // CHUNKS))
    ranges = [(start, min(start + step, prefixes)) for start in range(0, prefixes, step)]

    def carry_out(part: tuple[int, int]) -> int:
        work(*part)
        return part[1] * each

    in_threads(carry_out, ranges, each=progress, alone=prefixes * each <= SMALL)

# SPDX-License-Identifier: Apache-2.0
"""The public list of groups among which is chosen: all of them, or a sample that no row has a part in."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonymaly.core.arrays import Booleans, Floats, Integers
from anonymaly.questions.explain.everyone.axes import GroupAxis
from anonymaly.questions.explain.everyone.axes.subsets import SubsetAxis
from anonymaly.questions.explain.everyone.choices import SAMPLED

if TYPE_CHECKING:
    from anonymaly.noise import Noise


@dataclass(frozen=True)
class GroupList:
    """All groups, the first attribute's options slowest; an option of each attribute is a group's name."""

    axes: tuple[GroupAxis, ...]

    @property
    def size(self) -> int:
        """How many groups there are."""
        return math.prod(axis.options for axis in self.axes)

    def name(self, index: int) -> tuple[int, ...]:
        """Return a group's option of each attribute.

        Examples
        --------
        >>> from anonymaly.questions.explain.everyone.axes.nested import OwnOrAny
        >>> GroupList((OwnOrAny("job", "Cook", 3), OwnOrAny("city", "Oslo", 2))).name(1)
        (0, 1)
        """
        return tuple(int(option) for option in np.unravel_index(index, [axis.options for axis in self.axes]))

    def like(self, name: Sequence[int]) -> Booleans:
        """Say of each group whether it is too like a given one: they share half of what either holds.

        What they hold is counted in combinations of declared values, so it follows from their names.

        Examples
        --------
        >>> from anonymaly.questions.explain.everyone.axes.nested import OwnOrAny
        >>> GroupList((OwnOrAny("job", "Cook", 3), OwnOrAny("city", "Oslo", 2))).like((0, 1)).tolist()
        [True, True, False, False]
        """
        sizes, shared = np.ones(1), np.ones(1)
        for axis, option in zip(self.axes, name, strict=True):
            every = np.arange(axis.options, dtype=np.int64)
            sizes = np.outer(sizes, axis.shared(every, axis.options - 1)).ravel()
            shared = np.outer(shared, axis.shared(every, option)).ravel()
        return alike(sizes, shared, size_of(self.axes, name))


@dataclass(frozen=True)
class GroupSample:
    """Some groups of subsets: every simple one, and others drawn blindly."""

    axes: tuple[SubsetAxis, ...]
    names: Integers  # a row of options for each group

    @classmethod
    def draw(cls, axes: tuple[SubsetAxis, ...], noise: Noise) -> GroupSample:
        """Draw the sample; its coins are the noise's, and no row has a part in them."""
        drawn = np.stack([noise.uniform(axis.options, SAMPLED) for axis in axes], axis=1)
        return cls(axes, np.unique(np.concatenate([simple_names(axes), drawn]), axis=0))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.names)

    def name(self, index: int) -> tuple[int, ...]:
        """Return a group's option of each attribute."""
        return tuple(self.names[index].tolist())

    def like(self, name: Sequence[int]) -> Booleans:
        """Say of each group whether it is too like a given one."""
        sizes, shared = np.ones(self.size), np.ones(self.size)
        for place, axis in enumerate(self.axes):
            sizes *= axis.shared(self.names[:, place], axis.options - 1)
            shared *= axis.shared(self.names[:, place], name[place])
        return alike(sizes, shared, size_of(self.axes, name))


def most_in_sample(axes: Sequence[SubsetAxis]) -> int:
    """Return how many groups a sample has at most: what is known of it before it is drawn."""
    return SAMPLED + len(simple_names(axes))


def simple_names(axes: Sequence[SubsetAxis]) -> Integers:
    """Return the groups in which each attribute is the record's own value or any."""
    options = [sorted({0, axis.options - 1}) for axis in axes]
    return np.array(list(itertools.product(*options)), np.int64)


def size_of(axes: Sequence[GroupAxis], name: Sequence[int]) -> float:
    """Return how many combinations of declared values a group holds."""
    return math.prod(
        float(axis.shared(np.array([option]), option)[0]) for axis, option in zip(axes, name, strict=True)
    )


def alike(sizes: Floats, shared: Floats, size: float) -> Booleans:
    """Say which groups share at least half of what they or the given one hold."""
    # Sizes are products of whole numbers, which may be rounded; names decide, never rows.
    return 3 * shared >= (sizes + size) * (1 - 1e-9)

# SPDX-License-Identifier: Apache-2.0
"""Rows drawn from a released model, typed as its columns are declared, by public coins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from anonymaly.ask.synthetic import SyntheticRows, read_count, read_seed
from anonymaly.core.arrays import Floats
from anonymaly.questions.score.mixed_labels import Label
from anonymaly.questions.score.mixed_space import MixedSpace
from anonymaly.questions.score.space import Space

UNDECLARED = "other"  # what a space calls labels for which no declared value stands


def draw(space: Space, points: Callable[[int, int], Floats], rows: int, seed: int | None) -> SyntheticRows:
    """Return rows whose coordinates ``points`` draws, a number of them by a seed."""
    count, chosen = read_count(rows), read_seed(seed)
    drawn = points(count, chosen)
    columns = {name: column_of(space, axis, drawn[:, axis]) for axis, name in enumerate(space.columns)}
    return SyntheticRows.made(columns, seed=chosen)


def column_of(space: Space, axis: int, places: Floats) -> pa.Array:
    """Return coordinates as values of a column; what is missing is null.

    Examples
    --------
    >>> column_of(Space(("age",), (0.0,), (120.0,)), 0, np.array([0.25, 1.0])).to_pylist()
    [30.0, 120.0]
    """
    low, high = space.lows[axis], space.highs[axis]
    if isinstance(space, MixedSpace):
        labels = space.labels[axis]
        if labels is not None:
            return _labels(labels, space.others[axis], places)
        if space.kinds[axis] == "moment":
            seconds = np.floor(low + np.nan_to_num(places) * (high - low)).astype(np.int64)
            return pa.array(seconds * 10**6, pa.timestamp("us"), mask=np.isnan(places))
    # Not by the width times the place, which rounding may bring beyond a bound.
    numbers = np.clip(low + places * (high - low), low, high)
    return pa.array(numbers, mask=np.isnan(places))


def _labels(labels: tuple[Label, ...], other: str, places: Floats) -> pa.Array:
    """Return labels; the place after the last is the declared value for all others, or null without one."""
    known: list[Label | None] = list(labels)
    if isinstance(labels[0], bool) or other == UNDECLARED:
        known.append(None)
    else:
        known.append(int(other) if isinstance(labels[0], int) else other)
    known.append(None)
    missing = np.isnan(places)
    chosen = np.where(missing, len(known) - 1, np.nan_to_num(places)).astype(np.int64)
    return pa.array(known).take(pa.array(chosen))

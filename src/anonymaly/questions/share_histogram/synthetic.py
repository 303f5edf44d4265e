# SPDX-License-Identifier: Apache-2.0
"""Rows drawn from the cells of a released histogram, by public coins: nothing secret is involved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anonymaly.ask.synthetic import SyntheticRows, read_count, read_seed
from anonymaly.core.arrays import Integers
from anonymaly.declare.attributes import Attribute
from anonymaly.errors import InputError
from anonymaly.noise.public import PublicCoins


def draw(by: Sequence[Attribute], estimates: npt.NDArray[Any], rows: int, seed: int | None) -> SyntheticRows:
    """Return rows whose cells come as often as their estimates say.

    Examples
    --------
    >>> by = [Attribute("ward", ("A", "B", "C"))]
    >>> drawn = draw(by, np.array([2, 0, -4]), 3, seed=1).to_arrow()
    >>> drawn["ward"].to_pylist(), drawn["synthetic"].to_pylist()
    (['A', 'A', 'A'], [True, True, True])
    """
    count, chosen = read_count(rows), read_seed(seed)
    if count and not np.any(estimates > 0):
        raise InputError(
            "has no cell above 0 to draw from",
            field="histogram",
            next_step="Ask with a larger epsilon, or for no synthetic rows.",
        )
    coins = PublicCoins(chosen)
    cells = coins.places(estimates.astype(np.float64), count)
    places = np.unravel_index(cells, [len(attribute.values) for attribute in by])
    columns = {
        attribute.column: _values(attribute, place.astype(np.int64), coins)
        for attribute, place in zip(by, places, strict=True)
    }
    return SyntheticRows.made(columns, seed=chosen)


def _values(attribute: Attribute, places: Integers, coins: PublicCoins) -> pa.Array:
    """Return a column's values; of a bin, any number in it."""
    if attribute.edges is None:
        return pa.array(attribute.values).take(pa.array(places))
    edges = np.asarray(attribute.edges, np.float64)
    low, high = edges[places], edges[places + 1]
    # Not by the width, which may be more than a float holds; a bin does not have its upper edge.
    share = coins.even(len(places))
    drawn = low * (1 - share) + high * share
    return pa.array(np.clip(drawn, low, np.nextafter(high, -np.inf)))

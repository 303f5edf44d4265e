# SPDX-License-Identifier: Apache-2.0
"""Checks of arrays that samplers are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anonymaly.errors import InputError
from anonymaly.noise.checks import LARGEST_COUNT


def read_integers(values: npt.ArrayLike, field: str) -> npt.NDArray[np.int64]:
    """Return an integer array of any shape as 64-bit integers of size below 2^62."""
    array: npt.NDArray[Any] = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    # Floats are inexact, and Python integers beyond 64 bits, which become objects, are too large.
    if array.dtype.kind not in "iu":
        raise InputError(
            f"must hold 64-bit integers, got {array.dtype}",
            field=field,
            next_step="Convert the array to whole numbers first.",
        )
    # The message leaves the offending value out: it may come from a row.
    if int(array.max()) > LARGEST_COUNT or int(array.min()) < -LARGEST_COUNT:
        raise InputError(
            "must be below 2^62 in size", field=field, next_step="Count in larger units, or fewer things."
        )
    return array.astype(np.int64)

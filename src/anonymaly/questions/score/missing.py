# SPDX-License-Identifier: Apache-2.0
"""The rules about values that a new record does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anonymaly.core.arrays import Floats
from anonymaly.errors import InputError

# What is done about a value that a new record does not have: score by the others, refuse, or take "missing"
# as the value that it is in the reference records.
Missing = Literal["skip", "refuse", "value"]
MISSING: tuple[Missing, ...] = ("skip", "refuse", "value")


def refuse_missing(points: Floats, columns: Sequence[str], missing: str) -> None:
    """Refuse a rule that there is not, and missing values where the rule refuses them."""
    if missing not in MISSING:
        raise InputError(
            f"must be one of {', '.join(MISSING)}, got {missing!r}",
            field="missing",
            next_step="skip scores by what a record has; value takes missing for a value of its own.",
        )
    lost = np.isnan(points)
    if missing == "refuse" and lost.any():
        axis = int(np.flatnonzero(lost.any(axis=0))[0])
        raise InputError(
            f"is missing in {int(lost[:, axis].sum())} of {len(points)} records",
            field=columns[axis],
            next_step="Fill it in, or say missing='skip' to score by what is there.",
        )

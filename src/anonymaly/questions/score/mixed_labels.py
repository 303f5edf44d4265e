# SPDX-License-Identifier: Apache-2.0
"""What a declaration says of a column's labels and moments; a preview needs no more."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from anonymaly.declare.domain import Categories, Domain, Flag
from anonymaly.errors import InputError

Label = str | int | bool
MOST_LABELS = 1024
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def second_of(moment: datetime) -> float:
    """Return a moment without a zone as whole seconds since 1970.

    Examples
    --------
    >>> second_of(datetime(1970, 1, 2, 0, 0, 0, 999_999))
    86400.0
    """
    return float(math.floor((moment.replace(tzinfo=UTC) - EPOCH).total_seconds()))


def labels_of(domain: Domain) -> tuple[Label, ...] | None:
    """Return the declared values of a column of labels, or None for one that has none."""
    if isinstance(domain, Categories):
        return domain.values
    return (False, True) if isinstance(domain, Flag) else None


def places_of(labels: tuple[Label, ...] | None) -> int:
    """Return how many places the labels of a column have, with that of "other"; 0 for a number.

    Examples
    --------
    >>> places_of(("A", "B")), places_of((False, True)), places_of(None)
    (3, 2, 0)
    """
    if labels is None:
        return 0
    return len(labels) + (0 if isinstance(labels[0], bool) else 1)  # a flag is true or false, or missing


def refuse_long(name: str, labels: tuple[Label, ...] | None) -> None:
    """Refuse a column of more labels than a histogram can tell apart."""
    if labels is not None and len(labels) > MOST_LABELS:
        raise InputError(
            f"{name} has {len(labels):,} declared values, and a score takes up to {MOST_LABELS:,}",
            field="columns",
            next_step="Leave the column out, or declare fewer values and other= for the rest.",
        )

# SPDX-License-Identifier: Apache-2.0
"""When an answer may be seen: at public moments that no run decides.

A question has a slot of d seconds, by its kind and the declared size of its table. What comes of a job shows
at the first of d, 2d, 4d, … seconds after it came by which it has ended: when an answer arrives tells the
number of that slot and nothing more. Everything that a job can end in waits for it, refusals too.
"""

from __future__ import annotations

import math

SHORTEST = 0.1
# Seconds for a table of a million rows on two cores, rounded up generously; an owner may set others.
SECONDS = {
    "count": 0.5,
    "identify": 1.0,
    "score": 2.0,
    "explain": 4.0,
    "lookahead": 1.0,
    "share-sample": 2.0,
    "share-histogram": 2.0,
    "share-ngrams": 4.0,
}
OTHER = 1.0  # jobs that are no questions, and questions of other packages
DECLARED = 1_000_000  # rows, where the owner declared no number


def slot_seconds(question: str, rows: int | None, own: dict[str, float] | None = None) -> float:
    """Return the slot of a question on a table of a declared size.

    Examples
    --------
    >>> slot_seconds("count", 10_000_000)
    5.0
    >>> slot_seconds("count", None, {"count": 0.2})
    0.2
    """
    if own and question in own:
        return max(SHORTEST, own[question])
    return SECONDS.get(question, OTHER) * max(1.0, (rows or DECLARED) / DECLARED)


def next_release(created: float, slot: float, now: float) -> float:
    """Return the first moment of release at or after ``now``.

    Examples
    --------
    >>> [next_release(100.0, 0.5, now) for now in (100.0, 100.5, 100.6, 101.1)]
    [100.5, 100.5, 101.0, 102.0]
    """
    passed = max(0.0, now - created)
    number = max(0, math.ceil(math.log2(passed / slot) - 1e-9)) if passed > slot else 0
    return created + slot * 2.0**number


def busy_seconds(slot: float, took: float) -> float:
    """Return how long a worker is at a question: half a slot, one, two, …, whatever the run took.

    Who has a job in the queue behind a question would otherwise learn when that one ended, and could choose
    what to compare it with. Half a slot, so that a job that did not wait is in time for its first one.

    Examples
    --------
    >>> [busy_seconds(0.5, took) for took in (0.01, 0.2, 0.3, 0.6)]
    [0.25, 0.25, 0.5, 1.0]
    """
    return next_release(0.0, slot / 2, took)


def is_released(created: float, ended: float | None, slot: float, now: float) -> bool:
    """Say whether what a job ended in may be seen: the moment after its end has come."""
    return ended is not None and now >= next_release(created, slot, ended)

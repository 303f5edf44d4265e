# SPDX-License-Identifier: Apache-2.0
"""How much of the machine the embedded engine may take."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from anonymaly.errors import InputError

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
LEAST = 128 * 10**6  # bytes; with fewer, the engine fails at statements that need no room to speak of
MOST_THREADS = 1024
_AMOUNT = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(UNITS)})")


@dataclass(frozen=True)
class Limits:
    """What the embedded engine may take; None leaves it to the engine: most of the memory, all cores.

    Beyond the memory it writes to a private folder (``engine/spill.py``).
    """

    memory: str | None = None
    threads: int | None = None

    @property
    def given(self) -> list[str]:
        """The names of those that are given."""
        return [name for name in ("memory", "threads") if getattr(self, name) is not None]

    @property
    def settings(self) -> dict[str, Any]:
        """The same in the engine's words."""
        given = {"memory_limit": self.memory, "threads": self.threads}
        return {name: value for name, value in given.items() if value is not None}


NO_LIMITS = Limits()


def read_limits(memory: Any, threads: Any) -> Limits:
    """Read an owner's limits, or say what is wrong with them.

    Examples
    --------
    >>> read_limits("4 GB", 2)
    Limits(memory='4GB', threads=2)
    """
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS
    ):
        raise InputError(
            f"must be a whole number from 1 to {MOST_THREADS:,}",
            field="threads",
            next_step="Give the number of cores that reading may use, or leave it out for all of them.",
        )
    if memory is None:
        return Limits(None, threads)
    found = _AMOUNT.fullmatch(memory.strip()) if isinstance(memory, str) else None
    if found is None or float(found[1]) * UNITS[found[2]] < LEAST:
        raise InputError(
            f"must be an amount of {LEAST // 10**6} MB or more with its unit ({', '.join(UNITS)})",
            field="memory",
            next_step="Give for instance 4GB, or leave it out for most of the machine's memory.",
        )
    return Limits(found[1] + found[2], threads)

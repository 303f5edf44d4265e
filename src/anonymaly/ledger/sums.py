# SPDX-License-Identifier: Apache-2.0
"""What the entries of one account add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class ImpossibleError(Exception):
    """An entry that no run of this program appends."""


@dataclass
class AccountSums:
    """What the entries of one account add up to; all of it can be written as JSON."""

    limit: int
    spent: int
    declared: int  # the entry of the newest declaration
    fixed: dict[str, Any]
    paused: bool = False
    lost: bool = False  # whether a part of the entries was lost, and with it the use of counters
    analysts: dict[str, list[int | None]] = field(default_factory=dict)  # limit, spent
    grants: dict[str, list[int | None]] = field(default_factory=dict)  # granted, revoked
    counters: dict[str, list[int]] = field(default_factory=dict)  # limit, used
    reserved: dict[str, list[Any]] = field(default_factory=dict)  # number → key, analyst, cost
    ended: dict[str, list[int]] = field(default_factory=dict)  # state → how many, their cost
    terms: dict[str, Any] = field(default_factory=dict)  # analyst → what a standing grant was given under

    def charged(self) -> int:
        """Return what all reservations cost."""
        costs = [*(item[2] for item in self.reserved.values()), *(item[1] for item in self.ended.values())]
        return int(sum(costs))


def require(condition: bool, otherwise: str) -> None:
    """Raise ImpossibleError unless an entry is what a run of this program appends."""
    if not condition:
        raise ImpossibleError(otherwise)

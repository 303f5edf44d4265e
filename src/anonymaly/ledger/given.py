# SPDX-License-Identifier: Apache-2.0
"""Consents to hand something over in clear, which no ε bounds: entries that charge nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from anonymaly.ledger.records import Entry

GIVEN = "given_in_clear"
REFUSED = "not_given"
NO_BOUND = "none: what is given is known to whom it is given"


@dataclass(frozen=True, slots=True)
class ConsentDecision:
    """What an owner of data decided about one request: whether to hand over in clear what it names."""

    entry: int
    time: str
    request: str
    gives: bool
    by: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain data."""
        bound = {"bound": NO_BOUND} if self.gives else {}
        return {
            "entry": self.entry, "time": self.time, "request": self.request, "gives": self.gives,
            "by": self.by, "reason": self.reason, **bound,
        }  # fmt: skip


def subject_of(request: str, *, to: str, gives: bool) -> dict[str, Any]:
    """Return what a decision's entry says.

    Examples
    --------
    >>> subject_of("12-0-5f1c", to="owner", gives=True)["given_in_clear"]["bound"]
    'none: what is given is known to whom it is given'
    """
    if gives:
        return {GIVEN: {"request": request, "to": to, "bound": NO_BOUND}}
    return {REFUSED: {"request": request, "to": to}}


def decisions_in(entries: Iterable[Entry]) -> dict[str, ConsentDecision]:
    """Return the decisions among an account's entries, by their requests; of two, the first stands."""
    found: dict[str, ConsentDecision] = {}
    for entry in entries:
        if entry.kind != "consent":
            continue
        subject: Mapping[str, Any] = entry.data["subject"]
        for name, gives in ((GIVEN, True), (REFUSED, False)):
            if name in subject:
                request = str(subject[name]["request"])
                said = str(entry.data.get("by", "")), str(entry.data.get("reason", ""))
                found.setdefault(request, ConsentDecision(entry.seq, entry.time, request, gives, *said))
    return found

# SPDX-License-Identifier: Apache-2.0
"""Do the entries keep the terms of grants? What `reserve` refuses by them, no entry may hold.

When a grant ends, or a period begins, is not among it: an entry's time is its writer's clock, which proves
nothing. Nor is whether two questions under a rule are one at another ε: entries do not say that.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from anonymaly.core.value import canonical_json
from anonymaly.errors import InputError
from anonymaly.ledger.counters import counter_of, own
from anonymaly.ledger.sums import AccountSums, require
from anonymaly.ledger.terms import RENEWAL, Terms


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Terms | None:
    return Terms.read(json.loads(text))


def read_terms(data: Any) -> Terms | None:
    """Read terms as an entry holds them, or raise ImpossibleError."""
    try:
        return _parsed(canonical_json(data))
    except InputError:
        require(False, "has terms that cannot be read")
        raise


def agree(sums: AccountSums, analyst: str, limit: int | None, spent: int, data: Any) -> None:
    """Take note of the terms of a grant; a renewal must follow from the grant that it renews."""
    before = sums.terms.pop(analyst, None)
    terms = read_terms(data["terms"])
    if terms is None:
        return
    require(terms.overcommit or terms.total is not None, "grants without an end")
    require(terms.total is None or (limit is not None and limit <= terms.total), "grants more than its total")
    if data["by"] == RENEWAL:
        old = None if before is None else read_terms(before)
        renewed = old is not None and old.period is not None and terms.period is not None
        require(renewed and old is not None and terms.begun(None) == old.begun(None), "renews another grant")
        was, now = (item.period.begun if item and item.period else None for item in (old, terms))
        require(now is not None and (was is None or now > was), "renews a period twice")
        require(limit == terms.limit(spent), "renews by another sum")
    sums.terms[analyst] = data["terms"]


def keep_terms(sums: AccountSums, analyst: str, question: Any, data: Any) -> None:
    """Check that a charge is one that the analyst's grant allows."""
    rule, cost = data.get("rule"), data["cost"]
    terms = read_terms(sums.terms[analyst]) if analyst in sums.terms else None
    if terms is None:
        return
    require(terms.questions is None or question in terms.questions, "asks what was not granted")
    require(rule is None or terms.may_cite(rule), "cites a rule that was not granted")
    require(terms.question_limit is None or cost <= terms.question_limit, "costs more than was granted")
    most = None if rule is None else terms.rules.get(rule)
    if most is None:
        return
    name = own(analyst, counter_of(rule))
    limit, _ = data.get("counters", {}).get(name, [most, 1])
    require(limit <= most, "counts more questions than were granted")
    # One that was counted at another ε does not count again; but none is the first.
    require(name in data.get("counters", {}) or name in sums.counters, "does not count under its rule")


def refuse_overcommitment(sums: AccountSums, analyst: str, by: str) -> None:
    """Check that the table could keep what was granted."""
    if by != RENEWAL and _held(sums, analyst):
        require(sums.spent + _kept(sums) <= sums.limit, "grants more than the table has")


def leave_to_others(sums: AccountSums, analyst: str) -> None:
    """Check that a charge took nothing that was kept for others."""
    if sums.terms and not _held(sums, analyst):
        require(sums.spent + _kept(sums) <= sums.limit, "takes what was kept for others")


def leave_as_if_new(sums: AccountSums, analyst: str, cost: int) -> None:
    """Check that what the table was charged for before was refused where a new question would be."""
    if analyst in sums.terms and not _held(sums, analyst):
        require(sums.spent + cost + _kept(sums) <= sums.limit, "is answered where a new question is refused")


def used_up(sums: AccountSums, analyst: str) -> list[int | None]:
    """Return an analyst's limit and spent after a part was lost: nothing remains, over all periods."""
    limit, spent = sums.analysts[analyst]
    terms = read_terms(sums.terms[analyst]) if analyst in sums.terms else None
    if terms is not None and terms.total is not None:
        limit = terms.total
    return [limit, spent if limit is None else limit]


def _held(sums: AccountSums, analyst: str) -> bool:
    terms = read_terms(sums.terms[analyst]) if analyst in sums.terms else None
    return terms is not None and not terms.overcommit


def _kept(sums: AccountSums) -> int:
    kept = 0
    for analyst in sums.terms:
        terms = read_terms(sums.terms[analyst])
        if terms is not None and not terms.overcommit:
            kept += max((terms.total or 0) - (sums.analysts[analyst][1] or 0), 0)
    return kept

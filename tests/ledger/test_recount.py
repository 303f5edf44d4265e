# SPDX-License-Identifier: Apache-2.0
"""A chain that was computed anew, with entries that no run appends, is noticed by what its entries mean."""

from __future__ import annotations

from typing import Any

import pytest

from anonymaly.ledger.recount import Recount
from anonymaly.ledger.sums import ImpossibleError

Step = tuple[str, dict[str, Any]]
LEDGER = {"anchor", "epoch", "upgrade"}
OPEN: Step = ("open", {"declaration": {"adjacency": "replace"}, "limit": 10, "rules": {}})
GRANT: Step = ("grant", {"analyst": "ann", "limit": 5, "terms": {}, "by": "o", "reason": "r"})
REVOKE: Step = ("revocation", {"analyst": "ann", "by": "o", "reason": "r"})
PAUSE: Step = ("pause", {"paused": True, "by": "o", "reason": "r"})


def reserve(key: str = "q", cost: int = 2, analyst: str = "ann", **more: Any) -> Step:
    return "reserve", {"key": key, "cost": cost, "analyst": analyst, "record": {}, **more}


PERIOD = {"epsilon": 2, "every": "month", "from": "2026-01-01", "begun": "2026-01-01"}


def granted(limit: int | None = 5, by: str = "o", analyst: str = "ann", **terms: Any) -> Step:
    agreed = {"terms": 1, "total": 5, **terms}
    return "grant", {"analyst": analyst, "limit": limit, "terms": agreed, "by": by, "reason": "r"}


def renewed(begun: str, limit: int = 2, **terms: Any) -> Step:
    return granted(limit, "renewal", period={**PERIOD, "begun": begun}, **terms)


def amend(**declared: Any) -> Step:
    return "amendment", {"declaration": declared, "rules": {}, "reason": "r", "learned_from_rows": False}


def epoch(limit: int, **more: Any) -> Step:
    return "epoch", {"epoch": 1, "accounts": {"patients": limit}, "bounded": False, "lost": {}, **more}


def counted(key: str, limit: int) -> Step:
    return reserve(key, 1, counters={"rule": [limit, 1]})


# The first is the entry number 1; the last one is what cannot be.
IMPOSSIBLE: dict[str, tuple[list[Step], str]] = {
    "an account twice": ([OPEN, OPEN], "opens an account twice"),
    "an unopened account": ([reserve()], "was not opened"),
    "an unknown kind": ([OPEN, ("refund", {})], "is of no known kind"),
    "an inner name as a kind": ([OPEN, ("end", {"reservation": 1})], "is of no known kind"),
    "more than the limit": ([OPEN, reserve(cost=11)], "spends more than the limit"),
    "a question twice": ([OPEN, reserve(), reserve()], "charges a question twice"),
    "nothing": ([OPEN, reserve(cost=0)], "charges nothing"),
    "a paused account": ([OPEN, PAUSE, reserve()], "charges an account that is paused"),
    "a pause twice": ([OPEN, PAUSE, PAUSE], "neither pauses nor resumes"),
    "another unit": ([OPEN, amend(adjacency="add_remove")], "amends what cannot be amended"),
    "an earlier declaration": (
        [OPEN, amend(adjacency="replace", columns={}), reserve(declaration=1)],
        "is of an earlier declaration",
    ),
    "no grant among grants": ([OPEN, GRANT, reserve(analyst="bob")], "an analyst without a grant"),
    "another grant": ([OPEN, GRANT, reserve(grant=1)], "names another grant"),
    "a revoked grant": ([OPEN, GRANT, REVOKE, reserve(grant=2)], "whose grant was revoked"),
    "more than the analyst's": ([OPEN, GRANT, reserve(cost=6, grant=2)], "more than the analyst's limit"),
    "a grant below what is spent": (
        [OPEN, reserve(cost=6), GRANT],
        "grants less than was spent",
    ),
    "terms that nobody can read": ([OPEN, granted(period={})], "terms that cannot be read"),
    "a grant without an end": ([OPEN, granted(total=None)], "grants without an end"),
    "a limit above the total": ([OPEN, granted(6)], "grants more than its total"),
    "no limit below a total": ([OPEN, granted(None, overcommit=True)], "grants more than its total"),
    "a renewal of nothing": ([OPEN, renewed("2026-02-01")], "renews another grant"),
    "a renewal of a grant without periods": ([OPEN, granted(), renewed("2026-02-01")], "renews another"),
    "a renewal of what was revoked": (
        [OPEN, granted(2, period=PERIOD), REVOKE, renewed("2026-02-01")],
        "renews another grant",
    ),
    "a renewal on other terms": (
        [OPEN, granted(2, period=PERIOD), renewed("2026-02-01", questions=["count"])],
        "renews another grant",
    ),
    "a renewal of the same period": (
        [OPEN, granted(2, period=PERIOD), renewed("2026-01-01")],
        "renews a period twice",
    ),
    "a renewal by more": ([OPEN, granted(2, period=PERIOD), renewed("2026-02-01", 3)], "by another sum"),
    "a question that was not granted": (
        [OPEN, granted(questions=["count"]), reserve(grant=2, record={"question": "score"})],
        "asks what was not granted",
    ),
    "a rule that was not granted": (
        [OPEN, granted(rules={"adults": 1}), reserve(grant=2, rule="groups")],
        "cites a rule that was not granted",
    ),
    "more questions under a rule than were granted": (
        [
            OPEN,
            granted(rules={"groups": 1}),
            reserve(grant=2, rule="groups", counters={"analyst:ann:rule:groups": [9, 1]}),
        ],
        "counts more questions than were granted",
    ),
    "a first question under a rule that is not counted": (
        [OPEN, granted(rules={"groups": 1}), reserve(grant=2, rule="groups")],
        "does not count under its rule",
    ),
    "an answer of before where a new question is refused": (
        [
            OPEN,
            granted(),
            granted(8, analyst="bob", total=8, overcommit=True),
            reserve("q", 4, "ann", grant=2),
            reserve("r", 5, "bob", grant=3),
            ("again", {"reservation": 4, "key": "q", "analyst": "bob", "cost": 4, "grant": 3}),
        ],
        "is answered where a new question is refused",
    ),
    "a price that was not granted": (
        [OPEN, granted(question_limit=1), reserve(grant=2)],
        "costs more than was granted",
    ),
    "more granted than there is": (
        [OPEN, granted(), granted(6, analyst="bob", total=6)],
        "grants more than the table has",
    ),
    "what was kept for others": (
        [
            OPEN,
            granted(),
            granted(8, analyst="bob", total=8, overcommit=True),
            reserve("q", 6, "bob", grant=3),
        ],
        "takes what was kept for others",
    ),
    "a price again that was not granted": (
        [
            OPEN,
            granted(),
            reserve(grant=2),
            granted(analyst="bob", question_limit=1),
            ("again", {"reservation": 3, "key": "q", "analyst": "bob", "cost": 2, "grant": 4}),
        ],
        "costs more than was granted",
    ),
    "a counter again past its limit": (
        [
            OPEN,
            granted(),
            reserve(grant=2),
            granted(analyst="bob"),
            (
                "again",
                {
                    "reservation": 3,
                    "key": "q",
                    "analyst": "bob",
                    "cost": 2,
                    "grant": 4,
                    "counters": {"analyst:bob:rule:groups": [1, 2]},
                },
            ),
        ],
        "counts past the limit",
    ),
    "a revocation of nothing": ([OPEN, REVOKE], "revokes what was not granted"),
    "a counter past its limit": ([OPEN, counted("q", 1), counted("r", 1)], "counts past the limit"),
    "a counter whose limit changed": ([OPEN, counted("q", 1), counted("r", 5)], "counts past the limit"),
    "a counter set back": (
        [OPEN, counted("q", 5), ("limit", {"counter": "rule", "from": 5, "to": 5, "used": 0})],
        "sets a counter back",
    ),
    "a counter that may be lost": (
        [OPEN, epoch(10), ("limit", {"from": 10, "to": 20}), counted("q", 5)],
        "lost",
    ),
    "a lower limit": ([OPEN, ("limit", {"from": 10, "to": 9})], "does not raise the limit"),
    "an epoch with a lower limit": ([OPEN, epoch(9)], "lowers a limit"),
    "an epoch of others": ([OPEN, epoch(9, accounts={})], "begins an epoch of other accounts"),
    "an epoch with something left": ([OPEN, epoch(10), reserve(cost=1)], "spends more than the limit"),
    "a lost account with all its budget": (
        [epoch(0, accounts={}, lost={"patients": 5}), OPEN],
        "opens an account with a wrong budget",
    ),
    "an end of nothing": ([OPEN, ("commit", {"reservation": 1})], "ends a reservation twice"),
    "an upgrade to where it is": (
        [("upgrade", {"from": 1, "to": 2}), ("upgrade", {"from": 1, "to": 2})],
        "is no upgrade",
    ),
    "an upgrade to what is not known": ([("upgrade", {"from": 2, "to": 4})], "is no upgrade"),
    "the same analyst again": (
        [
            OPEN,
            GRANT,
            reserve(grant=2),
            ("again", {"reservation": 3, "key": "q", "analyst": "ann", "cost": 2, "grant": 2}),
        ],
        "charges a question twice",
    ),
    "another price again": (
        [
            OPEN,
            GRANT,
            reserve(grant=2),
            ("grant", {"analyst": "bob", "limit": None, "terms": {}, "by": "o", "reason": "r"}),
            ("again", {"reservation": 3, "key": "q", "analyst": "bob", "cost": 1, "grant": 4}),
        ],
        "is of no reservation",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_no_run_appends(name: str) -> None:
    steps, finding = IMPOSSIBLE[name]
    recount = Recount()
    *before, (kind, data) = steps
    for seq, (earlier, given) in enumerate(before, start=1):
        recount.add(seq, earlier, None if earlier in LEDGER else "patients", given)
    with pytest.raises(ImpossibleError, match=finding):
        recount.add(len(steps), kind, None if kind in LEDGER else "patients", data)


@pytest.mark.parametrize("kind", sorted(LEDGER))
def test_what_concerns_the_whole_ledger_is_filed_under_no_account(kind: str) -> None:
    with pytest.raises(ImpossibleError, match="is not about one account"):
        Recount().add(1, kind, "patients", {})


def test_terms_that_were_words_once_mean_what_they_meant() -> None:
    recount = Recount()
    words = ("grant", {**GRANT[1], "terms": {"terms": "see the contract"}})
    for seq, (kind, data) in enumerate([OPEN, words, reserve(grant=2)], start=1):
        recount.add(seq, kind, "patients", data)
    assert recount.accounts["patients"].spent == 2


def test_sums_without_terms_are_written_as_they_always_were() -> None:
    recount = Recount()
    for seq, (kind, data) in enumerate([OPEN, GRANT], start=1):
        recount.add(seq, kind, "patients", data)
    assert "terms" not in recount.sums()["accounts"]["patients"]
    kind, data = granted()
    recount.add(3, kind, "patients", data)
    assert Recount.of(recount.sums()).sums() == recount.sums()
    assert recount.sums()["accounts"]["patients"]["terms"] == {"ann": {"terms": 1, "total": 5}}

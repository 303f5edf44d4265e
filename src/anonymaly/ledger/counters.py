# SPDX-License-Identifier: Apache-2.0
"""Counters: how often something may happen in an account, such as a question under a rule."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from anonymaly.core.value import digest
from anonymaly.errors import Refused
from anonymaly.ledger.accounts import get_account, lost_a_part
from anonymaly.ledger.records import Counter
from anonymaly.ledger.schema import counters
from anonymaly.ledger.transaction import Transaction, read_head_and_format

LONGEST_NAME = 100  # of a rule that its counter is called by; counters have names of at most 200 characters
LONGEST_ANALYST = 60


def counter_of(rule: str) -> str:
    """Return the name of the counter of questions under a rule.

    Examples
    --------
    >>> counter_of("groups")
    'rule:groups'
    """
    return f"rule:{rule if len(rule) <= LONGEST_NAME else digest(rule)}"


def own(analyst: str, name: str) -> str:
    """Return the name of an analyst's own counter beside the one of that name; no two analysts share one.

    Examples
    --------
    >>> own("ann", "rule:groups")
    'analyst:ann:rule:groups'
    """
    if len(analyst) <= LONGEST_ANALYST and ":" not in analyst:
        return f"analyst:{analyst}:{name}"
    # Or "a:rule:b" with the rule c would be "a" with the rule b:rule:c. No plain name has this beginning.
    return f"analyst-digest:{digest(analyst)[:32]}:{name}"


def list_counters(connection: sa.Connection, account: str) -> list[Counter]:
    """Return an account's counters that were ever used, by name."""
    if read_head_and_format(connection)[1] == 1:
        return []
    rows = connection.execute(sa.select(counters).where(counters.c.account == account))
    return sorted((Counter(row.name, row.limit, row.used) for row in rows), key=lambda item: item.name)


def count(
    transaction: Transaction, account: str, limits: dict[str, int], once: dict[str, str]
) -> dict[str, list[int]]:
    """Let each counter go up by one, all or none; return what the entry keeps: name → limit, step.

    ``once`` names, for some of them, what they count: a counter does not go up for what it counted before.
    That is known by a counter of that name, which goes up to 1 with the first.
    """
    counted: dict[str, list[int]] = {}
    for name, limit in sorted(limits.items()):
        mark = once.get(name)
        if mark is not None and transaction.counter(account, mark) is not None:
            continue
        _count_one(transaction, account, name, limit)
        counted[name] = [limit, 1]
        # After a loss nobody knows what was counted in the lost part: then everything counts each time.
        if mark is not None and not lost_a_part(transaction.connection, account):
            _count_one(transaction, account, mark, 1)
            counted[mark] = [1, 1]
    return counted


def _count_one(transaction: Transaction, account: str, name: str, limit: int) -> None:
    standing = transaction.counter(account, name)
    if standing is None:
        if lost_a_part(transaction.connection, account):
            raise Refused(
                f"'{name}' may have been used up in the part of the ledger that was lost",
                field="counters",
                next_step="Ask something else, or ask the owner to say how much of it counts as used.",
            )
        standing = (limit, 0)
        row = {"account": account, "name": name, "limit": limit, "used": 0}
        transaction.connection.execute(counters.insert(), row)
    if not transaction.count(account, name, limit, 1):
        raise Refused(
            f"'{name}' allows {min(limit, standing[0])} in all, and {standing[1]} are used",
            field="counters",
            next_step="Ask something else, or ask the owner to allow more.",
        )


def limit_counter(
    transaction: Transaction, account: str, name: str, to: int, used: int, said: dict[str, Any]
) -> Counter:
    """Set a counter's limit, and how much of it counts as used at least; the same again changes nothing."""
    get_account(transaction.connection, account)
    transaction.upgrade()
    standing = transaction.counter(account, name)
    limit, already = standing or (None, 0)
    used = max(used, already)
    if to < used:
        raise Refused(
            f"'{name}' is used {used} times, and {to} is less",
            field="limit",
            next_step=f"Give at least {used}: what was used stays used.",
        )
    if standing != (to, used):
        data = {"counter": name, "from": limit, "to": to, "used": used, **said}
        transaction.append("limit", account, data)
        if standing is None:
            row = {"account": account, "name": name, "limit": to, "used": used}
            transaction.connection.execute(counters.insert(), row)
        else:
            changed = counters.update().where(counters.c.account == account, counters.c.name == name)
            transaction.connection.execute(changed.values({"limit": to, "used": used}))
    return Counter(name, to, used)


def raise_counters(
    transaction: Transaction, account: str, limits: dict[str, int], said: dict[str, Any]
) -> None:
    """Let counters that are in use go up to a higher limit; others get theirs with their first use."""
    for name, to in sorted(limits.items()):
        standing = transaction.counter(account, name)
        if standing is not None and standing[0] < to:
            limit_counter(transaction, account, name, to, 0, said)

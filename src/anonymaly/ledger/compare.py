# SPDX-License-Identifier: Apache-2.0
"""Do the tables hold what the entries say?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from anonymaly.core.epsilon import to_text
from anonymaly.ledger.recount import Recount
from anonymaly.ledger.schema import accounts, again, analysts, counters, grants, jobs, reservations

_ENDED = (
    sa.select(
        reservations.c.account,
        reservations.c.state,
        sa.func.count(),
        sa.cast(sa.func.sum(reservations.c.cost), sa.BigInteger),
    )
    .where(reservations.c.state != "reserved")
    .group_by(reservations.c.account, reservations.c.state)
)
_UNCHARGED_JOB = (
    sa.select(jobs.c.id)
    .outerjoin(
        reservations, sa.and_(reservations.c.account == jobs.c.account, reservations.c.key == jobs.c.key)
    )
    .where(reservations.c.seq.is_(None))
    .order_by(jobs.c.id)
    .limit(1)
)


def compare(connection: sa.Connection, recount: Recount, found_format: int, *, since: int) -> list[str]:
    """Say where the tables hold something else than the entries.

    ``since`` is the last entry that was not counted but taken from earlier sums: of reservations that ended
    up to there, only how many there are and what they cost is compared.
    """
    problems = _compare_accounts(connection, recount)
    problems += _same_pairs("analyst", connection, analysts, _nested(recount, "analysts"))
    problems += _compare_reservations(connection, recount, since)
    if found_format > 1:
        problems += _same_pairs("grant", connection, grants, _nested(recount, "grants"))
        problems += _same_pairs("counter", connection, counters, _nested(recount, "counters"))
        rows = connection.execute(sa.select(again).where(again.c.seq > since))
        if {row[0]: tuple(row[1:]) for row in rows} != recount.again:
            problems.append("what was charged again is not what the entries say")
        # Jobs are no part of the chain: all that can be said is that none of them is free of charge.
        uncharged = connection.execute(_UNCHARGED_JOB).scalar()
        if uncharged is not None:
            problems.append(f"job '{uncharged}' was not charged")
    return problems


def _compare_accounts(connection: sa.Connection, recount: Recount) -> list[str]:
    problems: list[str] = []
    rows = {row.name: (row.limit, row.spent) for row in connection.execute(sa.select(accounts))}
    for name in sorted(rows.keys() | recount.accounts.keys()):
        if name not in rows or name not in recount.accounts:
            problems.append(f"account '{name}' is not in both the entries and the accounts")
            continue
        said = recount.accounts[name]
        if said.spent < said.charged():
            # From the first entry on this cannot be; sums that were written down may have been changed.
            problems.append(f"account '{name}': less is spent than was charged")
        for what, found, expected in zip(
            ("limit", "spent"), rows[name], (said.limit, said.spent), strict=True
        ):
            if found != expected:
                problems.append(
                    f"account '{name}': {what} is ε={to_text(found)}, its entries say ε={to_text(expected)}"
                )
    return problems


def _nested(recount: Recount, what: str) -> dict[tuple[str, str], Any]:
    return {
        (account, name): tuple(pair)
        for account, sums in recount.accounts.items()
        for name, pair in getattr(sums, what).items()
    }


def _same_pairs(
    what: str, connection: sa.Connection, table: sa.Table, expected: Mapping[tuple[str, str], Any]
) -> list[str]:
    """Compare a table of account, name and two numbers."""
    found = {tuple(row[:2]): tuple(row[2:]) for row in connection.execute(sa.select(table))}
    wrong = sorted(key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key))
    if not wrong:
        return []
    account, name = wrong[0]
    names = [column.name for column in table.columns][2:]
    has, says = (_shown(names, pairs.get(wrong[0])) for pairs in (found, expected))
    return [f"{what} '{name}' of account '{account}' has {has}; the entries say {says}"]


def _shown(names: list[str], pair: tuple[int | None, int | None] | None) -> str:
    if pair is None:
        return "none"
    money = names == ["limit", "spent"]
    shown = [f"ε={to_text(number)}" if money and number is not None else str(number) for number in pair]
    return ", ".join(f"{name} {text}" for name, text in zip(names, shown, strict=True))


def _compare_reservations(connection: sa.Connection, recount: Recount, since: int) -> list[str]:
    # Those that are open must be exactly those: one that was ended and is open again would be answered twice.
    query = sa.select(reservations).where(
        sa.or_(
            reservations.c.seq > since,
            reservations.c.outcome > since,
            reservations.c.state == "reserved",
        )
    )
    held = {row[0]: tuple(row[1:]) for row in connection.execute(query)}
    said = recount.reservations
    wrong = sorted(seq for seq in held.keys() | said.keys() if held.get(seq) != said.get(seq))
    if wrong:
        return [f"reservation {wrong[0]} is not in the state that the entries give it"]
    ended = {(row[0], row[1]): (row[2], row[3]) for row in connection.execute(_ENDED)}
    if ended != _nested(recount, "ended"):
        return ["the reservations that ended are not those of the entries"]
    return []

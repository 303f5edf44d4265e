# SPDX-License-Identifier: Apache-2.0
"""The tables of a ledger, as queries name them; ``definitions`` holds the statements that create them."""

from __future__ import annotations

import sqlalchemy as sa

FORMAT = 2  # what a ledger begins with, and an earlier one is brought to; all from 1 on are read
# Of a ledger from the first grant with terms on. It has the same tables: versions that see to no terms leave
# it alone. Its times never go back, because they say when terms end.
WITH_TERMS = 3

_metadata = sa.MetaData()

heads = sa.Table(
    "ledger_head",
    _metadata,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("format", sa.BigInteger),
    sa.Column("ledger", sa.Text),
    sa.Column("epoch", sa.BigInteger),
    sa.Column("seq", sa.BigInteger),
    sa.Column("hash", sa.Text),
)
entries = sa.Table(
    "ledger_entries",
    _metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("account", sa.Text),
    sa.Column("kind", sa.Text),
    sa.Column("body", sa.Text),
    sa.Column("hash", sa.Text),
)
accounts = sa.Table(
    "ledger_accounts",
    _metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("limit", sa.BigInteger),
    sa.Column("spent", sa.BigInteger),
)
analysts = sa.Table(
    "ledger_analysts",
    _metadata,
    sa.Column("account", sa.Text, primary_key=True),
    sa.Column("analyst", sa.Text, primary_key=True),
    sa.Column("limit", sa.BigInteger),
    sa.Column("spent", sa.BigInteger),
)
reservations = sa.Table(
    "ledger_reservations",
    _metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("account", sa.Text),
    sa.Column("key", sa.Text),
    sa.Column("analyst", sa.Text),
    sa.Column("cost", sa.BigInteger),
    sa.Column("state", sa.Text),
    sa.Column("outcome", sa.BigInteger),
)

# From format 2 on.
grants = sa.Table(
    "ledger_grants",
    _metadata,
    sa.Column("account", sa.Text, primary_key=True),
    sa.Column("analyst", sa.Text, primary_key=True),
    sa.Column("granted", sa.BigInteger),  # the entry of the newest grant
    sa.Column("revoked", sa.BigInteger),  # the entry that revoked it
)
counters = sa.Table(
    "ledger_counters",
    _metadata,
    sa.Column("account", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("limit", sa.BigInteger),
    sa.Column("used", sa.BigInteger),
)
again = sa.Table(
    "ledger_again",
    _metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("account", sa.Text),
    sa.Column("key", sa.Text),
    sa.Column("analyst", sa.Text),
)
checked = sa.Table(
    "ledger_checked",
    _metadata,
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("seq", sa.BigInteger),
    sa.Column("hash", sa.Text),
    sa.Column("sums", sa.Text),
)
jobs = sa.Table(
    "ledger_jobs",
    _metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account", sa.Text),
    sa.Column("key", sa.Text),
    sa.Column("analyst", sa.Text),
    sa.Column("idempotency", sa.Text),
    sa.Column("state", sa.Text),
    sa.Column("payload", sa.Text),
    sa.Column("claimed_by", sa.Text),
    sa.Column("claimed_at", sa.Text),
    sa.Column("created_at", sa.Text),
    sa.Column("due_at", sa.Text),
)

HeadQuery = sa.Select[tuple[int, str, int, int, str]]
HEAD: HeadQuery = sa.select(heads.c.format, heads.c.ledger, heads.c.epoch, heads.c.seq, heads.c.hash)


def by_index(number: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    """Return a number as an expression of which databases do not know the order.

    So they find the newest of a few entries by the index of accounts and kinds, and do not walk back from the
    end of the chain until one fits.
    """
    return number + 0

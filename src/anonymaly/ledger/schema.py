# SPDX-License-Identifier: Apache-2.0
"""The tables and the triggers that guard them, once for both databases.

The statements that create them are written out rather than generated: their text is compared at every
opening, and must not change with the version of a library.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

FORMAT = 1

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

HeadQuery = sa.Select[tuple[int, str, int, int, str]]
HEAD: HeadQuery = sa.select(heads.c.format, heads.c.ledger, heads.c.epoch, heads.c.seq, heads.c.hash)

TABLES = tuple(table.name for table in _metadata.sorted_tables)

_HEAD = """CREATE TABLE ledger_head (
    id {integer} NOT NULL PRIMARY KEY,
    format {integer} NOT NULL,
    ledger TEXT NOT NULL,
    epoch {integer} NOT NULL,
    seq {integer} NOT NULL,
    hash TEXT NOT NULL,
    CONSTRAINT ledger_head_one_row CHECK (id = 1),
    CONSTRAINT ledger_head_counts CHECK (epoch >= 0 AND seq >= 0)
){strict}"""

_ENTRIES = """CREATE TABLE ledger_entries (
    seq {integer} NOT NULL PRIMARY KEY,
    account TEXT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    CONSTRAINT ledger_entries_seq CHECK (seq > 0)
){strict}"""

_ENTRIES_INDEX = "CREATE INDEX ledger_entries_of_account ON ledger_entries (account, kind)"

_ACCOUNTS = """CREATE TABLE ledger_accounts (
    name TEXT NOT NULL PRIMARY KEY,
    "limit" {integer} NOT NULL,
    spent {integer} NOT NULL,
    CONSTRAINT ledger_accounts_spent CHECK (spent >= 0 AND spent <= "limit"),
    CONSTRAINT ledger_accounts_limit CHECK ("limit" > 0)
){strict}"""

# An analyst's limit is NULL, no limit of their own, until a server that knows who asks sets one.
_ANALYSTS = """CREATE TABLE ledger_analysts (
    account TEXT NOT NULL,
    analyst TEXT NOT NULL,
    "limit" {integer},
    spent {integer} NOT NULL,
    PRIMARY KEY (account, analyst),
    CONSTRAINT ledger_analysts_spent CHECK (spent >= 0 AND ("limit" IS NULL OR spent <= "limit"))
){strict}"""

# One reservation per account and question, whoever asks; that makes (analyst, key) unique as well.
_RESERVATIONS = """CREATE TABLE ledger_reservations (
    seq {integer} NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    analyst TEXT NOT NULL,
    cost {integer} NOT NULL,
    state TEXT NOT NULL,
    outcome {integer},
    CONSTRAINT ledger_reservations_once UNIQUE (account, key),
    CONSTRAINT ledger_reservations_cost CHECK (cost > 0),
    CONSTRAINT ledger_reservations_state CHECK (state IN ('reserved', 'committed', 'failed')),
    CONSTRAINT ledger_reservations_outcome CHECK ((state = 'reserved') = (outcome IS NULL))
){strict}"""

CONSTRAINTS = frozenset(
    {
        "ledger_head_one_row",
        "ledger_head_counts",
        "ledger_entries_seq",
        "ledger_accounts_spent",
        "ledger_accounts_limit",
        "ledger_analysts_spent",
        "ledger_reservations_once",
        "ledger_reservations_cost",
        "ledger_reservations_state",
        "ledger_reservations_outcome",
    }
)


def table_statements(*, integer: str, strict: str) -> dict[str, str]:
    """Return name → CREATE statement for one database's integer type and table suffix."""
    statements = {
        "ledger_head": _HEAD,
        "ledger_entries": _ENTRIES,
        "ledger_entries_of_account": _ENTRIES_INDEX,
        "ledger_accounts": _ACCOUNTS,
        "ledger_analysts": _ANALYSTS,
        "ledger_reservations": _RESERVATIONS,
    }
    return {name: text.format(integer=integer, strict=strict) for name, text in statements.items()}


@dataclass(frozen=True, slots=True)
class Guard:
    """A change that the database refuses, as a condition both databases read alike."""

    table: str
    event: str
    condition: str
    message: str

    @property
    def name(self) -> str:
        """The trigger's name."""
        return f"{self.table}_no_{self.event.lower()}"


_UNCHANGED = " AND ".join(f"NEW.{name} = OLD.{name}" for name in ("seq", "account", "key", "analyst", "cost"))

# The INSERT guards are for SQLite's INSERT OR REPLACE, which deletes rows without asking the DELETE triggers.
GUARDS = (
    Guard("ledger_entries", "UPDATE", "1 = 1", "entries never change"),
    Guard("ledger_entries", "DELETE", "1 = 1", "entries never go"),
    Guard(
        "ledger_entries",
        "INSERT",
        "NEW.seq <= (SELECT head.seq FROM ledger_head AS head)",
        "entries are only appended",
    ),
    Guard(
        "ledger_head",
        "UPDATE",
        "NEW.id <> OLD.id OR NEW.ledger <> OLD.ledger OR NEW.format < OLD.format"
        " OR NEW.epoch < OLD.epoch OR NEW.seq < OLD.seq",
        "the head never goes back",
    ),
    Guard("ledger_head", "DELETE", "1 = 1", "the head never goes"),
    Guard("ledger_head", "INSERT", "EXISTS (SELECT 1 FROM ledger_head)", "there is one head"),
    Guard(
        "ledger_accounts",
        "UPDATE",
        'NEW.name <> OLD.name OR NEW.spent < OLD.spent OR NEW."limit" < OLD."limit"',
        "spent and limit never fall",
    ),
    Guard("ledger_accounts", "DELETE", "1 = 1", "accounts never go"),
    Guard(
        "ledger_accounts",
        "INSERT",
        "EXISTS (SELECT 1 FROM ledger_accounts AS kept WHERE kept.name = NEW.name)",
        "accounts are opened once",
    ),
    Guard(
        "ledger_analysts",
        "UPDATE",
        "NEW.account <> OLD.account OR NEW.analyst <> OLD.analyst OR NEW.spent < OLD.spent",
        "spent never falls",
    ),
    Guard("ledger_analysts", "DELETE", "1 = 1", "analysts never go"),
    Guard(
        "ledger_analysts",
        "INSERT",
        "EXISTS (SELECT 1 FROM ledger_analysts AS kept"
        " WHERE kept.account = NEW.account AND kept.analyst = NEW.analyst)",
        "analysts are entered once",
    ),
    Guard(
        "ledger_reservations",
        "UPDATE",
        f"NOT (OLD.state = 'reserved' AND NEW.state IN ('committed', 'failed') AND {_UNCHANGED}"
        " AND COALESCE(NEW.outcome, 0) > OLD.seq)",
        "a reservation ends once, committed or failed",
    ),
    Guard("ledger_reservations", "DELETE", "1 = 1", "reservations never go"),
    Guard(
        "ledger_reservations",
        "INSERT",
        "NEW.state <> 'reserved' OR EXISTS (SELECT 1 FROM ledger_reservations AS kept"
        " WHERE kept.seq = NEW.seq OR (kept.account = NEW.account AND kept.key = NEW.key))",
        "a question is reserved once",
    ),
)

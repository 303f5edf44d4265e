# SPDX-License-Identifier: Apache-2.0
"""The statements that create a ledger's tables, once for both databases.

They are written out rather than generated: their text is compared at every opening, and must not change
with the version of a library. What a format once created is never written otherwise; a later format adds.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymaly.ledger.schema import FORMAT

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

# An analyst's limit is NULL, no limit of their own, until a grant sets one.
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

# One row for each analyst who was ever granted anything; the terms stand in the entries.
_GRANTS = """CREATE TABLE ledger_grants (
    account TEXT NOT NULL,
    analyst TEXT NOT NULL,
    granted {integer} NOT NULL,
    revoked {integer},
    PRIMARY KEY (account, analyst),
    CONSTRAINT ledger_grants_order CHECK (granted > 0 AND (revoked IS NULL OR revoked > granted))
){strict}"""

_COUNTERS = """CREATE TABLE ledger_counters (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    "limit" {integer} NOT NULL,
    used {integer} NOT NULL,
    PRIMARY KEY (account, name),
    CONSTRAINT ledger_counters_used CHECK (used >= 0 AND used <= "limit")
){strict}"""

# A question that was charged to the account before and is charged to another analyst's own limit.
_AGAIN = """CREATE TABLE ledger_again (
    seq {integer} NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    analyst TEXT NOT NULL,
    CONSTRAINT ledger_again_once UNIQUE (account, key, analyst)
){strict}"""

# How far the chain was checked, and what its entries added up to there.
_CHECKED = """CREATE TABLE ledger_checked (
    id {integer} NOT NULL PRIMARY KEY,
    seq {integer} NOT NULL,
    hash TEXT NOT NULL,
    sums TEXT NOT NULL,
    CONSTRAINT ledger_checked_one_row CHECK (id = 1),
    CONSTRAINT ledger_checked_seq CHECK (seq > 0)
){strict}"""

# Work under way, the only table whose rows may change and go. A question may hold personal fields, which the
# entries have as digests only; so it is removed when its job ends.
_JOBS = """CREATE TABLE ledger_jobs (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    analyst TEXT NOT NULL,
    idempotency TEXT NOT NULL,
    state TEXT NOT NULL,
    payload TEXT,
    claimed_by TEXT,
    claimed_at TEXT,
    created_at TEXT NOT NULL,
    due_at TEXT,
    CONSTRAINT ledger_jobs_once UNIQUE (account, analyst, idempotency),
    CONSTRAINT ledger_jobs_state CHECK (state IN ('reserved', 'running', 'committed', 'failed')),
    CONSTRAINT ledger_jobs_payload CHECK ((state IN ('reserved', 'running')) = (payload IS NOT NULL))
){strict}"""


@dataclass(frozen=True, slots=True)
class Definition:
    """A table or an index, the statement that creates it, and the format that brought it."""

    name: str
    text: str
    since: int = 1
    index: bool = False


DEFINITIONS = (
    Definition("ledger_head", _HEAD),
    Definition("ledger_entries", _ENTRIES),
    Definition("ledger_entries_of_account", _ENTRIES_INDEX, index=True),
    Definition("ledger_accounts", _ACCOUNTS),
    Definition("ledger_analysts", _ANALYSTS),
    Definition("ledger_reservations", _RESERVATIONS),
    Definition("ledger_grants", _GRANTS, since=2),
    Definition("ledger_counters", _COUNTERS, since=2),
    Definition("ledger_again", _AGAIN, since=2),
    Definition("ledger_checked", _CHECKED, since=2),
    Definition("ledger_jobs", _JOBS, since=2),
)
VOLATILE = "ledger_jobs"


def tables(up_to: int = FORMAT) -> tuple[str, ...]:
    """Return the names of the tables of a format."""
    return tuple(item.name for item in DEFINITIONS if not item.index and item.since <= up_to)


def create_statements(*, integer: str, strict: str, after: int = 0, up_to: int = FORMAT) -> dict[str, str]:
    """Return name → CREATE statement for one database's integer type and table suffix.

    ``after`` leaves out what that format has already.
    """
    return {
        item.name: item.text.format(integer=integer, strict=strict)
        for item in DEFINITIONS
        if after < item.since <= up_to
    }

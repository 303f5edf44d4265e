# SPDX-License-Identifier: Apache-2.0
"""Is a ledger in PostgreSQL built as it was created? Its catalog is compared by content."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from anonymaly.ledger.definitions import DEFINITIONS, VOLATILE, create_statements, tables
from anonymaly.ledger.guards import Guard, guards
from anonymaly.ledger.schema import FORMAT
from anonymaly.ledger.transaction import found_format

# Kind, persistence, and whatever could hide rows, show those of others, or do something else instead.
_TABLES = sa.text(
    "SELECT c.relname, c.relkind::text, c.relpersistence::text, c.relrowsecurity OR c.relforcerowsecurity,"
    " EXISTS (SELECT 1 FROM pg_inherits AS i WHERE c.oid IN (i.inhrelid, i.inhparent)),"
    " EXISTS (SELECT 1 FROM pg_rewrite AS r WHERE r.ev_class = c.oid)"
    " FROM pg_class AS c WHERE c.relname = ANY (:tables) AND pg_table_is_visible(c.oid)"
)
_COLUMNS = sa.text(
    "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef,"
    " a.attidentity::text, a.attgenerated::text, a.attcollation = t.typcollation"
    " FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid"
    " WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relname = ANY (:tables) AND pg_table_is_visible(c.oid)"
)
# NOT NULL is compared as a column's property; from PostgreSQL 18 on it is a constraint as well.
_CONSTRAINTS = sa.text(
    "SELECT c.relname, k.conname, k.convalidated, pg_get_constraintdef(k.oid),"
    " COALESCE((SELECT i.indisvalid AND i.indisready FROM pg_index AS i WHERE i.indexrelid = k.conindid),"
    " true)"
    " FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid"
    " WHERE k.contype::text <> 'n' AND c.relname = ANY (:tables) AND pg_table_is_visible(c.oid)"
)
_TRIGGERS = sa.text(
    "SELECT t.tgname, c.relname, t.tgenabled::text, t.tgtype::int, t.tgqual IS NULL, t.tgattr::text,"
    " l.lanname, p.proconfig IS NULL, p.prosrc"
    " FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_proc AS p ON p.oid = t.tgfoid"
    " JOIN pg_language AS l ON l.oid = p.prolang"
    " WHERE NOT t.tgisinternal AND c.relname = ANY (:tables) AND pg_table_is_visible(c.oid)"
)

# What PostgreSQL makes of the constraints in ``definitions``; the tests compare it with a fresh ledger's.
CONSTRAINTS = {
    "ledger_head": {
        "ledger_head_pkey": "PRIMARY KEY (id)",
        "ledger_head_one_row": "CHECK ((id = 1))",
        "ledger_head_counts": "CHECK (((epoch >= 0) AND (seq >= 0)))",
    },
    "ledger_entries": {
        "ledger_entries_pkey": "PRIMARY KEY (seq)",
        "ledger_entries_seq": "CHECK ((seq > 0))",
    },
    "ledger_accounts": {
        "ledger_accounts_pkey": "PRIMARY KEY (name)",
        "ledger_accounts_spent": 'CHECK (((spent >= 0) AND (spent <= "limit")))',
        "ledger_accounts_limit": 'CHECK (("limit" > 0))',
    },
    "ledger_analysts": {
        "ledger_analysts_pkey": "PRIMARY KEY (account, analyst)",
        "ledger_analysts_spent": 'CHECK (((spent >= 0) AND (("limit" IS NULL) OR (spent <= "limit"))))',
    },
    "ledger_reservations": {
        "ledger_reservations_pkey": "PRIMARY KEY (seq)",
        "ledger_reservations_once": "UNIQUE (account, key)",
        "ledger_reservations_cost": "CHECK ((cost > 0))",
        "ledger_reservations_state": "CHECK ((state = ANY"
        " (ARRAY['reserved'::text, 'committed'::text, 'failed'::text])))",
        "ledger_reservations_outcome": "CHECK (((state = 'reserved'::text) = (outcome IS NULL)))",
    },
    "ledger_grants": {
        "ledger_grants_pkey": "PRIMARY KEY (account, analyst)",
        "ledger_grants_order": "CHECK (((granted > 0) AND ((revoked IS NULL) OR (revoked > granted))))",
    },
    "ledger_counters": {
        "ledger_counters_pkey": "PRIMARY KEY (account, name)",
        "ledger_counters_used": 'CHECK (((used >= 0) AND (used <= "limit")))',
    },
    "ledger_again": {
        "ledger_again_pkey": "PRIMARY KEY (seq)",
        "ledger_again_once": "UNIQUE (account, key, analyst)",
    },
    "ledger_checked": {
        "ledger_checked_pkey": "PRIMARY KEY (id)",
        "ledger_checked_one_row": "CHECK ((id = 1))",
        "ledger_checked_seq": "CHECK ((seq > 0))",
    },
    "ledger_jobs": {
        "ledger_jobs_pkey": "PRIMARY KEY (id)",
        "ledger_jobs_once": "UNIQUE (account, analyst, idempotency)",
        "ledger_jobs_state": "CHECK ((state = ANY"
        " (ARRAY['reserved'::text, 'running'::text, 'committed'::text, 'failed'::text])))",
        "ledger_jobs_payload": "CHECK (((state = ANY"
        " (ARRAY['reserved'::text, 'running'::text])) = (payload IS NOT NULL)))",
    },
}
_COLUMN = re.compile(r'^    "?(\w+)"? (BIGINT|TEXT)( NOT NULL)?', re.MULTILINE)
_TYPES = {"BIGINT": "bigint", "TEXT": "text"}


def present_tables(connection: sa.Connection) -> set[str]:
    """Return which of the ledger's tables are there."""
    return {row[0] for row in _rows(connection, _TABLES, tables())}


def catalog_problems(connection: sa.Connection) -> list[str]:
    """Say where tables, columns, constraints or triggers are not as they were created."""
    if "ledger_head" not in present_tables(connection):
        return ["ledger_head is missing"]
    up_to = found_format(connection)
    return _table_problems(connection, up_to) or _column_problems(connection, up_to) + _constraint_problems(
        connection, up_to
    ) + _trigger_problems(connection, up_to)


def creating(*, after: int = 0, up_to: int = FORMAT) -> list[str]:
    """Return the statements that create what is new since a format."""
    made = list(create_statements(integer="BIGINT", strict="", after=after, up_to=up_to).values())
    return made + [text for guard in _all_guards(after, up_to) for text in _trigger(guard)]


def _rows(connection: sa.Connection, query: sa.TextClause, names: tuple[str, ...]) -> Any:
    return connection.execute(query, {"tables": list(names)})


def _table_problems(connection: sa.Connection, up_to: int) -> list[str]:
    found = {row[0]: tuple(row[1:]) for row in _rows(connection, _TABLES, tables())}
    expected = tables(up_to)
    problems = [f"{name} does not belong to the ledger" for name in sorted(found) if name not in expected]
    for name in expected:
        kind, persistence, *others = found.get(name, ("missing", "p"))
        if kind == "missing":
            problems.append(f"{name} is missing")
        elif kind != "r":
            problems.append(f"{name} is not a table")
        elif persistence != "p":
            problems.append(f"{name} is unlogged or temporary: a crash would empty it")
        else:
            whats = ("row security", "an heir", "a rule")
            problems += [f"{name} has {what}" for what, has in zip(whats, others, strict=True) if has]
    return problems


def _column_problems(connection: sa.Connection, up_to: int) -> list[str]:
    found = defaultdict(set)
    for table, *column in _rows(connection, _COLUMNS, tables(up_to)):
        found[table].add(tuple(column))
    made = create_statements(integer="BIGINT", strict="", up_to=up_to)
    problems = []
    for item in DEFINITIONS:
        if item.index or item.since > up_to:
            continue
        expected = {
            (name, _TYPES[kind], bool(needed), False, "", "", True)
            for name, kind, needed in _COLUMN.findall(made[item.name])
        }
        for name in sorted({column[0] for column in expected ^ found[item.name]}):
            problems.append(f"column {name} of {item.name} is not as it was created")
    return problems


def _constraint_problems(connection: sa.Connection, up_to: int) -> list[str]:
    found = {(row[0], row[1]): tuple(row[2:]) for row in _rows(connection, _CONSTRAINTS, tables(up_to))}
    expected = {
        (table, name): (True, text, True)
        for table in tables(up_to)
        for name, text in CONSTRAINTS[table].items()
    }
    problems = []
    for table, name in sorted(found.keys() | expected.keys()):
        if (table, name) not in found:
            problems.append(f"constraint {name} is missing")
        elif (table, name) not in expected:
            problems.append(f"constraint {name} does not belong to the ledger")
        elif found[table, name] != expected[table, name]:
            problems.append(f"constraint {name} is not as it was created")
    return problems


def _trigger_problems(connection: sa.Connection, up_to: int) -> list[str]:
    found = {(row[1], row[0]): tuple(row[2:]) for row in _rows(connection, _TRIGGERS, tables(up_to))}
    expected = {
        (guard.table, guard.name): (_type(guard), True, "", "plpgsql", True, _body(guard))
        for guard in _all_guards(0, up_to)
    }
    problems = []
    for table, name in sorted(found.keys() | expected.keys()):
        if (table, name) not in found:
            problems.append(f"{name} is missing")
        elif (table, name) not in expected:
            problems.append(f"{name} does not belong to the ledger")
        elif found[table, name][0] not in {"O", "A"}:
            problems.append(f"{name} is disabled")
        elif found[table, name][1:] != expected[table, name]:
            problems.append(f"{name} is not as it was created")
    return problems


def _all_guards(after: int, up_to: int) -> tuple[Guard, ...]:
    # PostgreSQL alone can empty a table without touching a row.
    new = [item for item in DEFINITIONS if not item.index and after < item.since <= up_to]
    emptied = (
        Guard(item.name, "TRUNCATE", "1 = 1", "history is never emptied")
        for item in new
        if item.name != VOLATILE
    )
    return (*guards(after=after, up_to=up_to), *emptied)


def _body(guard: Guard) -> str:
    """Write the body of a guard's function for PostgreSQL."""
    returned = {"DELETE": "OLD", "TRUNCATE": "NULL"}.get(guard.event, "NEW")
    return (
        f"BEGIN IF ({guard.condition}) THEN RAISE EXCEPTION '{guard.message}'; END IF; RETURN {returned}; END"
    )


def _trigger(guard: Guard) -> tuple[str, str]:
    """Write a guard's function and trigger for PostgreSQL."""
    each = "STATEMENT" if guard.event == "TRUNCATE" else "ROW"
    return (
        f"CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql AS $guard${_body(guard)}$guard$",
        f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table}"
        f" FOR EACH {each} EXECUTE FUNCTION {guard.name}()",
    )


def _type(guard: Guard) -> int:
    """Return the bits PostgreSQL keeps for "before", "for each row" and the event (pg_trigger.tgtype)."""
    event = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}[guard.event]
    return 2 + event + (0 if guard.event == "TRUNCATE" else 1)

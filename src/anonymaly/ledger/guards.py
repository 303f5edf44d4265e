# SPDX-License-Identifier: Apache-2.0
"""The triggers that keep history from being rewritten, whoever holds the connection."""

from __future__ import annotations

from dataclasses import dataclass

from anonymaly.ledger.schema import TABLES


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

# PostgreSQL alone can empty a table without touching a row.
TRUNCATE_GUARDS = tuple(Guard(table, "TRUNCATE", "1 = 1", "history is never emptied") for table in TABLES)


def sqlite_trigger(guard: Guard) -> str:
    """Write a guard for SQLite."""
    return (
        f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table} WHEN {guard.condition}"
        f" BEGIN SELECT RAISE(ABORT, '{guard.message}'); END"
    )


def postgres_body(guard: Guard) -> str:
    """Write the body of a guard's function for PostgreSQL."""
    returned = {"DELETE": "OLD", "TRUNCATE": "NULL"}.get(guard.event, "NEW")
    return (
        f"BEGIN IF ({guard.condition}) THEN RAISE EXCEPTION '{guard.message}'; END IF; RETURN {returned}; END"
    )


def postgres_trigger(guard: Guard) -> tuple[str, str]:
    """Write a guard's function and trigger for PostgreSQL."""
    each = "STATEMENT" if guard.event == "TRUNCATE" else "ROW"
    return (
        f"CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql"
        f" AS $guard${postgres_body(guard)}$guard$",
        f"CREATE TRIGGER {guard.name} BEFORE {guard.event} ON {guard.table}"
        f" FOR EACH {each} EXECUTE FUNCTION {guard.name}()",
    )


def postgres_type(guard: Guard) -> int:
    """Return the bits PostgreSQL keeps for "before", "for each row" and the event (pg_trigger.tgtype)."""
    event = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}[guard.event]
    return 2 + event + (0 if guard.event == "TRUNCATE" else 1)

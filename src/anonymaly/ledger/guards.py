# SPDX-License-Identifier: Apache-2.0
"""What the database itself refuses: one trigger for each table and event."""

from __future__ import annotations

from dataclasses import dataclass

from anonymaly.ledger.schema import FORMAT


@dataclass(frozen=True, slots=True)
class Guard:
    """A change that the database refuses, as a condition both databases read alike."""

    table: str
    event: str
    condition: str
    message: str
    since: int = 1

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
    Guard(
        "ledger_grants",
        "UPDATE",
        "NEW.account <> OLD.account OR NEW.analyst <> OLD.analyst OR NEW.granted < OLD.granted"
        " OR (NEW.granted = OLD.granted AND OLD.revoked IS NOT NULL"
        " AND COALESCE(NEW.revoked, 0) <> OLD.revoked)",
        "a revocation stands until the next grant",
        since=2,
    ),
    Guard("ledger_grants", "DELETE", "1 = 1", "grants never go", since=2),
    Guard(
        "ledger_grants",
        "INSERT",
        "EXISTS (SELECT 1 FROM ledger_grants AS kept"
        " WHERE kept.account = NEW.account AND kept.analyst = NEW.analyst)",
        "grants are entered once",
        since=2,
    ),
    Guard(
        "ledger_counters",
        "UPDATE",
        "NEW.account <> OLD.account OR NEW.name <> OLD.name OR NEW.used < OLD.used",
        "used never falls",
        since=2,
    ),
    Guard("ledger_counters", "DELETE", "1 = 1", "counters never go", since=2),
    Guard(
        "ledger_counters",
        "INSERT",
        "EXISTS (SELECT 1 FROM ledger_counters AS kept"
        " WHERE kept.account = NEW.account AND kept.name = NEW.name)",
        "counters are entered once",
        since=2,
    ),
    Guard("ledger_again", "UPDATE", "1 = 1", "what was charged again never changes", since=2),
    Guard("ledger_again", "DELETE", "1 = 1", "what was charged again never goes", since=2),
    Guard(
        "ledger_again",
        "INSERT",
        "EXISTS (SELECT 1 FROM ledger_again AS kept WHERE kept.seq = NEW.seq"
        " OR (kept.account = NEW.account AND kept.key = NEW.key AND kept.analyst = NEW.analyst))",
        "a question is charged once to an analyst",
        since=2,
    ),
    Guard(
        "ledger_checked",
        "UPDATE",
        "NEW.id <> OLD.id OR NEW.seq <= OLD.seq",
        "what was checked never goes back",
        since=2,
    ),
    Guard("ledger_checked", "DELETE", "1 = 1", "what was checked never goes", since=2),
    Guard("ledger_checked", "INSERT", "EXISTS (SELECT 1 FROM ledger_checked)", "there is one", since=2),
)


def guards(*, after: int = 0, up_to: int = FORMAT) -> tuple[Guard, ...]:
    """Return the guards of a format; ``after`` leaves out those that format has already."""
    return tuple(guard for guard in GUARDS if after < guard.since <= up_to)

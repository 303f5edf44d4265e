# SPDX-License-Identifier: Apache-2.0
"""What somebody may do to a ledger by hand, and who must see it: opening it, or verifying it alone.

The entries that are named are those of the ledger that `verify` makes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CHECKED = 18  # the entry up to which the ledger is checked
Change = tuple[str, str]  # a table, and what is done to it

SEEN_AT_OPENING: Mapping[str, Sequence[Change]] = {
    "what was spent lowered": [("accounts", "SET spent = 0")],
    "the limit raised": [("accounts", 'SET "limit" = 9000000000')],
    "an analyst's limit taken away": [("analysts", 'SET "limit" = NULL')],
    "what an analyst spent lowered": [("analysts", "SET spent = 0")],
    "a counter set back": [("counters", "SET used = 1")],
    "a counter's limit raised": [("counters", 'SET "limit" = 99')],
    "a grant revoked": [("grants", "SET revoked = 20")],
    "an answered question opened again": [
        ("reservations", "SET state = 'reserved', outcome = NULL WHERE seq = 3")
    ],
    "an open question closed": [("reservations", "SET state = 'failed', outcome = 10 WHERE seq = 9")],
    "an answered question made cheaper": [("reservations", "SET cost = 1 WHERE seq = 3")],
    "a new entry edited": [("entries", "SET body = replace(body, '1000', '10') WHERE seq = 19")],
    "another entry where it was checked": [("entries", f"SET hash = 'ab' WHERE seq = {CHECKED}")],
    "the head set back": [("head", f"SET seq = {CHECKED}")],
    "a checkpoint beyond the end": [("checked", "SET seq = 99")],
    "a checkpoint without sums": [("checked", "SET sums = '{}'")],
    "what was spent lowered in the checkpoint too": [
        ("accounts", "SET spent = spent - 8000"),
        ("checked", """SET sums = replace(sums, '"spent":8000', '"spent":0')"""),
    ],
}
SEEN_BY_VERIFYING: Mapping[str, Sequence[Change]] = {
    "an old entry edited": [("entries", "SET body = replace(body, '1000', '10') WHERE seq = 3")],
    "an old entry filed elsewhere": [("entries", "SET kind = 'rule' WHERE seq = 3")],
    "the limit raised in the checkpoint too": [
        ("accounts", 'SET "limit" = 9000000000'),
        ("checked", """SET sums = replace(sums, '"limit":1000000000', '"limit":9000000000')"""),
    ],
}
# What a database can be built as that is no ledger's any more.
REBUILT: Mapping[str, Sequence[str]] = {
    "a check that checks nothing": (
        "ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_spent",
        "ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_accounts_spent CHECK (true)",
    ),
    "a check in the place of what must be unique": (
        "ALTER TABLE ledger_reservations DROP CONSTRAINT ledger_reservations_once",
        "ALTER TABLE ledger_reservations ADD CONSTRAINT ledger_reservations_once CHECK (true)",
    ),
    "tables that a crash would empty": tuple(
        f"ALTER TABLE ledger_{name} SET UNLOGGED" for name in ("accounts", "entries", "reservations")
    ),
    "a rule that swallows charges": (
        "CREATE RULE swallow AS ON UPDATE TO ledger_accounts DO INSTEAD NOTHING",
    ),
    "a column of another type": ("ALTER TABLE ledger_accounts ALTER COLUMN spent TYPE numeric",),
    "rows that are hidden": ("ALTER TABLE ledger_reservations ENABLE ROW LEVEL SECURITY",),
    "a trigger that is disabled": ("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_no_update",),
    "a trigger that never refuses": (
        "DROP TRIGGER ledger_entries_no_update ON ledger_entries",
        "CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries"
        " FOR EACH ROW WHEN (false) EXECUTE FUNCTION ledger_entries_no_update()",
    ),
}

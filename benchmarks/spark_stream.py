# SPDX-License-Identifier: Apache-2.0
"""The client's memory while the rows of a sample stream from Spark, which runs on this machine.

    python benchmarks/spark_stream.py [--json] [--rows 4000000]

Rows are made on the engine. Memory is of this process alone, as Linux counts it: before the first row, and at
most until the last. Needs `anonymaly[spark]` and Java 17.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import anonymaly as am
from anonymaly.declare.domain import Domain
from anonymaly.questions.share_sample.summary import non_sensitive_records

WARDS = [f"ward {number}" for number in range(7)]
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
ROWS_OF_A_PARTITION = 500_000


def memory(kind: str) -> float:
    """Return MiB of this process: VmRSS now, VmHWM at most since the last reset."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[kind].split()[0]) / 1024


def measure(rows: int) -> dict[str, Any]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    frame = session.range(0, rows, numPartitions=max(1, rows // ROWS_OF_A_PARTITION)).selectExpr(
        "CAST(id % 90 + 18 AS DOUBLE) AS age", "CAST(id AS DOUBLE) AS dose", "concat('ward ', id % 7) AS ward"
    )
    columns: dict[str, Domain] = {
        "age": am.Interval(0, 120),
        "dose": am.Interval(0, 1e12),
        "ward": am.Categories(WARDS),
    }
    policy = am.Policy("age >= 18 and age < 110")
    view = am.Dataset(frame, name="stream", columns=columns).judged(policy)
    view.limit(1).to_pyarrow()  # what is loaded once is no part of it
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    streamed = sum(len(batch) for batch in non_sensitive_records(view, list(columns)))
    found = {"rows": streamed, "MiB before": round(before), "MiB at most": round(memory("VmHWM"))}
    session.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=4_000_000)
    given = parser.parse_args()
    found = measure(given.rows)
    print(
        json.dumps(found) if given.json else "\n".join(f"{name}: {value:,}" for name, value in found.items())
    )


if __name__ == "__main__":
    main()

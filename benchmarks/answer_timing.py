# SPDX-License-Identifier: Apache-2.0
"""Does the time of an answer tell two neighbouring tables apart? Paired, for each question and source.

python benchmarks/answer_timing.py --json

Two accounts, one for each table, are asked the same question in turns: AB, BA, AB, … Of both times it reports
the median difference, and how often the second table's answer is the slower one, as Mann and Whitney's
rank-biserial correlation: 0 if a single answer's time tells nothing, ±1 if it tells the table. Both with
95 % bootstrap intervals over rounds, for the time that an asker sees, and for the processor's time, which
other work on the machine hardly moves. Nothing is asserted: ε does not bound time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from rich.console import Console
from rich.table import Table

import anonymaly as am

RESAMPLES = 2000
WARM_UPS = 3
LONG = 1_000_000  # characters of one value
MOST_ROWS = 200  # of one person

Records = dict[str, list[Any]]


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables whose answers may take different time, and why."""

    question: str
    why: str
    query: am.Query
    columns: dict[str, Any]
    first: Records
    second: Records
    options: dict[str, Any] = field(default_factory=dict)
    adjacency: Any = "add_remove"


def with_row(records: Records, *rows: dict[str, Any]) -> Records:
    """Return the records with some more at their end."""
    return {name: [*values, *(row[name] for row in rows)] for name, values in records.items()}


def pairs(rows: int) -> Iterator[Pair]:
    """Yield, for each question, the neighbours that its way of counting makes the most of."""
    numbers = range(rows)
    people: Records = {
        "age": [20 + number % 60 for number in numbers],
        "ward": ["AB"[number % 2] for number in numbers],
    }
    columns = {"age": am.Interval(0, 120), "ward": am.Categories(["A", "B"])}
    older = am.Count(where="age >= 60 and ward == 'A'", epsilon="0.5")
    yield Pair("count", "one record more", older, columns, people, with_row(people, {"age": 70, "ward": "A"}))

    visits = people | {"person": [f"p{number}" for number in numbers]}
    many = [{"age": 70, "ward": "A", "person": "many"}] * MOST_ROWS
    yield Pair(
        "count",
        f"a person with {MOST_ROWS} rows",
        older,
        columns,
        visits,
        with_row(visits, *many),
        {"person": "person", "max_rows": MOST_ROWS},
    )
    notes = people | {"note": ["short"] * rows}
    yield Pair(
        "count",
        f"a text of {LONG:,} characters, compared",
        am.Count(where="age >= 60 and note == 'short'", epsilon="0.5"),
        columns | {"note": am.Categories(["short"])},
        notes,
        with_row(notes, {"age": 70, "ward": "A", "note": "x" * LONG}),
    )
    yield Pair(
        "share-histogram",
        "one record in an empty cell",
        am.ShareHistogram(
            by=["ward", {"column": "age", "edges": list(range(0, 121, 5))}], method="dawa", epsilon="0.5"
        ),
        columns,
        people,
        with_row(people, {"age": 119, "ward": "A"}),
    )
    adults = {"adults": am.Policy("age >= 18")}
    yield Pair(
        "share-sample",
        "one record sensitive or not",
        am.ShareSample(policy="adults", columns=["age", "ward"], epsilon="0.5"),
        columns,
        with_row(people, {"age": 17, "ward": "A"}),
        with_row(people, {"age": 18, "ward": "A"}),
        {"rules": adults},
        "replace",
    )
    yield Pair(
        "share-ngrams",
        f"a person with {MOST_ROWS} rows",
        am.ShareNgrams(place=["ward"], order="age", length=3, per_person=3, epsilon="0.5"),
        columns,
        visits,
        with_row(visits, *many),
        {"person": "person", "max_rows": MOST_ROWS},
    )
    rare = {
        "rare": am.AnomalyModel(["age"], radius=1, beta=3),
        "exact": am.AnomalyModel(["ward", "age"], radius=0, beta=3),
    }
    alone = with_row(people, *[{"age": 100, "ward": "A"}] * 3)
    yield Pair(
        "identify",
        "one record, as many near it as make it normal",
        am.Identify(record={"age": 100}, model="rare", epsilon="0.5"),
        columns,
        alone,
        with_row(alone, {"age": 100, "ward": "A"}),
        {"rules": rare},
    )
    crowd = {"age": [100 + number / 100 for number in range(64)]}
    yield Pair(
        "identify",
        "64 records, of all of which counting may stop",
        am.Identify(records=crowd, model="rare", epsilon="0.5"),
        columns,
        alone,
        with_row(alone, {"age": 100.3, "ward": "A"}),
        {"rules": rare},
    )
    yield Pair(
        "lookahead",
        "one record in an empty cell",
        am.Lookahead(
            columns=["ward", {"column": "age", "edges": [0, 90, 120]}], model="exact", epsilon="0.5"
        ),
        columns,
        people,
        with_row(people, {"age": 110, "ward": "A"}),
        {"rules": rare},
    )
    wages = people | {"pay": [40 + number % 7 for number in numbers]}
    asked = {"ward": "A", "pay": 90}
    about = {"record": asked, "metric": "pay", "attributes": ["ward"], "epsilon": "0.5"}
    for question, query, rules in (
        ("explain", am.Explain(**about), {}),
        (
            "explain (rule)",
            am.Explain(**about, detector="grubbs", rule="groups"),
            {"groups": am.SameContexts()},
        ),
    ):
        yield Pair(
            question,
            "another record makes the asked one normal, or not",
            query,
            columns | {"pay": am.Interval(0, 200)},
            with_row(wages, {"age": 50, **asked}, {"age": 50, "ward": "A", "pay": 44}),
            with_row(wages, {"age": 50, **asked}, {"age": 50, "ward": "A", "pay": 200}),
            {"rules": rules},
            "replace",
        )
    places = people | {"weight": [60 + number % 30 for number in numbers]}
    for method in ("mixed", "grid", "marginals"):
        yield Pair(
            f"score ({method})",
            "one record in an empty corner",
            am.Score(columns=["age", "weight"], method=method, contamination="0.05", epsilon="0.5"),
            columns | {"weight": am.Interval(20, 220)},
            places,
            with_row(places, {"age": 119, "ward": "A", "weight": 219}),
        )


def open_account(pair: Pair, records: Records, folder: Path, source: str) -> am.Curator:
    """Return an account of its own for a table, in memory or in a file."""
    folder.mkdir()
    table: Any = pa.table(records)
    if source == "file":
        pyarrow.csv.write_csv(table, folder / "table.csv")
        table = folder / "table.csv"
    dataset = am.Dataset(table, name="timed", columns=pair.columns, **pair.options)
    return am.Curator(dataset, budget=1000, adjacency=pair.adjacency, ledger=folder / "timed.ledger")


def timed(curator: am.Curator, query: am.Query, repeat: int) -> tuple[float, float]:
    """Return how long one fresh answer takes by the clock, and of all cores, in microseconds."""
    began, worked = time.perf_counter_ns(), time.process_time_ns()
    curator.ask(query, repeat=repeat)
    return (time.perf_counter_ns() - began) / 1000, (time.process_time_ns() - worked) / 1000


def measure(pair: Pair, source: str, rounds: int) -> dict[str, Any]:
    """Ask about both tables in turns, and compare the times."""
    with tempfile.TemporaryDirectory() as folder:
        both = [
            open_account(pair, records, Path(folder, name), source)
            for name, records in (("first", pair.first), ("second", pair.second))
        ]
        for number in range(WARM_UPS):
            for curator in both:
                curator.ask(pair.query, repeat=number)
        times = np.empty((rounds, 2, 2))
        gc.collect()
        gc.disable()
        try:
            for number in range(rounds):
                for place in (0, 1) if number % 2 == 0 else (1, 0):
                    times[number, place] = timed(both[place], pair.query, WARM_UPS + number)
        finally:
            gc.enable()
        for curator in both:
            curator.close()
    return {
        "question": pair.question,
        "source": source,
        "pair": pair.why,
        "rounds": rounds,
        "clock": compare(times[:, :, 0]),
        "processor": compare(times[:, :, 1]),
    }


def compare(times: np.ndarray) -> dict[str, Any]:
    """Return medians, their difference and the rank-biserial correlation, with intervals."""
    random = np.random.default_rng(0)  # of the intervals only
    drawn = random.integers(0, len(times), (RESAMPLES, len(times)))
    differences = np.median((times[:, 1] - times[:, 0])[drawn], axis=1)
    slower = [rank_biserial(times[chosen]) for chosen in drawn[:500]]
    return {
        "median_us": round(float(np.median(times[:, 0])), 1),
        "difference_us": round(float(np.median(times[:, 1] - times[:, 0])), 1),
        "difference_us_95": np.quantile(differences, [0.025, 0.975]).round(1).tolist(),
        "rank_biserial": round(rank_biserial(times), 3),
        "rank_biserial_95": np.quantile(slower, [0.025, 0.975]).round(3).tolist(),
    }


def rank_biserial(times: np.ndarray) -> float:
    """Return P(second slower) − P(second faster), for one answer of each table."""
    first = np.sort(times[:, 0])
    below = np.searchsorted(first, times[:, 1], "left")
    above = len(first) - np.searchsorted(first, times[:, 1], "right")
    return float((below - above).mean() / len(first))


def main() -> None:
    """Print one line for each pair and source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=200, help="answers of each table")
    parser.add_argument("--rows", type=int, default=5000, help="rows of each table")
    parser.add_argument("--only", default="", help="questions whose name begins so")
    wanted = parser.parse_args()
    load = [round(number, 1) for number in os.getloadavg()]
    found = [
        measure(pair, source, wanted.rounds)
        for pair in pairs(wanted.rows)
        if pair.question.startswith(wanted.only)
        for source in ("memory", "file")
    ]
    machine = {
        "cores": os.cpu_count(),
        "load_before": load,
        "load_after": list(os.getloadavg()),
        "rows": wanted.rows,
    }
    if wanted.json:
        print(json.dumps({**machine, "pairs": found}, indent=2))
        return
    heads = [f"{what}, {by}" for by in ("clock", "processor") for what in ("difference µs", "rank-biserial")]
    table = Table("question", "source", "the second table has", "median ms", *heads)
    for line in found:
        cells = [
            f"{by[name]:+.{digits}f} ({by[f'{name}_95'][0]:+.{digits}f} to {by[f'{name}_95'][1]:+.{digits}f})"
            for by in (line["clock"], line["processor"])
            for name, digits in (("difference_us", 0), ("rank_biserial", 2))
        ]
        median = f"{line['clock']['median_us'] / 1000:.2f}"
        table.add_row(*(line[name] for name in ("question", "source", "pair")), median, *cells)
    Console(width=200).print(table)
    print(f"{wanted.rows:,} rows, {wanted.rounds} rounds, {machine['cores']} cores, load {load} before")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Does the time of a server's answer tell two neighbouring tables apart, with slots and without?

One server has both tables. In each pair both are asked the same question, one after the other unless several
pairs are asked at once, in an order that chance says; what is compared is the time from sending the question
to having the answer. Two tests, each doubled for being one of two: Wilcoxon's signed ranks, and the sign
test. Then the same without slots: an answer is handed over when its job has ended, which nothing but this
benchmark can have.

    python benchmarks/server_timing.py --pairs 1000 --json
"""

from __future__ import annotations

import argparse
import io
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from answer_timing import Pair, Records, pairs
from scipy import stats
from server_place import NANO, PATIENCE, PLENTY, Progress, Server, a_server, machine, show

import anonymaly as am
from anonymaly.ask import catalogue
from anonymaly.server.published import plain
from anonymaly.server.settings import RequestLimits, WebSettings, WorkerSettings
from anonymaly.server.state import tables

TABLES = ("first", "second")
LIMIT = 1e-6
ENOUGH = 100_000 * NANO  # for all pairs
# Hands everything over at once: no moment of release but the end itself.
NO_SLOTS = """
import sys
from anonymaly.server import released, slots
slots.next_release = released.next_release = lambda created, slot, now: now
from anonymaly.server.process import main
sys.exit(main(sys.argv[1:]))
"""
SLOTS = "import sys; from anonymaly.server.process import main; sys.exit(main(sys.argv[1:]))"


def plain_leak(rows: int, many: int) -> Pair:
    """Return neighbours that nobody could miss without slots: a person with very many rows."""
    visits: Records = {
        "age": [20 + number % 60 for number in range(rows)],
        "person": [f"p{number}" for number in range(rows)],
    }
    more: Records = {"age": [70] * many, "person": ["many"] * many}
    return Pair(
        "count",
        f"a person with {many:,} rows",
        am.Count(where="age >= 60", epsilon="0.5"),
        {"age": am.Interval(0, 120)},
        visits,
        {name: [*values, *more[name]] for name, values in visits.items()},
        {"person": "person", "max_rows": many},
    )


def write(server: Server, pair: Pair) -> None:
    """Write both tables of a pair, and let one analyst ask."""
    server.add_person("ann")
    for name, records in zip(TABLES, (pair.first, pair.second), strict=True):
        content = io.BytesIO()
        pyarrow.csv.write_csv(pa.table(records), content)
        dataset = am.Dataset(pa.table(records), name=name, columns=pair.columns, **pair.options)
        declared = plain(dataset.with_adjacency(pair.adjacency))
        declared = {field: item for field, item in declared.items() if item not in (None, {}, [], False)}
        declared |= {"adjacency": pair.adjacency, "budget": "1000"}
        server.add_table(rows=content.getvalue().decode(), **declared)
        server.grant(name, ["ann"], ENOUGH, budget=ENOUGH, rules={"any": True}, overcommit=True)


@contextmanager
def processes(server: Server, slot: float, *, off: bool) -> Iterator[None]:
    """Run one web process and one worker, as their supervisor would; without slots if asked to."""
    place, outbox = server.state_at, str(server.folder / "outbox")
    (server.folder / "outbox").mkdir(mode=0o700, exist_ok=True)
    questions = dict.fromkeys((*catalogue.QUESTIONS, "other"), slot)
    worker = WorkerSettings(folder=str(server.folder), state=place, outbox=outbox, slots=questions)
    web = WebSettings(
        state=place,
        outbox=outbox,
        limits=RequestLimits(**PLENTY),
        ledgers={name: server.ledger_of(name) for name in TABLES},
    )
    with server.state.write() as connection:  # what a worker that has ended said of the tables is over
        connection.execute(tables.update().values(ready_at=None))
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    server.base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    started = []
    with (server.folder / "log").open("ab") as log:
        for kind, told in (
            ("worker", {"settings": worker.to_dict(), "name": f"worker {time.monotonic_ns()}"}),
            (
                "web",
                {
                    "settings": web.to_dict(),
                    "tls_cert": None,
                    "tls_key": None,
                    "stop_seconds": 5,
                    "socket": listening.fileno(),
                },
            ),
        ):
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", NO_SLOTS if off else SLOTS, kind],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[listening.fileno()] if kind == "web" else [],
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps(told).encode() + b"\n")
            process.stdin.flush()
            started.append(process)
    listening.close()
    try:
        server.wait_until_ready()
        yield
    finally:
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


def timed(client: Any, table: str, query: am.Query, number: int) -> float:
    """Return how long one fresh answer took, in seconds."""
    headers = {"Idempotency-Key": f"timing-{table}-{number}", "Prefer": "wait=60"}
    body = {"query": query.to_dict(), "repeat": number}
    began = time.perf_counter()
    while True:  # the first answer of all waits for compilers, on a busy machine for minutes
        found = client.post(f"/v1/tables/{table}/ask", json=body, headers=headers)
        took = time.perf_counter() - began
        if found.status_code != 202 or took > PATIENCE:
            break
    if found.status_code != 200 or found.json()["state"] != "done":
        raise RuntimeError(found.text)
    return took


def measure(server: Server, pair: Pair, count: int, at_once: int, first: int) -> np.ndarray:
    """Ask about both tables, pair by pair, so many pairs at once; return their times."""
    chance, progress = random.Random(), Progress(f"{pair.question}: pairs")  # noqa: S311
    times = np.empty((count, 2))
    with ThreadPoolExecutor(2 * at_once) as pool, server.client("ann") as client:
        for warming in range(2):
            timed(client, TABLES[warming], pair.query, first + warming)
        first += 2
        for begin in range(0, count, at_once):
            numbers = range(begin, min(begin + at_once, count))
            jobs = [(number, place) for number in numbers for place in (0, 1)]
            chance.shuffle(jobs)
            if at_once == 1:
                for number, place in jobs:
                    times[number, place] = timed(client, TABLES[place], pair.query, first + number)
            else:
                took = pool.map(lambda job: timed(client, TABLES[job[1]], pair.query, first + job[0]), jobs)
                for (number, place), seconds in zip(jobs, took, strict=True):
                    times[number, place] = seconds
            progress.say(min(begin + at_once, count), count)
    return times


def compare(times: np.ndarray) -> dict[str, Any]:
    """Return what times tell of the tables."""
    differences = times[:, 1] - times[:, 0]
    slower, unlike = int((differences > 0).sum()), int((differences != 0).sum())
    p_rank = float(stats.wilcoxon(differences).pvalue)
    p_sign = float(stats.binomtest(slower, unlike).pvalue)
    return {
        "pairs": len(times),
        "median_ms": round(float(np.median(times)) * 1000, 2),
        "difference_ms": round(float(np.median(differences)) * 1000, 3),
        "second_slower": round(slower / len(times), 3),
        "p": min(1.0, 2 * min(p_rank, p_sign)),
    }


def try_pair(pair: Pair, count: int, without: int, slot: float, at_once: int) -> dict[str, Any]:
    """Measure a pair with slots, and so often without."""
    found: dict[str, Any] = {"question": pair.question, "the second table has": pair.why, "slot": slot}
    with a_server() as server:
        write(server, pair)
        with processes(server, slot, off=False):
            found["slots on"] = compare(measure(server, pair, count, at_once, 0))
        print(json.dumps(found), file=sys.stderr)  # it took minutes: whatever happens next, this is known
        with processes(server, slot, off=True):
            # One after the other: at once they would wait for each other, and hide what is looked for.
            found["slots off"] = compare(measure(server, pair, without, 1, 10**6))
    return found


def main() -> None:
    """Print a line for each pair; 1 if slots do not hide a difference, or none was found without them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--pairs-without", type=int, help="without slots; as many, if not given")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--many", type=int, default=100_000, help="rows of a person that nobody could miss")
    parser.add_argument("--slot", type=float, default=1.0, help="seconds, long enough for every answer")
    parser.add_argument(
        "--at-once", type=int, default=1, help="pairs, where there are slots; of more, each hides others"
    )
    parser.add_argument(
        "--only", help="questions whose line begins so, as 'count: a text'; leak: the plain one"
    )
    options = parser.parse_args()
    leak = [plain_leak(options.rows, options.many)] if options.only in (None, "leak") else []
    others = [
        pair for pair in pairs(options.rows) if f"{pair.question}: {pair.why}".startswith(options.only or "")
    ]
    before, without = machine(), options.pairs_without or options.pairs
    found = [
        try_pair(pair, options.pairs, without, options.slot, options.at_once) for pair in [*leak, *others]
    ]
    hidden = all(line["slots on"]["p"] > LIMIT for line in found)
    seen = not leak or found[0]["slots off"]["p"] < LIMIT
    said = {**before, "hidden with slots": hidden, "leak found without": seen, "questions": found}
    show({**said, "load_after": machine()["load"]}, options.json)
    sys.exit(0 if hidden and seen else 1)


if __name__ == "__main__":
    main()

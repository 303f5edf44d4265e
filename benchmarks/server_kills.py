# SPDX-License-Identifier: Apache-2.0
"""64 clients on a budget for 10, through HTTP: exactly 10, also with kill -9 of web processes and workers.

A supervisor runs two web processes and two workers. In each round a table of its own, whose budget pays for
10 questions, is asked 47 questions by 64 clients at once, of four analysts who were granted more than there
is; 17 questions are asked by two. Meanwhile processes are killed at random moments. A client that loses its
connection sends the same again. The noise is wide, so that a second answer under one charge would show as
other bytes.

    python benchmarks/server_kills.py --kills 200 --backend sqlite --json
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import httpx
from server_place import NANO, PATIENCE, Progress, Server, a_database, a_server, machine, show

from anonymaly.ledger import Ledger
from anonymaly.server import jobs

PEOPLE = ["ann", "bob", "eve", "joe"]
CLIENTS = 64
QUESTIONS = 47
PAID = 10
COST = "0.001"
ROUNDS = 10  # of one server
SPARED_SECONDS = 5.0
WAIT_SECONDS = 5


@dataclass(frozen=True)
class Told:
    """What one client was told in the end."""

    person: str
    number: int
    state: str  # done, refused, failed; or what else came
    job: str | None = None
    digest: str | None = None
    verified: bool = True


class Killer(threading.Thread):
    """Kills web processes and workers at random moments, while it is let."""

    def __init__(self, kills: int, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self.killed: Counter[str] = Counter()
        self.server: Server | None = None  # whose processes are killed
        self._kills, self._chance, self._progress = kills, chance, Progress("kills")

    @property
    def left(self) -> int:
        """How many kills are left."""
        return self._kills - sum(self.killed.values())

    def run(self) -> None:
        while self.left > 0:
            time.sleep(self._chance.random() * 0.3)
            kind, server = self._chance.choice(("web", "worker")), self.server
            # Those that just began are spared: their supervisor would start them later and later.
            found = [] if server is None else server.children(kind, older=SPARED_SECONDS)
            if not found:
                continue
            try:
                os.kill(self._chance.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                continue
            self.killed[kind] += 1
            self._progress.say(self._kills - self.left, self._kills)


def ask(server: Server, table: str, number: int) -> Told:
    """Ask as a client that does not give up, always with the same idempotency key."""
    person = PEOPLE[number % len(PEOPLE)]
    question = number % QUESTIONS
    body = {"query": {"question": "count", "epsilon": COST}, "repeat": question}
    headers = {"Idempotency-Key": f"client-{number}-{table}", "Prefer": f"wait={WAIT_SECONDS}"}
    job, until = None, time.monotonic() + PATIENCE
    with server.client(person) as client:
        while time.monotonic() < until:
            try:
                if job is None:
                    found = client.post(f"/v1/tables/{table}/ask", json=body, headers=headers)
                else:
                    found = client.get(f"/v1/jobs/{job}", params={"wait": WAIT_SECONDS})
            except httpx.TransportError:  # its web process was killed
                time.sleep(0.05)
                continue
            if found.status_code in (429, 503):
                time.sleep(0.1)
                continue
            if found.status_code in (402, 403):
                return Told(person, question, "refused")
            if found.status_code == 409:
                job = found.headers["Location"].rpartition("/")[2]
                continue
            if found.status_code not in (200, 202):
                return Told(person, question, f"{found.status_code} {found.text}")
            said = found.json()
            job = said["job"]
            if said["state"] != "running":
                return _told(client, said, person, question)
    return Told(person, question, "nothing came", job)


def _told(client: httpx.Client, said: dict[str, Any], person: str, question: int) -> Told:
    job = said["job"]
    if said["state"] != "done":
        return Told(person, question, said["state"], job)
    for _ in range(1000):
        try:
            content = client.get(f"/v1/answers/{job}/content").content
            receipt = said["answer"]["receipt"]
            verified = client.post("/v1/verify", json={"receipt": receipt}).json()["ok"]
        except (httpx.TransportError, KeyError):
            time.sleep(0.05)
            continue
        return Told(person, question, "done", job, hashlib.sha256(content).hexdigest(), verified)
    return Told(person, question, "no content", job)


@dataclass
class Found:
    """What was found in all rounds."""

    rounds: int = 0
    charged: int = 0  # rounds in which exactly as many as were paid for were charged
    answered: int = 0  # and so many answered
    wrong: Counter[str] = field(default_factory=Counter)
    clients: Counter[str] = field(default_factory=Counter)
    codes: list[int | None] = field(default_factory=list)


def run(kills: int, address: str | None, chance: random.Random, rounds: int) -> dict[str, Any]:
    """Let clients ask, and kill, in as many rounds as the kills take and in so many at least."""
    began, found, killer = time.monotonic(), Found(), Killer(kills, chance)
    killer.start()
    number = 0
    while number == 0 or killer.left > 0:
        names = [f"table{number}x{place}" for place in range(rounds)]
        serve_once(address, names, killer, found)
        number += 1
    return {
        "kills": sum(killer.killed.values()),
        "killed": dict(killer.killed),
        "rounds": found.rounds,
        "rounds in which exactly 10 were charged": found.charged,
        "rounds in which exactly 10 were answered": found.answered,
        "clients": dict(found.clients),
        "seconds": round(time.monotonic() - began),
        "exit codes": sorted({code or 0 for code in found.codes}),
        "wrong": dict(found.wrong),
    }


def serve_once(address: str | None, tables: list[str], killer: Killer, found: Found) -> None:
    """Run one server with a table for each round, and let 64 clients ask each."""
    with a_server(address) as server:
        for person in PEOPLE:
            server.add_person(person)
        for table in tables:
            server.add_table(table, budget=str(PAID * float(COST)))
            server.grant(table, PEOPLE, NANO, overcommit=True)
        server.start(web=2, workers=2, slots={"count": 0.1})
        with ThreadPoolExecutor(CLIENTS) as pool:
            for table in tables:
                killer.server = server
                told = list(pool.map(ask, repeat(server), repeat(table), range(CLIENTS)))
                killer.server = None
                found.wrong["jobs that did not end"] += unended(server)
                charged, answered = judge(server, table, told, found.wrong)
                found.charged += charged == PAID
                found.answered += answered == PAID
                found.rounds += 1
                found.clients.update(item.state.partition(" ")[0] for item in told)
        found.codes.append(server.stop())
        if any(found.wrong.values()):
            sys.stderr.write(server.log)


def judge(server: Server, table: str, told: list[Told], wrong: Counter[str]) -> tuple[int, int]:
    """Compare what clients were told with the ledger; return how many were charged, and answered."""
    with Ledger.audit(server.ledger_of(table)) as ledger:
        charges = {item.record["repeat"]: item for item in ledger.reservations(table)}
        paid = {
            (item.data["analyst"], item.data["key"])
            for item in ledger.entries(table)
            if item.kind in ("reserve", "again")
        }
        account, sound = ledger.account(table), ledger.verify().ok
    answers: dict[int, set[str]] = defaultdict(set)
    for item in told:
        charge = charges.get(item.number)
        if item.state == "done":
            answers[item.number].add(str(item.digest))
            good = charge is not None and charge.digest == item.digest and (item.person, charge.key) in paid
            wrong["answers without a charge"] += not good
            wrong["receipts that do not verify"] += not item.verified
        else:
            odd = item.state not in ("refused", "failed")
            wrong["clients that got something else"] += odd
            if odd:
                sys.stderr.write(f"{item}\n")
            if item.job is not None:
                file = server.folder / "outbox" / f"{item.job}.answer"
                if file.exists():
                    answers[item.number].add(hashlib.sha256(file.read_bytes()).hexdigest())
    wrong["second answers"] += sum(len(digests) > 1 for digests in answers.values())
    wrong["more answers than were paid for"] += max(0, len(answers) - PAID)
    wrong["charges that are not the sum"] += account.spent != len(charges) * 10**6
    wrong["more charges than the budget"] += account.spent > account.limit
    wrong["ledgers that do not verify"] += not sound
    return len(charges), len({item.number for item in told if item.state == "done"})


def unended(server: Server) -> int:
    """Wait for the jobs that no client waited for; return how many have not ended, or kept their question."""
    until = time.monotonic() + PATIENCE
    while jobs.unended(server.state) and time.monotonic() < until:
        time.sleep(0.05)
    return jobs.unended(server.state)


def main() -> None:
    """Print what was found; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of one server; further ones follow")
    parser.add_argument("--backend", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--url", help="an empty PostgreSQL database; one is started if not given")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seed", type=int, help="of the moments, so that a run can be looked at again")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    before = machine()
    with a_database(options.backend, options.url) as address:
        found = run(options.kills, address, random.Random(seed), options.rounds)  # noqa: S311
    show({"backend": options.backend, "seed": seed, **before, **found}, options.json)
    exact = found["rounds in which exactly 10 were charged"] == found["rounds"]
    sys.exit(1 if any(found["wrong"].values()) or not exact else 0)


if __name__ == "__main__":
    main()

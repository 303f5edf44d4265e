# SPDX-License-Identifier: Apache-2.0
"""A folder that a server serves, and an honest web process: it adds jobs and reads what they ended in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from anonymaly.ledger import Ledger
from anonymaly.server import jobs
from anonymaly.server.jobs import Job, Kind
from anonymaly.server.keys import ApiKey, Role
from anonymaly.server.people import NewKey, make_key
from anonymaly.server.settings import WorkerSettings
from anonymaly.server.state import State
from anonymaly.server.worker import Worker

NANO = 10**9
PATIENCE = 600.0  # seconds after which a test gives up; nothing takes that long but a broken server
ROWS = "age,city\n" + "\n".join(f"{20 + i % 60},{'Bern' if i % 3 else 'Rome'}" for i in range(300)) + "\n"
MANIFEST: dict[str, Any] = {
    "name": "patients",
    "source": "patients.csv",
    "columns": {
        "age": {"type": "interval", "low": 0, "high": 120},
        "city": {"type": "categories", "values": ["Bern", "Rome"]},
    },
    "budget": "10",
}


@dataclass
class Place:
    """One folder with a table, the shared tables, and keys by person."""

    folder: Path
    state_at: str
    ledger_at: str
    keys: dict[str, ApiKey] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path, address: str | None, **changes: Any) -> Place:
        """Write a table; its ledger and the shared tables are files, or lie in one PostgreSQL database."""
        folder.mkdir(exist_ok=True)
        (folder / "patients.csv").write_text(ROWS)
        manifest = {**MANIFEST, **({} if address is None else {"ledger": address}), **changes}
        (folder / "patients.yaml").write_text(yaml.safe_dump(manifest))
        place = cls(folder, address or str(folder / "server.db"), address or str(folder / "patients.ledger"))
        place.state = State.open(place.state_at, create=True)
        place.add_key("olga", "owner")
        place.add_key("ann", "analyst")
        return place

    state: State = field(init=False)

    def add_key(self, person: str, role: Role, days: int | None = None) -> ApiKey:
        with self.state.write() as connection:
            made, _ = make_key(self.state, connection, NewKey(person, role, "", days))
        self.keys[person] = made
        return made

    def submit(
        self, kind: Kind, person: str, payload: Mapping[str, Any], table: str | None = "patients", **more: Any
    ) -> Job:
        key = self.keys[person]
        return jobs.submit(
            self.state,
            kind,
            table=table,
            person=person,
            key_id=key.id,
            signing=key.signing,
            payload=payload,
            **more,
        )

    def ask(self, person: str, epsilon: str = "0.1", *, repeat: int = 0, where: str | None = None) -> Job:
        query = {"question": "count", "epsilon": epsilon, **({} if where is None else {"where": where})}
        return self.submit("ask", person, {"query": query, "repeat": repeat})

    def grant(self, person: str, limit: int | None = NANO, **terms: Any) -> Job:
        payload = {"analyst": person, "limit": limit, "terms": terms, "reason": "a study"}
        return self.submit("grant", "olga", payload)

    def job(self, number: str) -> Job:
        found = jobs.find(self.state, number)
        assert found is not None
        return found

    def result(self, job: Job) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.job(job.id).result or "null")
        return found

    def ended(self, *which: Job) -> list[Job]:
        """Wait until jobs have ended, whatever it takes."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = [self.job(job.id) for job in which]
            if all(job.state in jobs.ENDED for job in found):
                return found
            time.sleep(0.02)
        raise AssertionError([(job.kind, job.state, job.attempts) for job in found])

    def worker_settings(self, **changes: Any) -> WorkerSettings:
        told = {
            "folder": str(self.folder),
            "state": self.state_at,
            "outbox": str(self.folder / "outbox"),
            **self.settings,
            **changes,
        }
        return WorkerSettings.read(told)

    @contextmanager
    def worker(self, name: str = "one", **changes: Any) -> Iterator[Worker]:
        """A worker in this process, whose steps a test takes one by one."""
        worker = Worker(self.worker_settings(**changes), name)
        worker.check()
        yield worker
        worker.close()

    def start_worker(self, name: str, **changes: Any) -> subprocess.Popen[bytes]:
        """Start a worker as the supervisor does."""
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "anonymaly.server.process", "worker"],
            stdin=subprocess.PIPE,
            env=os.environ,
        )
        assert process.stdin is not None
        told = {"settings": self.worker_settings(**changes).to_dict(), "name": name}
        process.stdin.write(json.dumps(told).encode() + b"\n")
        process.stdin.flush()
        return process

    def ledger(self) -> Ledger:
        return Ledger.audit(self.ledger_at)

    def charges(self) -> int:
        with self.ledger() as ledger:
            return len(ledger.reservations("patients")) if "patients" in ledger.accounts() else 0

    def answer(self, job: Job) -> bytes:
        return (self.folder / "outbox" / f"{job.id}.answer").read_bytes()


def end(process: subprocess.Popen[bytes]) -> int:
    """Let a process end by itself: its supervisor's pipe closes."""
    if process.stdin is not None:
        process.stdin.close()
    return process.wait(PATIENCE)

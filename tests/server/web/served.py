# SPDX-License-Identifier: Apache-2.0
"""A whole server for tests: a web process of its own, a worker in a thread, keys of all kinds."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from anonymaly import Count, Curator
from anonymaly.core.stream_status import StreamStatus
from anonymaly.server.keys import ApiKey
from anonymaly.server.logins.settings import LoginSettings
from anonymaly.server.settings import RequestLimits, WebSettings, WorkerSettings
from anonymaly.server.state import State, keys, proofs
from anonymaly.server.worker import Worker
from anonymaly.stream.programs.watching_pool import WatchedPool
from tests.stream.counting.pool import POOL

PLENTY = RequestLimits(rate=1_000_000, burst=1_000_000, jobs_of_person=1000, jobs=10_000, at_once=1000)
COUNT = {"question": "count", "epsilon": "0.01", "where": "age < 40"}
COLUMNS = {
    "age": {"type": "interval", "low": 0, "high": 120},
    "ward": {"type": "categories", "values": ["A", "B"]},
}
NANO = 10**9


def write_table(folder: Path, name: str, extra: int = 0, ledger: str | None = None) -> None:
    """Write a table and its manifest; ``extra`` rows more are all of one person more."""
    lines = [f"{20 + number % 50},{'AB'[number % 2]}" for number in range(200)] + ["30,A"] * extra
    (folder / f"{name}.csv").write_text("\n".join(["age,ward", *lines, ""]), "utf-8")
    manifest = {"name": name, "source": f"{name}.csv", "columns": COLUMNS, "budget": "100"}
    manifest |= {} if ledger is None else {"ledger": ledger}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(manifest), "utf-8")


def write_status(path: Path, **changes: Any) -> StreamStatus:
    """Write what the owner's program of a pool of 60 rooms keeps after 40 windows."""
    names = [f"room-{number:02}" for number in range(60)]
    watched = WatchedPool(POOL, names)
    for window in range(40):
        silent = [name for name, there in (("room-05", window < 30), ("room-06", window % 5)) if not there]
        judged = window != 25
        watched.take(
            {
                "event": "verdict", "number": window + 1, "window": window, "known": 60,
                "state": "judged" if judged else "too few sensors",
                "contributed": 60 - len(silent) if judged else 0,
                "faults": ["room-07"] * (judged and window % 4 == 1) + ["room-08"] * (window == 38),
                "lies": ["room-09"] * (window == 37), "missing": silent if judged else [],
            },
            float(window),
        )  # fmt: skip
    watched.take({"event": "alarm", "sensor": "room-10", "window": 39}, 39.0)
    watched.connected = True
    status = StreamStatus.read({**watched.status(40.5).to_dict(), **changes})
    status.write(path)
    return status


class Hand:
    """A worker in a thread: it claims nothing under ``hold``, and publishes nothing under ``silence``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.hold = threading.Lock()
        self.silence = threading.Lock()
        self._worker = Worker(settings, "hand")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._worker.check()
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()
        self._worker.close()

    def _run(self) -> None:
        while not self._stopped.wait(0.01):
            with self.hold:
                self._worker.work()
            with self.silence:
                self._worker._publisher.check_if_due()


class Served:
    """A server that runs: ``client(who)`` calls it with a person's key."""

    def __init__(self, folder: Path, base: str, state: State, hand: Hand) -> None:
        self.folder = folder
        self.base = base
        self.state = state
        self.hand = hand
        self.keys: dict[str, ApiKey] = {
            "owner": make_key(state, "olga", "owner"),
            "analyst": make_key(state, "ann", "analyst"),
            "other analyst": make_key(state, "ben", "analyst"),
            "auditor": make_key(state, "carl", "auditor"),
            "expired": make_key(state, "ann", "analyst", expires=-1.0),
            "revoked": make_key(state, "ann", "analyst"),
        }
        with state.write() as connection:
            of = keys.update().where(keys.c.id == self.keys["revoked"].id)
            connection.execute(of.values(revoked_at=state.now))

    @property
    def log(self) -> str:
        return (self.folder / "web.log").read_text("utf-8")

    def client(self, who: str | None) -> httpx.Client:
        headers = {} if who is None else {"Authorization": f"Bearer {self.keys[who].text}"}
        return httpx.Client(base_url=self.base, headers=headers, timeout=300)

    def ask(
        self, who: str, key: str, query: dict[str, Any] = COUNT, table: str = "patients", wait: int = 60
    ) -> httpx.Response:
        headers = {"Idempotency-Key": key, **({"Prefer": f"wait={wait}"} if wait else {})}
        with self.client(who) as client:
            return client.post(f"/v1/tables/{table}/ask", json={"query": query}, headers=headers)


@contextmanager
def serve(
    folder: Path,
    *,
    limits: RequestLimits = PLENTY,
    extra: int = 0,
    slot: float = 0.1,
    slow_after: float = 20.0,
    postgres: str | None = None,
    confirm: bool = False,
    login: LoginSettings | None = None,
) -> Iterator[Served]:
    """Run a server with two tables; ann has a grant for patients and ben for others."""
    write_table(folder, "patients", extra, postgres)
    write_table(folder, "others", ledger=postgres)
    for name, analyst in (("patients", "ann"), ("others", "ben")):
        curator = Curator.open(folder / f"{name}.yaml")
        curator.ask(Count(epsilon="0.001"))  # so that no test waits for compilers
        curator.accountant.ledger.grant(name, analyst, limit=10 * NANO, by="olga", reason="a study")
        curator.close()
    place, outbox = postgres or str(folder / "server.db"), str(folder / "outbox")
    state = State.open(place, create=True)
    slots = dict.fromkeys(("count", "score", "explain", "share-histogram"), slot)
    admits, at = (None, None) if login is None else (login.for_workers(), login.for_web(folder))
    hand = Hand(
        WorkerSettings(
            folder=str(folder), state=place, outbox=outbox, slots=slots, confirm=confirm, login=admits
        )
    )
    ledgers = {} if postgres is None else dict.fromkeys(("patients", "others"), postgres)
    settings = WebSettings(
        state=place,
        outbox=outbox,
        limits=limits,
        ledgers=ledgers,
        security_contact="mailto:security@example.org",
        security_expires="9999-12-31",
        login=at,
        streams={"rooms": str(folder / "rooms.json"), "gone": str(folder / "gone.json")},
    )
    write_status(folder / "rooms.json")
    (folder / "web.json").write_text(settings.to_json(), "utf-8")
    with ExitStack() as stack:
        stack.callback(state.close)
        stack.callback(hand.stop)
        hand.start()
        port = 0 if login is None else urlsplit(login.address or "").port or 0
        base = stack.enter_context(web_process(folder, slow_after, port))
        yield Served(folder, base, state, hand)


@contextmanager
def web_process(folder: Path, slow_after: float = 20.0, port: int = 0) -> Iterator[str]:
    """Run a web process by the settings in a folder; return where it listens."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", port))
    listening.listen(128)
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    arguments = [str(folder / "web.json"), str(listening.fileno()), str(slow_after)]
    with (folder / "web.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.server.web.web_process", *arguments],
            pass_fds=[listening.fileno()],
            stdout=log,
            stderr=log,
            cwd=Path(__file__).parents[3],
        )
    listening.close()
    try:
        httpx.get(f"{base}/v1", timeout=300).raise_for_status()  # waits until it has started
        yield base
    finally:
        process.terminate()
        process.wait(30)


def make_key(state: State, person: str, role: str, *, expires: float | None = None) -> ApiKey:
    """Write a key down as a worker does; it expires so many seconds from now."""
    key = ApiKey.fresh()
    with state.write() as connection:
        row = {"id": key.id, "person": person, "role": role, "hash": key.hash, "label": ""}
        until = None if expires is None else state.time(connection) + expires
        connection.execute(keys.insert().values(**row, created_at=state.now, expires_at=until))
        connection.execute(proofs.insert().values(id=key.id, proof=key.signing.hex()))
    return key

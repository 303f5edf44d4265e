# SPDX-License-Identifier: Apache-2.0
"""What whoever runs a server watches: health, readiness and numbers, from the real processes."""

from __future__ import annotations

import json
import re
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import sqlalchemy as sa

from anonymaly.server import alive
from anonymaly.server.state import State, jobs, tables, workers
from tests.server.places import PATIENCE
from tests.server.web.served import COUNT, Served, serve, web_process

LINE = re.compile(r'[a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? -?[0-9.e+-]+')


def numbers(served: Served, base: str | None = None) -> dict[str, float]:
    """Return all numbers by name and labels, checked against the grammar of the format."""
    headers = {"Authorization": f"Bearer {served.keys['owner'].text}"}
    found = httpx.get(f"{base or served.base}/metrics", headers=headers, timeout=300)
    assert found.status_code == 200
    assert found.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = found.text.splitlines()
    said = [line for line in lines if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in said), said
    named = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
    assert {re.split(r"[{ ]", line)[0] for line in said} <= named
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in said}


def requests(found: dict[str, float], method: str, route: str, status: int) -> float:
    name = f'anonymaly_requests_total{{method="{method}",route="{route}",status="{status}"}}'
    return found.get(name, 0.0)


def test_health_needs_no_key_and_says_nothing_else(served: Served) -> None:
    with served.client(None) as client:
        found = client.get("/health")
    assert (found.status_code, found.json()) == (200, {"healthy": True})


def say_ready(client: httpx.Client, ready: bool) -> None:
    """Wait until the server says so: it looks once a second."""
    until = time.monotonic() + PATIENCE
    while (found := client.get("/ready")).json() != {"ready": ready}:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found.status_code == (200 if ready else 503)


def test_it_is_ready_while_every_table_of_a_worker_can_be_read(tmp_path: Path) -> None:
    with serve(tmp_path) as served, served.client(None) as client:
        say_ready(client, True)
        with served.hand.silence:
            change(served.state, tables.update().where(tables.c.name == "others").values(ready_at=None))
            say_ready(client, False)
            assert client.get("/health").status_code == 200
        served.hand._worker.check()
        say_ready(client, True)
        # A table that was declared and that no worker could ever read is published nowhere.
        lost = {"name": "another", "tables": json.dumps(["never"]), "seen_at": served.state.now}
        change(served.state, workers.insert().values(lost))
        say_ready(client, False)
        long_ago = workers.update().where(workers.c.name == "another").values(seen_at=0.0)
        change(served.state, long_ago)
        say_ready(client, True)
        change(served.state, workers.delete())
        say_ready(client, False)


def test_it_is_not_ready_without_its_shared_tables_or_a_ledger(tmp_path: Path) -> None:
    with serve(tmp_path) as served, served.client(None) as client, served.hand.hold, served.hand.silence:
        say_ready(client, True)
        change(served.state, sa.text("ALTER TABLE server_workers RENAME TO elsewhere"))
        say_ready(client, False)
        assert client.get("/health").status_code == 200
        change(served.state, sa.text("ALTER TABLE elsewhere RENAME TO server_workers"))
        say_ready(client, True)
        (tmp_path / "others.ledger").write_bytes(b"no ledger")
        say_ready(client, False)


def test_requests_are_counted_over_processes_by_template_and_status_and_by_nothing_else(
    tmp_path: Path,
) -> None:
    with serve(tmp_path) as served, ExitStack() as stack:
        second = stack.enter_context(web_process(tmp_path))
        for base in (served.base, second):
            with httpx.Client(base_url=base, timeout=300) as client:
                assert client.get("/v1/tables/patients?secret=1").status_code == 401
                owner = {"Authorization": f"Bearer {served.keys['owner'].text}"}
                assert client.get("/v1/tables/patients?secret=2", headers=owner).status_code == 200
                assert client.get("/v1/tables/hidden-name", headers=owner).status_code == 404
                assert client.request("BREW", "/v1/pot", headers=owner).status_code == 404
        until = time.monotonic() + PATIENCE
        while requests(found := numbers(served), "GET", "/v1/tables/{table}", 200) < 2:
            assert time.monotonic() < until, found
            time.sleep(0.1)
        assert requests(found, "GET", "/v1/tables/{table}", 200) == 2
        assert requests(found, "GET", "/v1/tables/{table}", 404) == 2
        assert requests(found, "-", "-", 401) == 2
        assert requests(found, "-", "-", 404) == 2
        before = requests(numbers(served, second), "GET", "/metrics", 200)
        stack.close()  # what a process that ends has counted stays
        after = requests(numbers(served), "GET", "/metrics", 200)
        assert after > before
        text = " ".join(found)
        assert not any(word in text for word in ("secret", "hidden-name", "BREW", "pot", "ann"))


def test_charges_jobs_and_workers_are_numbers_and_a_job_shows_at_its_release(tmp_path: Path) -> None:
    with serve(tmp_path, slot=3600.0) as served:
        alive.stay(served.state, "hand")  # as a worker does beside its jobs
        before = numbers(served)
        assert before['anonymaly_questions_charged_total{table="patients"}'] == 1
        assert before["anonymaly_workers_alive"] == 1
        assert before['anonymaly_table_ready{table="patients"}'] == 1
        assert before['anonymaly_epsilon_limit{table="patients"}'] == 100
        assert served.ask("analyst", "charged-once", COUNT, wait=0).status_code == 202
        until = time.monotonic() + PATIENCE
        while (found := numbers(served))['anonymaly_questions_charged_total{table="patients"}'] < 2:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert found['anonymaly_epsilon_spent{table="patients"}'] == 0.011
        with served.state.read() as connection:
            while connection.execute(sa.select(jobs.c.state)).scalar() != "done":
                connection.rollback()
                assert time.monotonic() < until
                time.sleep(0.1)
        served.hand._worker.stop()  # it would be at the question for half a slot
        found = numbers(served)
        assert found['anonymaly_jobs{state="done"}'] == 0
        assert found['anonymaly_jobs{state="under way"}'] == 1
        change(served.state, jobs.update().values(created_at=0.0, ended_at=1.0))
        found = numbers(served)
        assert found['anonymaly_jobs{state="done"}'] == 1
        assert found['anonymaly_jobs{state="under way"}'] == 0


def test_a_ledger_that_cannot_be_read_is_a_number_and_hides_no_other(tmp_path: Path) -> None:
    with serve(tmp_path) as served, served.hand.hold:
        (tmp_path / "others.ledger").write_bytes(b"no ledger")
        found = numbers(served)
        assert found['anonymaly_ledger_readable{table="others"}'] == 0
        assert found['anonymaly_ledger_readable{table="patients"}'] == 1
        assert 'anonymaly_questions_charged_total{table="others"}' not in found


def change(state: State, statement: sa.Executable) -> None:
    with state.write() as connection:
        connection.execute(statement)

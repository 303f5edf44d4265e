# SPDX-License-Identifier: Apache-2.0
"""A server that is told to stop: it takes nothing new, and what is under way has its time to end."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import yaml

from anonymaly.server.state import State, jobs
from tests.server.places import PATIENCE
from tests.server.running import SETTINGS, Running
from tests.server.test_run import children

SLOT = 4.0


@contextmanager
def started(folder: Path, stop_seconds: int) -> Iterator[Running]:
    server = Running(folder)
    settings = {**SETTINGS, "slots": {"count": SLOT}, "stop_seconds": stop_seconds}
    (folder / "server.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    try:
        server.start()
        server.wait_until_ready()
        yield server
    finally:
        server.stop(signal.SIGKILL)


@pytest.mark.slow
def test_whoever_waits_for_a_job_gets_its_answer_and_nobody_else_is_taken(tmp_path: Path) -> None:
    with started(tmp_path, 300) as server:
        key, found = server.add("ann"), []

        def ask() -> None:
            headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "while-stopping"}
            body = {"query": {"question": "count", "epsilon": "0.1"}}
            address = f"{server.url.replace('/patients', '')}/v1/tables/patients/ask"
            found.append(
                httpx.post(address, json=body, headers={**headers, "Prefer": "wait=60"}, timeout=300)
            )

        asking = threading.Thread(target=ask)
        asking.start()
        state = State.open(tmp_path / "server.db")
        until = time.monotonic() + PATIENCE
        asked = sa.select(sa.func.count()).select_from(jobs).where(jobs.c.kind == "ask")
        while not number_of(state, asked):
            assert time.monotonic() < until
            time.sleep(0.02)
        process = server._process
        assert process is not None
        process.send_signal(signal.SIGTERM)
        asking.join()
        assert (found[0].status_code, found[0].json()["state"]) == (200, "done"), found[0].text
        assert process.wait(PATIENCE) == 0
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.base}/health")
        assert not number_of(state, asked.where(jobs.c.state.in_(("waiting", "running"))))
        state.close()


@pytest.mark.slow
def test_what_does_not_end_in_time_is_ended(tmp_path: Path) -> None:
    with started(tmp_path, 1) as server:
        process = server._process
        assert process is not None
        for number in children(process):
            os.kill(number, signal.SIGSTOP)  # neither ends by itself
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def number_of(state: State, of: sa.Select[Any]) -> int:
    with state.read() as connection:
        return int(connection.execute(of).scalar_one())

# SPDX-License-Identifier: Apache-2.0
"""What takes too long or too much memory ends in the one failure, and is not drawn a second time."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg
import pytest

from anonymaly.server.carrying_out import FAILED
from anonymaly.server.jobs import Job
from anonymaly.server.worker import TOO_LONG
from tests.server.places import PATIENCE, Place, end


def fails(place: Place, asked: Job) -> None:
    (ended,) = place.ended(asked)
    assert ended.state == "failed"
    assert place.result(asked) == FAILED.result
    assert ended.payload is None
    with place.ledger() as ledger:
        (charge,) = ledger.reservations("patients")
    assert charge.state == "failed"


@pytest.mark.slow
def test_a_job_that_takes_too_long_ends_its_worker_and_fails_at_the_next_claim(
    postgres: str, tmp_path: Path
) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        # Names and types are there at once; rows never come.
        connection.execute(
            "CREATE VIEW people AS SELECT 30 AS age, 'Bern' AS city FROM pg_sleep(1000) AS slowly"
        )
    place = Place.make(tmp_path / "served", postgres, source=postgres, table="people")
    asked = place.ask("olga")
    worker = place.start_worker("slow", seconds=8)
    assert worker.wait(PATIENCE) == TOO_LONG
    assert place.job(asked.id).state == "running"
    after = place.start_worker("next", seconds=8)
    fails(place, asked)
    assert end(after) == 0
    with place.ledger() as ledger:
        (charge,) = ledger.reservations("patients")
    assert (charge.stage, charge.error) == ("worker", "WorkerLost")
    place.state.close()


@pytest.mark.slow
def test_a_job_that_needs_too_much_memory_fails_and_the_worker_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.execute("CREATE TABLE small AS SELECT 30 AS age, 'x' AS letter")
        connection.execute(
            "CREATE VIEW people AS SELECT age, sha256(repeat(letter, 3000000000)) AS city FROM small"
        )
    place = Place.make(folder, None, source="people.duckdb", table="people")
    worker = place.start_worker("small", memory=1500 * 2**20)
    asked = place.ask("olga", where="city == 'Bern'")
    fails(place, asked)
    rehearsed = place.submit("rehearse", "olga", {"query": {"question": "count", "epsilon": "1"}})
    assert place.ended(rehearsed)[0].state == "done"
    assert end(worker) == 0
    place.state.close()

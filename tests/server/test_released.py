# SPDX-License-Identifier: Apache-2.0
"""What is read of a job before its release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from anonymaly.server import jobs
from anonymaly.server.released import list_answers, look
from anonymaly.server.state import State
from anonymaly.server.state import jobs as rows
from tests.server.places import Place

QUESTION = {"query": {"question": "count", "epsilon": "0.1"}, "repeat": 0}


@contextmanager
def statements(state: State) -> Iterator[list[str]]:
    """Note what the database is asked for."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.append(statement)

    sa.event.listen(state.engine, "before_cursor_execute", note)
    yield found
    sa.event.remove(state.engine, "before_cursor_execute", note)


def test_what_a_job_ended_in_is_not_even_read_before_its_release(here: Place) -> None:
    with here.worker() as worker:
        here.grant("ann")
        worker.work()
        asked = here.submit("ask", "ann", QUESTION, slot=86_400.0, idempotency="theirs")
        worker.work()
    assert here.job(asked.id).state == "done"
    with statements(here.state) as said:
        assert look(here.state, asked.id) is not None
        assert list_answers(here.state, "patients", "ann", None, 50) == ([], None)
        assert jobs.find_same(here.state, "ann", "theirs") is not None
    assert len(said) == 3
    assert [text for text in said if "result" in text] == []
    with here.state.write() as connection:
        past = rows.update().values(created_at=0.0, ended_at=1.0, slot=2.0)
        connection.execute(past.where(rows.c.id == asked.id))
    seen = look(here.state, asked.id)
    assert seen is not None
    assert seen.result["answer"]["question"] == "count"
    (listed,), _ = list_answers(here.state, "patients", "ann", None, 50)
    assert listed.result == seen.result

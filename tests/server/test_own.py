# SPDX-License-Identifier: Apache-2.0
"""What an analyst sees of refusals and failures: nothing that tells of others, and nothing that is not so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anonymaly as am
from anonymaly.server.problems import failed
from tests.server.places import NANO, Place


def explain(city: str) -> dict[str, Any]:
    query = am.Explain(
        record={"city": city, "age": 90},
        metric="age",
        attributes=["city"],
        detector="grubbs",
        rule="groups",
        epsilon="0.1",
    )
    return {"query": query.to_dict(), "repeat": 0}


def test_a_rule_that_others_used_up_is_refused_without_a_number_of_theirs(tmp_path: Path) -> None:
    rules = {"groups": am.SameContexts(questions=1).to_dict()}
    place = Place.make(tmp_path / "served", None, rules=rules)
    place.add_key("bob", "analyst")
    with place.worker() as worker:
        for person in ("ann", "bob"):  # without terms, as before there were any: no rule is allotted
            place.submit(
                "grant", "olga", {"analyst": person, "limit": NANO, "terms": {}, "reason": "a study"}
            )
        first = place.submit("ask", "bob", explain("Bern"))
        mine = place.submit("ask", "ann", explain("Rome"))
        while worker.work():
            pass
    assert place.job(first.id).state in ("done", "failed"), place.result(first)
    problem = place.result(mine)["problem"]
    assert place.job(mine.id).state == "refused"
    assert problem["field"] == "rules"
    assert "1" not in problem["problem"] + problem["next_step"]
    place.state.close()


def test_a_failure_does_not_say_that_it_was_charged(here: Place) -> None:
    # A worker that is lost again and again fails a job that no worker had begun to charge.
    with here.worker() as worker:
        here.grant("ann")
        worker.work()
    asked = here.ask("ann")
    with here.state.write() as connection:
        connection.exec_driver_sql("UPDATE server_jobs SET attempts = 2 WHERE state = 'waiting'")
    with here.worker() as worker:
        worker.work()
    assert here.job(asked.id).state == "failed"
    assert here.charges() == 0
    assert "if it was charged" in failed().problem

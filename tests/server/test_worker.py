# SPDX-License-Identifier: Apache-2.0
"""What a worker does with jobs that web processes add."""

from __future__ import annotations

import hashlib
import json

import pytest
import sqlalchemy as sa
import yaml

from anonymaly.ask.query import Query
from anonymaly.server import jobs
from anonymaly.server.carrying_out import FAILED
from anonymaly.server.keys import ApiKey, unseal
from anonymaly.server.once import forget_old
from anonymaly.server.published import find_table
from anonymaly.server.state import State
from anonymaly.server.state import jobs as rows
from tests.server.places import MANIFEST, NANO, ROWS, Place


def test_an_analyst_with_a_grant_gets_an_answer_that_is_charged_and_in_the_outbox(place: Place) -> None:
    with place.worker() as worker:
        granted, asked = place.grant("ann"), place.ask("ann", "0.25")
        assert worker.work()
        assert worker.work()
        assert not worker.work()
    assert place.job(granted.id).state == "done"
    assert place.job(asked.id).state == "done", place.result(asked)
    result = place.result(asked)
    assert result["answer"]["charged"] == "0.25"
    assert result["answer"]["remaining"] == "0.75"
    assert result["answer"]["number"] == 1
    assert hashlib.sha256(place.answer(asked)).hexdigest() == result["content"]["digest"]
    with place.ledger() as ledger:
        assert ledger.account("patients").spent == NANO // 4
        assert ledger.verify().ok


def test_an_analyst_without_a_grant_is_refused_also_where_nobody_has_one(place: Place) -> None:
    with place.worker() as worker:
        asked = place.ask("ann")
        worker.work()
    assert place.job(asked.id).state == "refused"
    assert place.result(asked)["problem"]["field"] == "analyst"
    assert place.charges() == 0


def test_the_same_question_of_two_analysts_has_the_same_bytes_and_a_receipt_of_each_ones_charge(
    place: Place,
) -> None:
    place.add_key("bob", "analyst")
    with place.worker() as worker:
        for person in ("ann", "bob"):
            place.grant(person)
        first, second = place.ask("ann"), place.ask("bob")
        while worker.work():
            pass
    results = [place.result(job)["answer"] for job in (first, second)]
    receipts = [result.pop("receipt") for result in results]
    assert place.answer(first) == place.answer(second)
    assert results[0] == results[1]
    assert receipts[0].pop("charge") != receipts[1].pop("charge")
    assert receipts[0] == receipts[1]
    assert place.charges() == 1


def test_an_answer_shows_no_number_of_the_ledger_and_of_no_other_analyst(place: Place) -> None:
    place.add_key("bob", "analyst")
    with place.worker() as worker:
        for person in ("ann", "bob"):
            place.grant(person)
        place.ask("bob", where="age < 30")
        place.ask("bob", where="age < 40")
        mine = place.ask("ann")
        while worker.work():
            pass
    answer = place.result(mine)["answer"]
    assert answer["number"] == 1
    assert answer["remaining"] == "0.9"
    assert set(answer["receipt"]) == {"ledger", "account", "charge", "digest", "cost"}


def test_what_is_asked_is_removed_when_a_job_ends(place: Place) -> None:
    with place.worker() as worker:
        place.grant("ann")
        asked = place.ask("ann", where="city == 'Rome'")
        assert "Rome" in str(place.job(asked.id).payload)
        while worker.work():
            pass
    ended = place.job(asked.id)
    assert ended.payload is None
    assert ended.proof == ""


def test_what_was_asked_is_in_no_file_of_the_shared_tables_any_more(here: Place) -> None:
    def files() -> bytes:
        return b"".join(path.read_bytes() for path in here.folder.glob("server.db*"))

    query = {"question": "count", "epsilon": "0.1"}
    with here.worker() as worker:
        here.grant("ann", 5 * NANO)
        for number in range(20):
            here.submit("ask", "ann", {"query": query, "repeat": number, "more": "geheim " * 200})
        assert b"geheim" in files()
        here.state.forget()  # as a worker does at times: now it is in the pages of the file itself
        while worker.work():
            pass
    assert b"geheim" not in files()


def test_owners_jobs_are_entries_of_the_ledger_in_the_owners_name(place: Place) -> None:
    with place.worker() as worker:
        place.grant("ann")
        place.submit("raise", "olga", {"to": 12 * NANO, "reason": "more questions"})
        place.submit("pause", "olga", {"reason": "a look"})
        refused = place.ask("ann")
        place.submit("resume", "olga", {"reason": "looked"})
        place.submit("revoke", "olga", {"analyst": "ann", "reason": "the study is over"})
        again = place.ask("ann")
        while worker.work():
            pass
    assert [place.job(job.id).state for job in (refused, again)] == ["refused", "refused"]
    with place.ledger() as ledger:
        entries = ledger.entries("patients")
        assert ledger.account("patients").limit == 12 * NANO
    said = [(item.kind, item.data["by"]) for item in entries if "by" in item.data]
    assert said == [(kind, "olga") for kind in ("grant", "limit", "pause", "pause", "revocation")]


def test_a_pause_is_published_at_once(here: Place) -> None:
    with here.worker() as worker:
        here.submit("pause", "olga", {"reason": "a look"})
        worker.work()
    found = find_table(here.state, "patients")
    assert found is not None
    assert found.paused


def test_a_table_whose_budget_was_raised_by_its_owner_is_served_again_after_a_restart(here: Place) -> None:
    with here.worker() as worker:
        here.submit("raise", "olga", {"to": 12 * NANO, "reason": "more"})
        worker.work()
    with here.worker():
        found = find_table(here.state, "patients")
    assert found is not None
    assert found.ready


def test_a_new_key_is_sealed_for_the_key_that_made_it_is_there_once_and_works(place: Place) -> None:
    payload = {"person": "eve", "role": "analyst", "label": "laptop", "expires_in_days": 30}
    with place.worker() as worker:
        place.grant("eve")
        made = place.submit("key", "olga", payload, table=None)
        while worker.work():
            pass
        sealed = place.result(made)["sealed"]
        text = unseal(place.keys["olga"].signing, made.id, sealed) or ""
        key = ApiKey.read(text)
        assert key is not None
        place.keys["eve"] = key
        asked = place.ask("eve")
        worker.work()
        assert place.job(asked.id).state == "done"
        assert text not in str(place.job(made.id))
        assert unseal(key.signing, made.id, sealed) is None
        assert forget_old(place.state, 0) == 1
        assert "sealed" not in place.result(made)
        with place.state.read() as connection:
            held = list(connection.execute(sa.text("SELECT * FROM server_keys")))
            held += connection.execute(sa.text("SELECT * FROM server_proofs")).all()
    assert text[-43:] not in str(held)


def test_a_revoked_key_is_refused_by_the_worker_though_the_job_came_before(place: Place) -> None:
    with place.worker() as worker:
        place.grant("ann")
        worker.work()
        revoked = place.submit("revoke-key", "olga", {"id": place.keys["ann"].id}, table=None)
        asked = place.ask("ann")
        while worker.work():
            pass
    assert place.job(revoked.id).state == "done"
    assert place.job(asked.id).state == "refused"
    assert place.charges() == 0


def test_an_expired_key_is_refused_by_the_worker(place: Place) -> None:
    place.add_key("ann", "analyst", days=1)
    with place.state.write() as connection:
        connection.execute(sa.text("UPDATE server_keys SET expires_at = created_at - 1 WHERE person = 'ann'"))
    with place.worker() as worker:
        place.grant("ann")
        asked = place.ask("ann")
        while worker.work():
            pass
    assert place.job(asked.id).state == "refused"
    assert place.charges() == 0


def test_the_last_key_of_an_owner_is_not_revoked(place: Place) -> None:
    with place.worker() as worker:
        first = place.submit("revoke-key", "olga", {"id": place.keys["olga"].id}, table=None)
        worker.work()
        place.add_key("otto", "owner")
        second = place.submit("revoke-key", "otto", {"id": place.keys["olga"].id}, table=None)
        worker.work()
    assert place.job(first.id).state == "refused"
    assert place.job(second.id).state == "done"


def test_a_rehearsal_costs_nothing(here: Place) -> None:
    with here.worker() as worker:
        here.grant("ann")
        asked = here.submit("rehearse", "ann", {"query": {"question": "count", "epsilon": "1"}, "rows": 50})
        while worker.work():
            pass
    assert here.result(asked)["answer"]["invented"] is True
    assert here.charges() == 0


def test_a_question_that_is_no_question_is_refused_in_words(here: Place) -> None:
    with here.worker() as worker:
        here.grant("ann")
        asked = [
            here.submit("ask", "ann", payload)
            for payload in ({}, {"query": 3}, {"query": {"question": "count"}, "repeat": "x"})
        ]
        while worker.work():
            pass
    assert [here.job(job.id).state for job in asked] == ["refused"] * 3
    assert all(here.result(job)["problem"]["next_step"] for job in asked)


def test_a_job_of_a_table_that_no_worker_has_ends_too(here: Place) -> None:
    with here.worker() as worker:
        asked = here.submit("ask", "olga", {"query": {"question": "count", "epsilon": "1"}}, table="gone")
        assert not worker.work()
        with here.state.write() as connection:
            connection.execute(
                rows.update().values(created_at=rows.c.created_at - jobs.ABANDONED_SECONDS - 1)
            )
        assert worker.work()
    assert here.job(asked.id).state == "refused"


@pytest.mark.parametrize("person", ["a/b", ".", "..", "", " ", "new\nline", "x" * 500])
def test_nobody_gets_a_name_that_no_address_can_hold(place: Place, person: str) -> None:
    made = place.submit("key", "olga", {"person": person, "role": "analyst", "label": ""}, table=None)
    with place.worker() as worker:
        assert worker.work()
    ended = place.job(made.id)
    assert (ended.state, json.loads(ended.result or "")["problem"]["field"]) == ("refused", "person")


def test_two_workers_never_carry_out_one_job_twice(place: Place) -> None:
    other = State.open(place.state_at)
    payload = {"person": "eve", "role": "analyst", "label": ""}
    made = place.submit("key", "olga", payload, table=None)
    with place.worker("one") as one, place.worker("two") as two:
        job = jobs.claim(place.state, "one", ["patients"])
        assert job is not None
        assert jobs.claim(other, "two", ["patients"]) is None
        outcome = one._hands.carry_out(job)
        jobs.let_go(place.state, "one")  # as if it had not been heard of for long
        assert two.work()
        assert not jobs.end(place.state, job, "one", outcome.ended, outcome.result)
    assert place.job(made.id).claimed_by == "two"
    with place.state.read() as connection:
        count = connection.execute(sa.text("SELECT count(*) FROM server_keys WHERE person = 'eve'")).scalar()
    assert count == 1
    other.close()


def test_a_job_that_is_given_up_ends_in_the_failure_and_so_does_its_charge(place: Place) -> None:
    with place.worker() as worker:
        place.grant("ann")
        worker.work()
        asked = place.ask("ann")
        # Charged, and lost before an answer was drawn.
        curator = worker._tables["patients"].curator
        accountant = curator.accountant
        bound = accountant.accept(_query())
        reserved = accountant.reserve(bound, analyst="ann", repeat=0)
        for _ in range(jobs.MOST_ATTEMPTS):
            assert jobs.claim(place.state, "lost", ["patients"]) is not None
            jobs.let_go(place.state, "lost")
        worker.work()
        found = accountant.ledger.find("patients", reserved.key)
    assert place.job(asked.id).state == "failed"
    assert json.loads(place.job(asked.id).result or "") == FAILED.result
    assert found is not None
    assert (found.state, found.stage, found.error) == ("failed", "worker", "WorkerLost")


def test_a_job_that_was_charged_before_its_worker_was_lost_goes_on_under_the_same_charge(
    place: Place,
) -> None:
    with place.worker() as worker:
        place.grant("ann")
        worker.work()
        asked = place.ask("ann")
        accountant = worker._tables["patients"].curator.accountant
        accountant.reserve(accountant.accept(_query()), analyst="ann", repeat=0)
        assert jobs.claim(place.state, "lost", ["patients"]) is not None
        jobs.let_go(place.state, "lost")
        worker.work()
    assert place.job(asked.id).state == "done"
    assert place.charges() == 1


def test_a_job_whose_worker_was_lost_is_never_refused_as_it_may_have_been_charged(place: Place) -> None:
    with place.worker() as worker:
        place.grant("ann")
        worker.work()
        asked = place.ask("ann")
        assert jobs.claim(place.state, "lost", ["patients"]) is not None
        jobs.let_go(place.state, "lost")
        revoked = place.submit("revoke", "olga", {"analyst": "ann", "reason": "over"})
        with place.state.write() as connection:
            connection.execute(rows.update().where(rows.c.id == revoked.id).values(created_at=0.0))
        while worker.work():
            pass
    assert place.job(revoked.id).state == "done"
    assert place.job(asked.id).state == "failed"
    assert place.result(asked) == {}


def test_a_job_that_is_given_up_ends_no_charge_of_another_analyst(place: Place) -> None:
    place.add_key("bob", "analyst")
    with place.worker() as worker:
        place.grant("ann")
        place.grant("bob", 1)
        while worker.work():
            pass
        # Ann was charged, and another worker is drawing her answer; Bob cannot pay, and his worker was lost.
        accountant = worker._tables["patients"].curator.accountant
        reserved = accountant.reserve(accountant.accept(_query()), analyst="ann", repeat=0)
        asked = place.ask("bob")
        assert jobs.claim(place.state, "lost", ["patients"]) is not None
        jobs.let_go(place.state, "lost")
        worker.work()
        found = accountant.ledger.find("patients", reserved.key)
    assert place.job(asked.id).state == "failed"
    assert found is not None
    assert found.state == "reserved"


def _query() -> Query:
    return Query.from_json({"question": "count", "epsilon": "0.1"})


def test_a_file_that_is_changed_to_the_source_of_another_table_is_not_served(here: Place) -> None:
    def declare(source: str) -> None:
        (here.folder / "others.yaml").write_text(
            yaml.safe_dump({**MANIFEST, "name": "others", "source": source})
        )

    (here.folder / "others.csv").write_text(ROWS)
    declare("others.csv")
    with here.worker() as worker:
        assert worker._tables["others"].ready
        declare("./patients.csv")
        worker.check()
        assert (worker._tables["others"].ready, worker._tables["patients"].ready) == (False, True)
        declare("others.csv")
        worker.check()
        assert worker._tables["others"].ready


@pytest.mark.parametrize("kind", ["ask", "key"])
def test_an_auditor_may_have_nothing_done(here: Place, kind: jobs.Kind) -> None:
    here.add_key("aude", "auditor")
    with here.worker() as worker:
        asked = here.submit(kind, "aude", {"query": {"question": "count", "epsilon": "1"}})
        worker.work()
    assert here.job(asked.id).state == "refused"


def test_a_grant_that_has_ended_allows_no_rehearsal_either(here: Place) -> None:
    with here.worker() as worker:
        here.grant("ann", terms=1, until="2020-01-01T00:00:00+00:00")
        asked = here.submit("rehearse", "ann", {"query": {"question": "count", "epsilon": "1"}})
        while worker.work():
            pass
    assert here.job(asked.id).state == "refused"

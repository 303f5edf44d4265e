# SPDX-License-Identifier: Apache-2.0
"""Asking over HTTP: previews, jobs, slots, idempotency, answers and receipts."""

from __future__ import annotations

import base64
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.server.web.served import COUNT, Served

SECRET = {
    "seq",
    "commit_seq",
    "commit_hash",
    "hash",
    "under",
    "effect",
    "charged_before",
    "asked",
    "counted",
}


def names(data: Any) -> set[str]:
    if isinstance(data, dict):
        return set(data).union(*map(names, data.values()))
    return set().union(*map(names, data)) if isinstance(data, list) else set()


def count_below(age: int, epsilon: str = "0.01") -> dict[str, Any]:
    return {"question": "count", "epsilon": epsilon, "where": f"age < {age}"}


def test_an_answer_is_released_with_its_receipt_and_its_bytes(served: Served) -> None:
    done = served.ask("analyst", "released-1", count_below(41))
    assert done.status_code == 200, done.text
    job = done.json()
    assert job["state"] == "done"
    answer = job["answer"]
    assert isinstance(answer["value"], int)
    assert answer["charged"] == "0.01"
    assert done.headers["Location"] == f"/v1/jobs/{job['job']}"
    with served.client("analyst") as client:
        assert client.get(f"/v1/answers/{job['job']}").json() == answer
        assert client.get(f"/v1/answers/{job['job']}/receipt").json() == {"receipt": answer["receipt"]}
        content = client.get(answer["content"])
    digest = hashlib.sha256(content.content)
    assert json.loads(content.content) == answer["value"]
    assert content.headers["ETag"] == f'"sha-256:{digest.hexdigest()}"'
    assert content.headers["Digest"] == f"sha-256={base64.b64encode(digest.digest()).decode()}"
    assert set(answer["receipt"]) == {"ledger", "account", "charge", "digest", "cost"}


def test_an_answer_has_its_question_and_says_whether_it_was_charged_to_the_caller_before(
    served: Served,
) -> None:
    query = count_below(57)
    first, second = (served.ask("analyst", key, query).json()["answer"] for key in ("before-1", "before-2"))
    assert (first["again"], second["again"]) == (False, True)
    assert first["query"] == second["query"] == query
    assert {**first, "again": True, "job": second["job"], "content": second["content"]} == second
    with served.client("analyst") as client:
        lines = client.get("/v1/tables/patients/answers?limit=200").json()["items"]
        statement = client.get("/v1/tables/patients/statement").json()
    assert [line["query"] for line in lines if line["job"] == first["job"]] == [query]
    assert statement["text"].startswith("ann on patients: ")


def test_an_analyst_sees_nothing_that_depends_on_others(served: Served) -> None:
    with served.client("analyst") as client:
        paths = ["/v1/me", "/v1/tables", "/v1/tables/patients", "/v1/tables/patients/statement"]
        seen = [client.get(path).json() for path in paths]
        seen.append(client.post("/v1/tables/patients/preview", json={"query": COUNT}).json())
        seen.append(client.post("/v1/tables/patients/plan", json={"query": COUNT, "for_error": 30}).json())
    job = served.ask("analyst", "nothing-of-others", count_below(42)).json()
    answer = job["answer"]
    for data in [*seen[1:], {**job, "answer": {**answer, "receipt": None}}]:
        assert not names(data) & SECRET
    assert seen[2]["account"] is None
    assert seen[2]["own"]["limit"] == "10"


def test_a_preview_says_how_many_like_it_are_left(served: Served) -> None:
    with served.client("analyst") as client:
        own = client.get("/v1/tables/patients").json()["own"]
        several = client.post("/v1/tables/patients/preview", json={"queries": [COUNT, count_below(90, "4")]})
        one = client.post("/v1/tables/patients/preview", json={"query": count_below(90, "4")}).json()
        neither = client.post("/v1/tables/patients/preview", json={})
    assert one["remaining"] == own["remaining"]
    assert one["questions_left"] == float(own["remaining"]) // 4
    assert several.json()["cost"] == "4.01"
    assert [item["cost"] for item in several.json()["items"]] == ["0.01", "4"]
    assert neither.status_code == 422


def test_a_question_that_was_asked_before_is_previewed_at_its_full_cost(served: Served) -> None:
    query = count_below(43)
    with served.client("analyst") as client:
        before = client.post("/v1/tables/patients/preview", json={"query": query}).json()
        assert served.ask("analyst", "full-cost-1", query).json()["state"] == "done"
        after = client.post("/v1/tables/patients/preview", json={"query": query}).json()
    assert after["cost"] == before["cost"] == "0.01"
    assert {**after, "remaining": 0, "questions_left": 0} == {**before, "remaining": 0, "questions_left": 0}


def test_the_same_key_and_question_is_one_job_and_another_question_is_refused(served: Served) -> None:
    query = count_below(44)
    first = served.ask("analyst", "idempotent-1", query).json()
    again = served.ask("analyst", "idempotent-1", query, wait=0)
    assert (again.status_code, again.json()) == (200, first)
    other = served.ask("analyst", "idempotent-1", count_below(45))
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    with served.client("analyst") as client:
        repeat = client.post(
            "/v1/tables/patients/ask",
            json={"query": query, "repeat": 1},
            headers={"Idempotency-Key": "idempotent-1"},
        )
    assert repeat.status_code == 422


def test_the_same_key_of_another_person_is_another_key(served: Served) -> None:
    query = count_below(46)
    mine = served.ask("analyst", "everybody's-key", query).json()
    theirs = served.ask("other analyst", "everybody's-key", query, "others").json()
    assert mine["job"] != theirs["job"]


def test_a_job_in_flight_is_a_conflict_until_its_release(served: Served) -> None:
    query = count_below(47)
    with served.hand.hold:
        first = served.ask("analyst", "in-flight-1", query, wait=0)
        again = served.ask("analyst", "in-flight-1", query, wait=0)
        assert first.status_code == 202
        assert first.json()["state"] == "running"
        assert 0 <= first.json()["release_after"] <= 0.1
        assert again.status_code == 409
        assert again.headers["Location"] == first.headers["Location"]
        waited = served.ask("analyst", "in-flight-1", query, wait=1)
        assert waited.status_code == 202
    with served.client("analyst") as client:
        done = client.get(first.headers["Location"], params={"wait": 60})
    assert done.json()["state"] == "done"


def test_many_at_once_with_one_key_are_one_job(served: Served) -> None:
    query = count_below(48)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: served.ask("analyst", "at-once-1", query), range(16)))
    assert {item.status_code for item in found} == {200}
    assert len({item.json()["job"] for item in found}) == 1


def test_many_clients_wait_at_the_same_time(served: Served) -> None:
    with served.hand.hold:
        jobs = [
            served.ask("analyst", f"waiting-{number}", count_below(49), wait=0).json()["job"]
            for number in range(3)
        ]
        pool = ThreadPoolExecutor(120)
        with served.client("analyst") as client:
            asked = [
                pool.submit(client.get, f"/v1/jobs/{jobs[number % 3]}", params={"wait": 50})
                for number in range(90)
            ]
            # More wait than there are threads, and others are still answered.
            assert client.get("/v1/me").status_code == 200
            assert not any(item.done() for item in asked)
            served.hand.hold.release()
            try:
                assert {item.result().json()["state"] for item in asked} == {"done"}
            finally:
                served.hand.hold.acquire()
        pool.shutdown()


def test_what_a_job_ended_in_is_hidden_until_its_slot(served: Served) -> None:
    from anonymaly.server import jobs
    from anonymaly.server.state import jobs as table

    job = served.ask("analyst", "hidden-1", count_below(50)).json()["job"]
    # As if it had been created just now with a slot of an hour, and had ended at once.
    with served.state.write() as connection:
        of = table.update().where(table.c.id == job)
        now = served.state.time(connection)
        connection.execute(of.values(slot=3600.0, created_at=now - 1, ended_at=now))
    assert jobs.find(served.state, job).state == "done"  # type: ignore[union-attr]
    with served.client("analyst") as client:
        assert client.get(f"/v1/jobs/{job}").json()["state"] == "running"
        assert job not in client.get("/v1/tables/patients/answers", params={"limit": 200}).text
        for path in (f"/v1/answers/{job}", f"/v1/answers/{job}/content", f"/v1/answers/{job}/receipt"):
            assert client.get(path).status_code == 404
        again = served.ask("analyst", "hidden-1", count_below(50), wait=0)
        assert again.status_code == 409
        # Its charge is known. With its hash, receipts of likely answers could be tried until one verifies.
        charge = json.loads(str(jobs.find(served.state, job).result))["answer"]["receipt"]["charge"]  # type: ignore[union-attr]
        assert charge not in client.get("/v1/tables/patients/statement").text
    with served.state.write() as connection:
        connection.execute(
            table.update()
            .where(table.c.id == job)
            .values(slot=0.5, created_at=now - 3600, ended_at=now - 3600)
        )


def test_answers_come_in_pages_and_end(served: Served) -> None:
    for number in range(5):
        found = served.ask("other analyst", f"paging-{number}", count_below(60 + number), "others")
        assert found.json()["state"] == "done", found.text
    with served.client("other analyst") as client:
        seen, after = [], None
        while True:
            params = {"limit": 2, **({} if after is None else {"after": after})}
            page = client.get("/v1/tables/others/answers", params=params).json()
            seen += [item["job"] for item in page["items"]]
            assert len(page["items"]) <= 2
            after = page["next"]
            if after is None:
                break
        whole = client.get("/v1/tables/others/answers", params={"limit": 200}).json()
        assert seen == [item["job"] for item in whole["items"]]
        assert len(seen) >= 5
        for wrong in ({"limit": 0}, {"limit": 201}, {"limit": "x"}, {"after": "\0"}):
            assert client.get("/v1/tables/others/answers", params=wrong).status_code == 422
        assert client.get("/v1/tables/others/answers", params={"after": "nowhere"}).json()["items"] == []


@pytest.mark.parametrize("path", ["/v1/tables/patients/answers", "/v1/tables/patients"])
def test_what_is_padded_has_the_size_of_a_class(served: Served, path: str) -> None:
    job = served.ask("analyst", "padded-1", count_below(51))
    with served.client("analyst") as client:
        sizes = [len(job.content), len(client.get(f"/v1/answers/{job.json()['job']}").content)]
        sizes.append(len(client.get("/v1/tables/patients/answers").content))
    for size in sizes:
        assert size >= 1024
        assert size & (size - 1) == 0


def test_a_rehearsal_is_free_and_says_so(served: Served) -> None:
    with served.client("analyst") as client:
        before = client.get("/v1/tables/patients").json()["own"]
        headers = {"Prefer": "wait=60"}
        done = client.post("/v1/tables/patients/rehearse", json={"query": COUNT, "seed": 1}, headers=headers)
        assert client.get("/v1/tables/patients").json()["own"] == before
    assert done.json()["answer"]["invented"] is True


def test_what_is_more_than_the_own_limit_is_refused_before_a_job_is_made(served: Served) -> None:
    refused = served.ask("analyst", "too-expensive", count_below(52, "11"))
    assert refused.status_code == 402
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json()["field"] == "epsilon"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"question": "count", "epsilon": "0.1", "where": "height < 3"}, "where"),
        ({"question": "count", "epsilon": "-1"}, "epsilon"),
        ({"question": "nothing", "epsilon": "1"}, "question"),
        ({"question": "count", "epsilon": "0.1", "colour": 1}, "colour"),
        ({}, "question"),
    ],
)
def test_a_question_that_cannot_be_used_names_its_field(
    served: Served, query: dict[str, Any], field: str
) -> None:
    found = served.ask("analyst", "unusable-field", query)
    assert found.status_code == 422
    assert found.json()["field"] == field
    assert found.json()["next_step"]


def test_the_owners_actions_are_jobs_that_are_waited_for(served: Served) -> None:
    with served.client("owner") as client:
        body = {"total": "1.5", "question_limit": "0.5", "reason": "a study"}
        made = client.put("/v1/tables/others/grants/dora", json=body)
        assert made.status_code == 200, made.text
        assert made.json()["result"]["grant"]["limit"] == "1.5"
        assert client.get("/v1/tables/others/grants/dora").json()["terms"]["question_limit"] == "0.5"
        listed = client.get("/v1/tables/others/grants").json()["items"]
        assert {"ben", "dora"} <= {item["analyst"] for item in listed}
        assert client.delete("/v1/tables/others/grants/dora", params={"reason": "over"}).status_code == 200
        assert client.get("/v1/tables/others/grants/dora").json()["standing"] is False
        lower = client.post("/v1/tables/others/budget", json={"to": "1", "reason": "less"})
        assert lower.status_code in (403, 422)
        more = str(int(client.get("/v1/tables/others").json()["account"]["limit"]) + 1)
        raised = client.post("/v1/tables/others/budget", json={"to": more, "reason": "more"})
        assert raised.json()["result"]["account"]["limit"] == more
        assert client.get("/v1/tables/others").json()["account"]["limit"] == more
        assert client.post("/v1/tables/others/pause", json={"reason": "a check"}).status_code == 200
        assert client.get("/v1/tables/others").json()["paused"] is True
        assert client.post("/v1/tables/others/resume", json={"reason": "checked"}).status_code == 200


def test_a_new_key_is_shown_once_works_and_ends_with_its_revocation(served: Served) -> None:
    with served.client("owner") as client:
        made = client.post("/v1/keys", json={"person": "emil", "role": "auditor", "label": "audit"})
        assert made.status_code == 201
        key = made.json()["result"]
        again = client.get(f"/v1/jobs/{made.json()['job']}").json()["result"]
        assert "text" not in again
        own = {"Authorization": f"Bearer {key['text']}"}
        assert client.get("/v1/me", headers=own).json()["person"] == "emil"
        listed = client.get("/v1/keys", params={"limit": 200}).json()["items"]
        assert key["text"] not in json.dumps(listed)
        assert any(item["id"] == key["id"] and item["used_at"] is not None for item in listed)
        assert client.delete(f"/v1/keys/{key['id']}").status_code == 200
        assert client.get("/v1/me", headers=own).status_code == 401


def test_a_receipt_verifies_and_a_changed_one_does_not(served: Served) -> None:
    receipt = served.ask("analyst", "a-receipt-1", count_below(54)).json()["answer"]["receipt"]
    for who, ok in (("analyst", True), ("auditor", True), ("owner", True), ("other analyst", False)):
        with served.client(who) as client:
            assert client.post("/v1/verify", json={"receipt": receipt}).json() == {"ok": ok}
    with served.client("analyst") as client:
        for change in (
            {"cost": receipt["cost"] + 1},
            {"digest": "0" * 64},
            {"charge": "0" * 64},
            {"more": 1},
        ):
            assert client.post("/v1/verify", json={"receipt": receipt | change}).json() == {"ok": False}
        for odd in ({"charge": {}}, {"charge": "\0"}, {"cost": 2**70}, {"cost": -1}):
            assert client.post("/v1/verify", json={"receipt": receipt | odd}).status_code == 422
    with served.client("auditor") as client:
        entries = client.get("/v1/tables/patients/ledger", params={"limit": 2}).json()
        assert [item["seq"] for item in entries["items"]] == [1, 2]
        more = client.get("/v1/tables/patients/ledger", params={"after": entries["next"], "limit": 1}).json()
        assert more["items"][0]["seq"] == 3
        assert client.get("/v1/tables/patients/ledger/verification").json()["ok"] is True
        assert client.post("/v1/verify", json={"receipt": {"account": "patients"}}).json() == {"ok": False}


def test_without_a_ready_worker_nothing_is_taken(served: Served) -> None:
    from anonymaly.server.state import tables

    with served.hand.hold, served.hand.silence:
        with served.state.write() as connection:
            connection.execute(tables.update().values(ready_at=served.state.now - 16))
        found = served.ask("analyst", "not-ready-1", count_below(53), wait=0)
        with served.client("analyst") as client:
            assert client.get("/v1/tables/patients").json()["ready"] is False
            assert client.post("/v1/tables/patients/preview", json={"query": COUNT}).status_code == 200
        with served.state.write() as connection:
            connection.execute(tables.update().values(ready_at=served.state.now))
    assert found.status_code == 503
    assert found.headers["Retry-After"]


def test_an_owner_without_a_grant_is_told_so_before_they_ask(served: Served) -> None:
    with served.client("owner") as client:
        for path in ("preview", "plan"):
            found = client.post(f"/v1/tables/patients/{path}", json={"query": COUNT})
            assert found.status_code == 403, found.text
            assert "'olga' has no grant" in found.json()["problem"]
            assert "owner grant URL olga" in found.json()["next_step"]
    asked = served.ask("owner", "no grant at all", COUNT)
    assert (asked.status_code, asked.json()["problem"]) == (403, found.json()["problem"])

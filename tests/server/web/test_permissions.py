# SPDX-License-Identifier: Apache-2.0
"""The matrix: every operation of the document × every role × own and other's × every kind of wrong key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from anonymaly.server.keys import ROLES, ApiKey
from anonymaly.server.permissions import PERMISSIONS
from anonymaly.server.web import make_document
from tests.server.web.served import COUNT, Served, make_key, serve

METHODS = ("get", "put", "post", "delete", "patch")
BODIES: dict[str, dict[str, Any]] = {
    "preview": {"query": COUNT},
    "plan": {"query": COUNT},
    "rehearse": {"query": COUNT, "rows": 5},
    "ask": {"query": COUNT},
    "verify": {"receipt": {}},
    "put_grant": {"total": "1", "reason": "the matrix"},
    "raise_budget": {"to": "150", "reason": "the matrix"},
    "pause": {"reason": "the matrix"},
    "resume": {"reason": "the matrix"},
    "preview_amendment": {"declaration": {"rows": 1000}},
    "propose_amendment": {"declaration": {"rows": 1000}, "reason": "the matrix"},
    "make_key": {"person": "matrix", "role": "auditor"},
}
QUERIES = {"delete_grant": {"reason": "the matrix"}}
REACHED = "reached"
Sent = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Operation:
    """An operation as the document has it."""

    name: str
    method: str
    path: str
    roles: tuple[str, ...]
    needs: str


def operations() -> list[Operation]:
    document = make_document().openapi()
    return [
        Operation(said["operationId"], method, path, tuple(said["x-roles"]), said["x-needs"])
        for path, methods in document["paths"].items()
        for method, said in methods.items()
        if method in METHODS
    ]


OPERATIONS = operations()


def call(served: Served, operation: Operation, headers: Sent, **places: str) -> httpx.Response:
    """Call an operation with all that it needs, about a table, a job or a key."""
    sent: dict[str, str | bytes] = dict(headers)
    if operation.name == "ask":
        sent["Idempotency-Key"] = f"matrix-{places['table']}"
    # A grant can be looked at where there is one.
    analyst = (
        {"patients": "ann", "others": "ben"}[places["table"]] if operation.name == "get_grant" else "matrix"
    )
    path = operation.path.format(analyst=analyst, key="0" * 16, **places)
    body = BODIES.get(operation.name)
    with httpx.Client(base_url=served.base, timeout=300) as client:
        return client.request(
            operation.method.upper(), path, json=body, params=QUERIES.get(operation.name), headers=sent
        )


def bearer(key: ApiKey | str) -> Sent:
    return {"Authorization": f"Bearer {key if isinstance(key, str) else key.text}"}


def whole(response: httpx.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    headers = [item for item in response.headers.multi_items() if item[0] != "connection"]
    return response.status_code, response.content, sorted(headers)


@pytest.fixture(scope="module")
def jobs(served: Served) -> dict[str, str]:
    """A released answer of ann's and one of ben's, by the table that it is about."""
    found = {}
    for who, table in (("analyst", "patients"), ("other analyst", "others")):
        answer = served.ask(who, f"matrix-of-{table}", COUNT, table)
        assert answer.json()["state"] == "done", answer.text
        found[table] = answer.json()["job"]
    return found


def expected(operation: Operation, role: str, own: bool) -> str:
    """Say what the document promises a role about its own table or job, or about another's."""
    if operation.roles and role not in operation.roles:
        return "unknown"
    names = {part for part in ("{table}", "{job}") if part in operation.path}
    if own or not names or operation.needs == "nothing":
        return REACHED
    if operation.needs == "person":
        return "unknown"
    return "unknown" if role == "analyst" else REACHED


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda item: item.name)
def test_a_role_reaches_what_the_document_says_and_nothing_else(
    served: Served, jobs: dict[str, str], operation: Operation, role: str
) -> None:
    with served.client(role) as client:
        unknown = whole(client.get("/v1/tables/nowhere"))
    assert unknown[0] == 404
    for own, table in ((True, "patients"), (False, "others")):
        job = jobs[table]
        # Nobody but its person sees a job; owner and auditor have none here.
        mine = own and not (operation.needs == "person" and role != "analyst")
        found = call(served, operation, bearer(served.keys[role]), table=table, job=job)
        if expected(operation, role, mine) == REACHED:
            assert found.status_code not in (401, 404, 405), found.text
        else:
            assert whole(found) == unknown, (operation, role, own)


def wrong_keys(served: Served) -> dict[str, Sent]:
    right = served.keys["owner"].text
    return {
        "missing": {},
        "malformed": bearer("anm_1"),
        "unknown": bearer(ApiKey.fresh()),
        "right id, other secret": bearer(right[:-1] + ("A" if right[-1] != "A" else "B")),
        "expired": bearer(served.keys["expired"]),
        "revoked": bearer(served.keys["revoked"]),
        "another scheme": {"Authorization": f"Basic {right}"},
        "more behind it": bearer(right + "x"),
        "two spaces": bearer(" " + right),
        "not ASCII": {"Authorization": b"Bearer anm_\xff"},
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda item: item.name)
def test_every_wrong_key_gets_the_same_bytes(
    served: Served, jobs: dict[str, str], operation: Operation
) -> None:
    places = {"table": "patients", "job": jobs["patients"]}
    found = {
        name: whole(call(served, operation, headers, **places))
        for name, headers in wrong_keys(served).items()
    }
    if not operation.roles:
        assert {item[0] for item in found.values()} == {200}
        return
    with served.client(None) as client:
        nowhere = whole(client.get("/v1/anything/else"))
    assert nowhere[0] == 401
    assert set(map(str, found.values())) == {str(nowhere)}


def test_the_document_names_every_operation_of_the_table_and_no_other() -> None:
    assert {item.name for item in OPERATIONS} == set(PERMISSIONS)
    assert len(OPERATIONS) == len(PERMISSIONS)
    for item in OPERATIONS:
        assert (PERMISSIONS[item.name].roles, PERMISSIONS[item.name].needs) == (item.roles, item.needs)


def test_a_grant_that_is_revoked_takes_the_table_away_at_once(served: Served) -> None:
    key = make_key(served.state, "fritz", "analyst")
    with served.client("owner") as owner, httpx.Client(base_url=served.base, headers=bearer(key)) as client:
        assert client.get("/v1/tables/patients").status_code == 404
        owner.put("/v1/tables/patients/grants/fritz", json={"total": "1", "reason": "a study"})
        assert client.get("/v1/tables/patients").status_code == 200
        owner.delete("/v1/tables/patients/grants/fritz", params={"reason": "over"})
        gone = client.get("/v1/tables/patients")
        assert whole(gone) == whole(client.get("/v1/tables/nowhere"))


def test_a_ledger_that_cannot_be_read_hides_no_other_table(tmp_path: Path) -> None:
    with serve(tmp_path) as served:
        with served.hand.hold:
            (tmp_path / "others.ledger").write_bytes(b"no ledger")
            listed = {}
            for who in ("analyst", "other analyst", "auditor"):
                with served.client(who) as client:
                    found = client.get("/v1/tables")
                    assert found.status_code == 200, found.text
                    listed[who] = [item["name"] for item in found.json()["items"]]
                    assert client.get("/v1/me").json()["tables"] == listed[who]
        everything = ["others", "patients"]
        assert listed == {"analyst": ["patients"], "other analyst": [], "auditor": everything}


def test_a_key_that_expires_while_it_is_used_ends_by_the_databases_clock(served: Served) -> None:
    from anonymaly.server.state import keys

    key = make_key(served.state, "gerd", "auditor", expires=3600)
    with httpx.Client(base_url=served.base, headers=bearer(key)) as client:
        assert client.get("/v1/me").status_code == 200
        with served.state.write() as connection:
            connection.execute(keys.update().where(keys.c.id == key.id).values(expires_at=served.state.now))
        assert client.get("/v1/me").status_code == 401


def test_anothers_key_never_adds_a_job_in_a_persons_name(served: Served) -> None:
    from anonymaly.server.jobs import find

    answer = served.ask("other analyst", "in-whose-name", COUNT, "others")
    job = find(served.state, answer.json()["job"])
    assert job is not None
    assert (job.person, job.key_id) == ("ben", served.keys["other analyst"].id)

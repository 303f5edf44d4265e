# SPDX-License-Identifier: Apache-2.0
"""The gate: sizes, depth, forms, rates, slow and broken clients, games with headers, paths and methods."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from anonymaly.server.headers import HEADERS
from anonymaly.server.limits import refuse_depth
from anonymaly.server.problems import Problem
from anonymaly.server.settings import RequestLimits
from tests.server.web.served import COUNT, Served, serve

PREVIEW = "/v1/tables/patients/preview"
MIB = 2**20


def problem_of(response: httpx.Response) -> dict[str, Any]:
    """Return an error, after checking that it has the form of all errors."""
    assert response.headers["Content-Type"] == "application/problem+json"
    said: dict[str, Any] = response.json()
    assert set(said) == {"type", "title", "status", "field", "problem", "next_step"}
    assert said["status"] == response.status_code
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    return said


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that takes little, and waits for nobody."""
    limits = RequestLimits(rate=1, burst=60, jobs_of_person=2, jobs=3, body=1024)
    with serve(tmp_path_factory.mktemp("strict"), limits=limits, slow_after=0.5) as running:
        yield running


def post(served: Served, content: Any, **headers: str) -> httpx.Response:
    with served.client("analyst") as client:
        return client.post(PREVIEW, content=content, headers={"Content-Type": "application/json", **headers})


def test_a_body_that_says_it_is_too_large_is_not_read(served: Served) -> None:
    found = raw(
        served, f"POST {PREVIEW} HTTP/1.1", "Content-Length: 4194305", "Content-Type: application/json"
    )
    assert b"413" in found.split(b"\r\n")[0]
    assert b"connection: close" in found.lower()


def test_a_body_of_unknown_size_is_read_up_to_the_limit(strict: Served) -> None:
    with strict.client("auditor") as client:
        found = client.post("/v1/verify", content=(b" " * 600 for _ in range(2)))
        least = client.post("/v1/verify", content=(b" " * 512 for _ in range(2)))
    assert (found.status_code, problem_of(found)["field"]) == (413, "body")
    assert least.status_code == 415


def test_the_largest_body_is_taken(served: Served, strict: Served) -> None:
    assert post(served, json.dumps({"query": COUNT}).encode().ljust(4 * MIB)).status_code == 200
    with strict.client("auditor") as client:
        found = [client.post("/v1/verify", content=b" " * size).status_code for size in (1024, 1025)]
    assert found == [415, 413]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity", "x-unknown"])
def test_no_body_is_unpacked(served: Served, encoding: str) -> None:
    found = post(served, b"\x1f\x8b", **{"Content-Encoding": encoding})
    assert (found.status_code, problem_of(found)["field"]) == (415, "Content-Encoding")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_a_body_of_another_type_is_refused(served: Served, kind: str) -> None:
    found = post(served, b"{}", **{"Content-Type": kind})
    assert (found.status_code, problem_of(found)["field"]) == (415, "Content-Type")


def nested(depth: int) -> bytes:
    # The body and the query are two levels.
    return (
        b'{"query":{"question":"count","epsilon":"1","where":'
        + b"[" * (depth - 2)
        + b"]" * (depth - 2)
        + b"}}"
    )


def test_a_condition_that_is_nested_too_deeply_is_refused(served: Served) -> None:
    where = "(" * 50_000 + "age < 3" + ")" * 50_000
    found = post(served, json.dumps({"query": COUNT | {"where": where}}).encode())
    assert found.status_code == 422
    assert problem_of(found)["next_step"]


def test_depth_is_counted_before_anything_is_parsed(served: Served) -> None:
    assert problem_of(post(served, nested(32)))["field"] == "where.0"
    for body, said in (
        (nested(33), "nested"),
        (b"[" * MIB + b"]" * MIB, "nested"),
        (b"[" * MIB, "is not JSON"),
        (b'{"a":' * 100_000, "is not JSON"),
    ):
        assert said in problem_of(post(served, body))["problem"]
    inside = json.dumps({"query": COUNT | {"where": "[" * 100}}).encode()
    assert problem_of(post(served, inside))["field"] == "where"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nothing",
        b"\xff",
        b'{"query": NaN}',
        b'{"query": -Infinity}',
        b'{"query": {}, "query": {}}',
        b'{"query": {"question": "\\ud800"}}',
        b'{"query": ' + b"1" * 5000 + b"}",
        b'"' + b'\\"' * 100_000,
    ],
)
def test_what_is_not_strictly_json_is_refused(served: Served, body: bytes) -> None:
    assert post(served, body).status_code in (400, 422)
    problem_of(post(served, body))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b'"query"', b'{"query": 1}', b'{"query": {}, "more": 1}', b'{"queries": []}']
)
def test_what_does_not_fit_the_document_is_refused(served: Served, body: bytes) -> None:
    found = post(served, body)
    assert found.status_code == 422
    assert problem_of(found)["next_step"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "field", "problem", "step"),
    [
        (
            "POST",
            "/v1/tables/patients/ask",
            {},
            {"query": COUNT},
            "Idempotency-Key",
            "is required",
            "a text of",
        ),
        (
            "POST",
            "/v1/tables/patients/ask",
            {"Idempotency-Key": "short"},
            {"query": COUNT},
            "Idempotency-Key",
            "must have at least 8 characters",
            "Send the header Idempotency-Key",
        ),
        ("GET", "/v1/keys?limit=many", {}, None, "limit", "must be a whole number", "Give limit: the most"),
        ("GET", "/v1/keys?limit=0", {}, None, "limit", "must be at least 1", "Give limit: the most"),
        ("DELETE", "/v1/tables/patients/grants/ann", {}, None, "reason", "is required", "Give reason: why"),
        ("POST", PREVIEW, {}, [], "body", "must be a JSON object", "PreviewBody takes query, queries"),
        ("POST", PREVIEW, {}, {"question": {}}, "question", "is not a field", "PreviewBody takes query"),
        (
            "POST",
            "/v1/keys",
            {},
            {"person": "x", "role": "boss"},
            "role",
            "must be 'owner', 'analyst'",
            "KeyBody",
        ),
        (
            "POST",
            "/v1/tables/patients/budget",
            {},
            {"to": [], "reason": "x"},
            "to",
            "must be text or a",
            "Give to",
        ),
    ],
)
def test_what_is_wrong_with_a_request_is_said_in_our_words(
    served: Served,
    method: str,
    path: str,
    headers: dict[str, str],
    body: Any,
    field: str,
    problem: str,
    step: str,
) -> None:
    with served.client("owner") as client:
        found = problem_of(client.request(method, path, headers=headers, json=body))
    assert (found["status"], found["field"]) == (422, field)
    assert found["problem"].startswith(problem)
    assert step in found["next_step"]


def test_an_auditor_who_asks_is_not_told_to_want_a_grant(served: Served) -> None:
    with served.client("auditor") as client:
        found = problem_of(client.post(PREVIEW, json={"query": COUNT}))
    assert (found["status"], "auditors ask nothing" in found["next_step"]) == (404, True)


@pytest.mark.parametrize(
    "epsilon",
    [b"0.10000000000000000001", b"1e-10", b"1e99999999999999999999", b"1e400", b"0", b"true", b"null"],
)
def test_an_epsilon_is_never_rounded(served: Served, epsilon: bytes) -> None:
    body = b'{"query": {"question": "count", "epsilon": ' + epsilon + b"}}"
    found = post(served, body)
    assert (found.status_code, problem_of(found)["field"]) == (422, "epsilon")


@pytest.mark.parametrize(
    "path",
    [
        "//v1/me",
        "/v1//me",
        "/v1/me/",
        "/V1/ME",
        "/v1/%2e%2e/v1/me",
        "/v1/tables/..%2f..%2fetc%2fpasswd",
        "/v1/tables/patients%00",
        "/v1/tables/patients%0a",
        "/v1/tables/patients%2f",
        "/v1/tables/PATIENTS",
        "/v1/tables/pati%C3%A9nts",
        "/v1/tables/%ff",
        "/v1/tables/'; drop table server_keys; --",
        "/v1/jobs/%00",
        "/v1/answers/..%2fserver.db/content",
        "/v1/answers/%2e%2e%2fserver.db/content",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/v2",
    ],
)
def test_paths_that_play_games_lead_nowhere(served: Served, path: str) -> None:
    with served.client("analyst") as client:
        found, nowhere = client.get(path), client.get("/v1/tables/nowhere")
    assert found.status_code == 404
    assert (found.content, found.headers) == (nowhere.content, nowhere.headers)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD", "QUERY"])
def test_other_methods_are_refused_and_cannot_be_hidden_in_a_header(served: Served, method: str) -> None:
    with served.client("analyst") as client:
        found, anyones = client.request(method, "/v1/me"), client.request(method, "/v1")
        hidden = client.get("/v1/me", headers={"X-HTTP-Method-Override": method})
    assert found.status_code == anyones.status_code == 405
    assert found.headers["Allow"] == "GET"
    assert hidden.status_code == 200


def test_a_method_that_only_others_may_use_is_not_there(served: Served) -> None:
    with served.client("analyst") as client:
        found, nowhere = client.put("/v1/keys"), client.get("/v1/tables/nowhere")
    assert found.content == nowhere.content


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "{key}"), ("Authorization", "{key}")],
        [("X-Authorization", "{key}")],
        [("Cookie", "Authorization={key}")],
        [("Proxy-Authorization", "{key}")],
    ],
)
def test_a_key_counts_once_and_in_its_place(served: Served, headers: list[tuple[str, str]]) -> None:
    key = f"Bearer {served.keys['owner'].text}"
    sent = [(name, text.format(key=key)) for name, text in headers]
    assert httpx.get(f"{served.base}/v1/me", headers=sent).status_code == 401
    assert httpx.get(f"{served.base}/v1/me", params={"key": key}).status_code == 401


def test_headers_about_hosts_and_proxies_change_nothing(served: Served) -> None:
    games = {
        "Host": "evil.example",
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "https",
        "X-Original-URL": "/v1/keys",
        "X-Forwarded-Prefix": "//evil.example",
    }
    with served.client("analyst") as client:
        plain, played = client.get("/v1/me"), client.get("/v1/me", headers=games)
    assert (plain.content, plain.headers) == (played.content, played.headers)


def raw(served: Served, *lines: str, key: bool = True) -> bytes:
    """Send lines as they are, and return all that comes back."""
    place = urlsplit(served.base)
    given = [*lines, "Host: x", "Connection: close"]
    if key:
        given.append(f"Authorization: Bearer {served.keys['analyst'].text}")
    with socket.create_connection((str(place.hostname), int(place.port or 0)), 300) as line:
        with contextlib.suppress(ConnectionError):  # it need not take all of it
            line.sendall("\r\n".join([*given, "", ""]).encode("latin-1"))
        return _rest(line)


def _rest(line: socket.socket) -> bytes:
    found = b""
    try:
        while part := line.recv(65536):
            found += part
    except ConnectionError:
        pass
    return found


@pytest.mark.parametrize(
    "lines",
    [
        ("GET /v1/me HTTP/1.1", "Content-Length: 5", "Content-Length: 6"),
        ("POST /v1/verify HTTP/1.1", "Content-Length: -1"),
        ("POST /v1/verify HTTP/1.1", "Content-Length: 0x10"),
        ("POST /v1/verify HTTP/1.1", "Transfer-Encoding: chunked, gzip"),
        ("POST /v1/verify HTTP/1.1", "Transfer-Encoding: gzip"),
        ("GET",),
        ("GET /v1/me HTTP/1.1", "Bad Header: 1"),
    ],
)
def test_what_is_no_http_is_a_problem_like_all_others(served: Served, lines: tuple[str, ...]) -> None:
    head, _, body = raw(served, *lines).partition(b"\r\n\r\n")
    assert b" 400 " in head.split(b"\r\n")[0] or b" 501 " in head.split(b"\r\n")[0], head
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400


@pytest.mark.parametrize(
    "lines",
    [
        ("GET /v1/me HTTP/1.1", "X: " + "y" * MIB),
        ("GET /v1/me HTTP/1.1", *(f"X-{number}: {'y' * 100}" for number in range(10_000))),
        ("GET /" + "v" * MIB + " HTTP/1.1",),
    ],
)
def test_a_head_that_is_too_large_is_not_answered_as_a_request(
    served: Served, lines: tuple[str, ...]
) -> None:
    # It may be cut off before the answer is read.
    assert raw(served, *lines).split(b"\r\n")[0] in (b"HTTP/1.1 400 Bad Request", b"")


def test_an_upgrade_is_no_way_in(served: Served) -> None:
    found = raw(
        served,
        "GET /v1/me HTTP/1.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        key=False,
    )
    assert b" 401 " in found.split(b"\r\n")[0]


def test_a_head_that_never_ends_is_not_waited_for(strict: Served) -> None:
    place = urlsplit(strict.base)
    with socket.create_connection((str(place.hostname), int(place.port or 0)), 300) as line:
        line.sendall(b"GET /v1 HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert _rest(line) == b""


def test_a_body_that_never_comes_is_not_waited_for(strict: Served) -> None:
    place = urlsplit(strict.base)
    key = strict.keys["auditor"].text
    with socket.create_connection((str(place.hostname), int(place.port or 0)), 300) as line:
        line.sendall(
            f"POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
        )
        found = _rest(line)
    assert b" 408 " in found.split(b"\r\n")[0]


def test_whoever_leaves_while_waiting_keeps_nobody_from_anything(served: Served) -> None:
    place = urlsplit(served.base)
    key = served.keys["analyst"].text
    with served.hand.hold:
        job = served.ask("analyst", "leaving-early", COUNT | {"where": "age < 71"}, wait=0).json()["job"]
        for number in range(60):
            with socket.create_connection((str(place.hostname), int(place.port or 0)), 300) as line:
                line.sendall(
                    f"GET /v1/jobs/{job}?wait=50 HTTP/1.1\r\nHost: x\r\n"
                    f"Authorization: Bearer {key}\r\n\r\n".encode()
                )
                if number % 2:
                    line.shutdown(socket.SHUT_WR)  # half closed
        with served.client("analyst") as client:
            assert client.get("/v1/me").status_code == 200
    with served.client("analyst") as client:
        assert client.get(f"/v1/jobs/{job}", params={"wait": 60}).json()["state"] == "done"


def test_a_client_that_asks_and_leaves_has_asked_once(served: Served) -> None:
    place = urlsplit(served.base)
    query = COUNT | {"where": "age < 72"}
    body = json.dumps({"query": query})
    with socket.create_connection((str(place.hostname), int(place.port or 0)), 300) as line:
        line.sendall(
            f"POST /v1/tables/patients/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {served.keys['analyst'].text}\r\nIdempotency-Key: asks-and-leaves\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
    found = served.ask("analyst", "asks-and-leaves", query)
    assert found.json()["state"] == "done"
    with served.client("analyst") as client:
        charges = client.get("/v1/tables/patients/statement").json()["charges"]
    assert sum(item["asks"] == "records where age < 72" for item in charges) == 1


def test_jobs_under_way_are_limited_by_person_and_in_all(strict: Served) -> None:
    def ask(who: str, number: int, table: str) -> httpx.Response:
        return strict.ask(who, f"limited-{number}", COUNT | {"where": f"age < {number}"}, table, wait=0)

    with strict.hand.hold:
        found = [ask("analyst", number, "patients").status_code for number in (41, 42, 43)]
        assert found == [202, 202, 429]
        # The first one of them again is no new job.
        assert ask("analyst", 41, "patients").status_code == 409
        assert [ask("other analyst", number, "others").status_code for number in (41, 42)] == [202, 429]


@pytest.mark.slow
def test_free_questions_that_take_long_are_limited_by_person(tmp_path: Path) -> None:
    # Which filters overlap is worked out in a web process: a second's work for each, and nothing is charged.
    hard = [{**COUNT, "where": [f"age < {number % 120}" for number in range(1000)]}] * 20
    paths = {"preview": {"queries": hard}, "plan": {"query": COUNT, "for_error": 5}}
    with serve(tmp_path, limits=RequestLimits(rate=1000, burst=1000, at_once=1)) as served:

        def send(_: int) -> int:
            with served.client("analyst") as client:
                return client.post(PREVIEW, json=paths["preview"]).status_code

        with ThreadPoolExecutor(6) as pool:
            assert set(pool.map(send, range(6))) == {200, 429}
        with served.client("analyst") as client:
            assert client.post("/v1/tables/patients/plan", json=paths["plan"]).status_code == 200


def test_requests_are_limited_by_key(strict: Served) -> None:
    with strict.client("owner") as client, ThreadPoolExecutor(8) as pool:
        late = None
        for _ in range(100):  # tokens come back while we send
            found = list(pool.map(lambda _: client.get("/v1/me"), range(40)))
            late = next((item for item in found if item.status_code == 429), None)
            if late is not None:
                break
    assert late is not None
    assert problem_of(late)["next_step"]
    assert int(late.headers["Retry-After"]) >= 1
    with strict.client("auditor") as client:
        assert client.get("/v1/me").status_code == 200


def test_what_should_not_happen_is_one_constant_answer_without_a_trace(served: Served) -> None:
    from anonymaly.server.state import tables

    with served.state.write() as connection:
        connection.execute(tables.insert().values(name="broken", public="{a secret}"))
    try:
        with served.client("analyst") as client:
            found = client.get("/v1/tables/broken")
    finally:
        with served.state.write() as connection:
            connection.execute(tables.delete().where(tables.c.name == "broken"))
    assert found.status_code == 500
    assert problem_of(found)["problem"] == "something went wrong"
    assert "secret" not in served.log
    assert "JSONDecodeError" in served.log


def test_the_log_says_who_did_what_and_never_what_was_asked(served: Served) -> None:
    served.ask("analyst", "for-the-log-1", COUNT | {"where": "age < 73"})
    log = served.log
    assert "POST /v1/tables/{table}/ask 200 ann" in log
    for secret in ("age <", "anm_", "for-the-log-1", "Traceback"):
        assert secret not in log


def test_every_answer_has_the_headers(served: Served) -> None:
    with served.client("analyst") as client, served.client(None) as nobody:
        for found in (
            client.get("/v1/me"),
            client.get("/v1/nowhere"),
            nobody.get("/v1"),
            nobody.get("/v1/me"),
        ):
            for name, value in HEADERS.items():
                assert found.headers[name] == value
            assert "Server" not in found.headers


@pytest.mark.parametrize("body", [b'{"query":', b"[[[[", b"]]]]"])
def test_brackets_that_are_not_closed_are_no_json(body: bytes) -> None:
    with pytest.raises(Problem) as caught:
        refuse_depth(body, 3)
    assert caught.value.status == 400

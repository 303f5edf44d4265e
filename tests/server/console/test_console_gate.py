# SPDX-License-Identifier: Apache-2.0
"""The console's gate: tokens, origins, forms, headers, and what pages load."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from anonymaly.server.console.rendering import PAGE_HEADERS
from anonymaly.server.headers import HEADERS
from anonymaly.server.settings import RequestLimits
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import Served, serve

PAGES = ("/", "/tables/patients", "/nowhere")
LOADING = {"src", "href", "action", "data", "poster", "srcset", "formaction"}


def test_a_form_without_the_token_of_its_session_does_nothing(served: Served) -> None:
    browser, other = Browser(served, "analyst"), Browser(served, "analyst")
    right = browser.token
    for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": other.token}, {"csrf": right[:-1]}):
        found = browser.client.post("/logout", data={"more": "1", **fields})
        assert found.status_code == 403, fields
        assert "was not sent from a page of this session" in found.text
    assert browser.get("/").status_code == 200
    assert browser.client.post("/logout", data={"csrf": right}).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_form_of_another_site_does_nothing(served: Served, headers: dict[str, str]) -> None:
    browser = Browser(served, "analyst")
    assert browser.send("/logout", headers=headers).status_code == 403
    assert browser.get("/").status_code == 200
    key = {"key": served.keys["analyst"].text}
    assert Browser(served).client.post("/login", data=key, headers=headers).status_code == 403


@pytest.mark.parametrize("origin", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "{base}"}, {}])
def test_a_form_of_this_site_is_taken(served: Served, origin: dict[str, str]) -> None:
    headers = {name: text.format(base=served.base) for name, text in origin.items()}
    assert Browser(served, "analyst").send("/logout", headers=headers).status_code == 303


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"", "multipart/form-data; boundary=x", 415),
        (b"csrf=%FF", "application/x-www-form-urlencoded", 400),
        (b"csrf=\xff", "application/x-www-form-urlencoded", 400),
        (b"csrf=%00", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a=%d" % number for number in range(1001)), "application/x-www-form-urlencoded", 400),
        (b"a" * (4 * 2**20 + 1), "application/x-www-form-urlencoded", 413),
    ],
)
def test_what_is_no_form_is_refused(served: Served, content: bytes, kind: str, status: int) -> None:
    found = Browser(served, "analyst").client.post("/logout", content=content, headers={"Content-Type": kind})
    assert found.status_code == status
    assert found.headers["Content-Type"] == "text/html; charset=utf-8"


def test_every_page_has_the_headers_and_nothing_inline_or_from_elsewhere(served: Served) -> None:
    browser = Browser(served, "analyst")
    for found in (*map(browser.get, PAGES), Browser(served).get("/login"), Browser(served).get("/")):
        for name, value in (HEADERS | PAGE_HEADERS).items():
            assert found.headers[name] == value
        check_plain(found.text)
    policy = PAGE_HEADERS["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def check_plain(text: str) -> None:
    """Nothing on a page may need a looser policy: no script or style in it, no handler, no other host."""
    for tag, given in Reader(text).elements:
        assert tag != "style"
        assert "style" not in given
        assert not any(name.startswith("on") for name in given), given
        if tag == "script":
            assert given.get("src", "").startswith("/static/"), given  # type: ignore[union-attr]
        for name in LOADING & given.keys():
            assert re.match(r"/(?!/)|#", given[name] or ""), (tag, given)


def test_files_are_kept_for_good_under_names_of_their_bytes(served: Served) -> None:
    places = set(re.findall(r'"(/static/[^"]+)"', Browser(served).get("/login").text))
    assert {place.rpartition(".")[2] for place in places} >= {"css", "svg"}
    for place in places:
        found = httpx.get(served.base + place)
        assert found.status_code == 200
        assert found.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "http:" not in found.text.replace("http://www.w3.org/2000/svg", "")
        assert "https:" not in found.text
    assert Browser(served).get("/static/style.css").status_code == 404
    assert Browser(served).get("/static/..%2f..%2fsessions.py").status_code in (303, 404)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "POST"])
def test_other_methods_are_refused(served: Served, method: str) -> None:
    found = Browser(served, "analyst").client.request(method, "/tables/patients")
    assert found.status_code == 405
    assert found.headers["Allow"] == "GET"


def test_a_program_with_a_key_gets_the_answers_of_the_interface(served: Served) -> None:
    with served.client("analyst") as client:
        assert client.get("/tables/patients").headers["Content-Type"] == "application/problem+json"
    cookie = dict(Browser(served, "analyst").client.cookies)
    assert httpx.get(f"{served.base}/v1/me", cookies=cookie).status_code == 401


def test_a_page_and_its_data_say_the_same_in_sizes_of_classes(served: Served) -> None:
    browser = Browser(served, "analyst")
    for page, data in (("/", "/index.json"), ("/tables/patients", "/tables/patients.json")):
        shown, plain = browser.get(page), browser.get(data)
        assert plain.headers["Content-Type"] == "application/json"
        assert len(shown.content).bit_count() == len(plain.content).bit_count() == 1
    found: dict[str, Any] = browser.get("/tables/patients.json").json()
    with served.client("analyst") as client:
        assert found["table"] == client.get("/v1/tables/patients").json()
    assert [item["name"] for item in browser.get("/index.json").json()["tables"]] == ["patients"]


def test_requests_of_a_session_count_as_those_of_its_key(tmp_path_factory: pytest.TempPathFactory) -> None:
    limits = RequestLimits(rate=1, burst=3)
    with serve(tmp_path_factory.mktemp("few"), limits=limits) as served:
        browser = Browser(served, "analyst")
        found = [browser.get("/") for _ in range(5)]
        assert found[0].status_code == 200
        assert found[-1].status_code == 429
        assert "Too many" in found[-1].text
        with served.client("analyst") as client:
            assert client.get("/v1/me").status_code == 429

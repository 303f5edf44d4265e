# SPDX-License-Identifier: Apache-2.0
"""The matrix: every page × every role, and nobody × what is one's own and what is another's."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from anonymaly.server.console.pages import ALL
from anonymaly.server.console.pages.entering import Entering
from anonymaly.server.console.pages.provider_login import ProviderLogin
from anonymaly.server.console.visit import ConsolePage
from anonymaly.server.keys import ROLES
from anonymaly.server.permissions import PAGES
from tests.server.console.visiting import Browser
from tests.server.web.served import Served

NOBODY: Any = None  # pages are listed, and none is called
EVERY = (*Entering(NOBODY).pages, *ProviderLogin(NOBODY, NOBODY, None).pages, *ALL)
GUARDED = [page for page in EVERY if PAGES[page.name].roles]
MODEL = {"question": "score", "columns": ["age"], "epsilon": "0.5"}  # has every page but that of tables
TABLE = {"question": "share-histogram", "by": ["ward"], "method": "geometric", "epsilon": "0.5"}
FORMS: dict[str, dict[str, str]] = {
    "send_question": {"epsilon": "0.1", "do": "preview"},
    "score_records": {"records": "age\n30\n"},
    "send_records": {"records": "age,ward\n30,A\n", "do": "plan"},
}
PLACES = {
    "file": "style.css", "question": "count", "analyst": "matrix", "key": "0" * 16, "find": "0" * 32,
    "stream": "rooms",
}  # fmt: skip


@pytest.fixture(scope="module")
def jobs(served: Served) -> dict[str, str]:
    """Released answers of ann's and of ben's, by the table that they are about and a page of their own."""
    found = {}
    for who, table in (("analyst", "patients"), ("other analyst", "others")):
        for name, asked in (("", MODEL), (" answer_csv", TABLE)):
            answer = served.ask(who, f"pages-of-{table}{name}", asked, table)
            assert answer.json()["state"] == "done", answer.text
            found[table + name] = answer.json()["job"]
    return found


def whole(response: httpx.Response) -> tuple[bytes, list[tuple[str, str]]]:
    # A form that is not for somebody is not read either.
    return response.content, sorted(
        item for item in response.headers.multi_items() if item[0] != "connection"
    )


def visit(browser: Browser, page: ConsolePage, end: str = "", **places: str) -> httpx.Response:
    path = page.path.format(**{**PLACES, **places}) + end
    if page.method == "GET":
        return browser.get(path)
    return browser.send(path, FORMS.get(page.name))


def is_reached(page: ConsolePage, role: str, own: bool) -> bool:
    """Say what the table of permissions promises a role about its own table or job, or about another's."""
    permission = PAGES[page.name]
    if role not in permission.roles or "{find}" in page.path:  # nobody's but that of its own session
        return False
    named = "{table}" in page.path or "{job}" in page.path
    if own or not named or permission.needs == "nothing":
        return True
    return permission.needs != "person" and role != "analyst"


def test_every_page_is_in_the_table_and_every_row_is_a_page() -> None:
    assert sorted(page.name for page in EVERY) == sorted(PAGES)
    anybodys = {"static_file", "login_page", "log_in", "begin_login", "finish_login"}
    assert {name for name, item in PAGES.items() if item.anyone} == anybodys


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("page", GUARDED, ids=lambda page: page.name)
def test_a_role_reaches_what_the_table_says_and_nothing_else(
    served: Served, jobs: dict[str, str], page: ConsolePage, role: str
) -> None:
    for own, table in ((True, "patients"), (False, "others")):
        # Nobody but its person sees a job; owner and auditor have none here.
        mine = own and not (PAGES[page.name].needs == "person" and role != "analyst")
        for end in ("", ".json") if page.method == "GET" and page.path != "/" else ("",):
            browser = Browser(served, role)
            unknown = browser.get(f"/nowhere{end}") if page.method == "GET" else browser.send("/nowhere")
            found = visit(browser, page, end, table=table, job=jobs.get(f"{table} {page.name}", jobs[table]))
            if is_reached(page, role, mine):
                assert found.status_code not in (401, 404, 405), found.text
                assert found.headers.get("Location", "") not in ("/login", f"/login?next={found.url.path}")
            else:
                assert found.status_code == 404
                assert whole(found) == whole(unknown), (page, role, own)


@pytest.mark.parametrize("page", GUARDED, ids=lambda page: page.name)
def test_nobody_reaches_any_of_them(served: Served, jobs: dict[str, str], page: ConsolePage) -> None:
    path = page.path.format(**PLACES, table="patients", job=jobs["patients"])
    with httpx.Client(base_url=served.base) as client:
        found = client.request(page.method, path, data=None if page.method == "GET" else {"csrf": "0"})
        assert found.status_code == 303
        assert found.headers["Location"].partition("?")[0] == "/login"
        assert not found.content

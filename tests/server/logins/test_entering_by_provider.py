# SPDX-License-Identifier: Apache-2.0
"""The whole way: the console's login page, a real provider, back, and a session as with a key."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import sqlalchemy as sa

from anonymaly.server.jobs import unended
from anonymaly.server.logins.session_keys import LABEL
from anonymaly.server.logins.settings import LoginSettings
from anonymaly.server.state import jobs, keys, sessions
from tests.server.console.visiting import Browser
from tests.server.logins.providing import CLIENTS, RunningProvider
from tests.server.places import PATIENCE
from tests.server.web.served import Served, serve

COOKIE = "anonymaly-login"
PEOPLE = {
    "ann@example.org": {"person": "ann", "role": "analyst"},
    "otto@example.org": {"person": "otto", "role": "owner"},
    "carl@example.org": {"person": "carl", "role": "auditor"},
}


def settings(provider: RunningProvider, **changes: Any) -> LoginSettings:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    return LoginSettings.read(
        {
            "issuer": provider.issuer,
            "client_id": "console",
            "client_secret": CLIENTS["console"],
            "address": address,
            "name": "Example University",
            "people": {"claim": "email", "names": PEOPLE},
            **changes,
        }
    )


@pytest.fixture(scope="module")
def own(provider: RunningProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("provided"), login=settings(provider)) as running:
        yield running


def begin(browser: Browser, place: str = "/login/provider") -> str:
    """Follow the link of the login page; return where it leads."""
    begun = browser.get(place)
    assert begun.status_code == 303, begun.text
    return str(begun.headers["Location"])


def come_back(
    browser: Browser, provider: RunningProvider, person: str, place: str = "/login/provider"
) -> str:
    """Log in at the provider; return the address that it leads back to, not visited yet."""
    return provider.enter(browser.client, begin(browser, place), person)


def enter(served: Served, provider: RunningProvider, person: str) -> Browser:
    browser = Browser(served)
    found = browser.get(come_back(browser, provider, person))
    assert found.status_code == 200, found.text
    return browser


def made(served: Served) -> list[Any]:
    with served.state.read() as connection:
        return list(connection.execute(sa.select(keys).where(keys.c.label == LABEL)).all())


def settle(served: Served) -> None:
    """Wait until no job waits."""
    until = time.monotonic() + PATIENCE
    while unended(served.state):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_the_login_page_leads_to_the_provider_and_back_to_the_page_one_wanted(
    own: Served, provider: RunningProvider
) -> None:
    browser = Browser(own)
    page = browser.follow(browser.get("/tables/patients")).text
    link = re.search(r'href="(/login/provider[^"]*)">Log in with Example University<', page)
    assert link is not None
    back = come_back(browser, provider, "ann", link[1])
    assert back.startswith(f"{own.base}/login/callback?")
    found = browser.get(back)
    assert found.status_code == 200
    assert '<meta http-equiv="refresh" content="0;url=/tables/patients">' in found.text
    assert '<a class="button" href="/tables/patients">' in found.text
    shown = browser.get("/tables/patients")
    assert shown.status_code == 200
    assert '<span>ann <span class="role">analyst</span></span>' in shown.text


@pytest.mark.parametrize(("person", "role"), [("ann", "analyst"), ("otto", "owner"), ("carl", "auditor")])
def test_everybody_has_the_role_that_the_owner_gave_them(
    own: Served, provider: RunningProvider, person: str, role: str
) -> None:
    browser = enter(own, provider, person)
    assert f'{person} <span class="role">{role}</span>' in browser.get("/").text
    assert browser.get("/tables/others").status_code == (404 if role == "analyst" else 200)


def test_the_request_to_the_provider_asks_for_no_more_than_is_needed(own: Served) -> None:
    browser = Browser(own)
    first, second = (parse_qs(urlsplit(begin(browser)).query) for _ in range(2))
    assert first["scope"] == ["openid email"]
    assert (first["response_type"], first["code_challenge_method"]) == (["code"], ["S256"])
    assert first["redirect_uri"] == [f"{own.base}/login/callback"]
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name][0]) >= 43
        assert first[name] != second[name]
    assert "client_secret" not in first


def test_the_cookies_are_lax_on_the_way_and_strict_afterwards(own: Served, provider: RunningProvider) -> None:
    browser = Browser(own)
    begun = browser.get("/login/provider")
    pending = begun.headers["Set-Cookie"]
    assert pending.startswith(f"{COOKIE}=")
    assert pending.endswith("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax")
    back = provider.enter(browser.client, begun.headers["Location"], "ann")
    given = browser.get(back).headers.get_list("Set-Cookie")
    assert [text.partition("=")[0] for text in given] == ["anonymaly", COOKIE]
    assert given[0].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert given[1].startswith(f"{COOKIE}=; Max-Age=0")


def test_no_address_leads_elsewhere_after_the_login(own: Served, provider: RunningProvider) -> None:
    for place in ("//evil.example", "https://evil.example", "/\\evil.example"):
        browser = Browser(own)
        back = come_back(browser, provider, "ann", f"/login/provider?next={place}")
        assert 'content="0;url=/">' in browser.get(back).text, place


def test_a_login_ends_in_the_browser_in_which_it_began_and_once(
    own: Served, provider: RunningProvider
) -> None:
    browser, other = Browser(own), Browser(own)
    back = come_back(browser, provider, "ann")
    before = len(made(own))
    begin(other)
    for stranger in (Browser(own), other):
        refused = stranger.get(back)
        assert refused.status_code == 400
        assert "was not begun in this browser" in refused.text
        assert "Set-Cookie" not in refused.headers
    assert len(made(own)) == before
    cookie = browser.client.cookies[COOKIE]
    assert browser.get(back).status_code == 200
    # Again, with the cookie that was taken: the provider gives no second token for a code.
    browser.client.cookies.set(COOKIE, cookie)
    assert browser.get(back).status_code in (400, 403)
    assert len(made(own)) == before + 1


@pytest.mark.parametrize(
    "changed", [{"state": "0" * 64}, {"state": ""}, {"iss": "https://evil.example"}, {"code": "x"}]
)
def test_an_address_that_was_changed_on_the_way_back_lets_nobody_in(
    own: Served, provider: RunningProvider, changed: dict[str, str]
) -> None:
    browser, before = Browser(own), len(made(own))
    back = httpx.URL(come_back(browser, provider, "ann")).copy_merge_params(changed)
    found = browser.get(str(back))
    assert found.status_code in (400, 403)
    assert "anonymaly=" not in str(found.headers.get_list("Set-Cookie"))
    assert len(made(own)) == before


def test_who_cancels_at_the_provider_reads_what_to_do(own: Served, provider: RunningProvider) -> None:
    browser = Browser(own)
    state = parse_qs(urlsplit(begin(browser)).query)["state"][0]
    said = {"error": "access_denied", "error_description": "<b>words of another</b>", "state": state}
    found = browser.get("/login/callback", params=said)
    assert found.status_code == 403
    assert "did not let you in, or the login was cancelled there" in found.text
    assert "words of another" not in found.text


def test_whom_the_owner_did_not_name_sees_what_to_send_and_gets_no_session(
    own: Served, provider: RunningProvider
) -> None:
    browser, before = Browser(own), len(made(own))
    found = browser.get(come_back(browser, provider, "mallory"))
    assert found.status_code == 403
    assert "email is mallory@example.org" in found.text
    assert browser.get("/").status_code == 303
    assert len(made(own)) == before


def test_logout_ends_the_session_and_revokes_its_key(own: Served, provider: RunningProvider) -> None:
    browser = enter(own, provider, "ann")
    number = browser.client.cookies["anonymaly"].partition(".")[0]
    with own.state.read() as connection:
        key = connection.execute(sa.select(sessions.c.key_id).where(sessions.c.id == number)).scalar_one()
    cookie = {"anonymaly": browser.client.cookies["anonymaly"]}
    assert browser.send("/logout").status_code == 303
    settle(own)
    assert httpx.get(f"{own.base}/", cookies=cookie).status_code == 303
    assert [row.id for row in made(own) if row.id == key and row.revoked_at is not None] == [key]


def test_logout_of_a_key_that_was_given_out_leaves_the_key(own: Served) -> None:
    browser = Browser(own, "auditor")
    assert browser.send("/logout").status_code == 303
    settle(own)
    assert Browser(own, "auditor").get("/").status_code == 200


def test_nothing_of_tokens_codes_or_keys_is_in_logs_or_left_in_tables(
    own: Served, provider: RunningProvider
) -> None:
    browser = Browser(own)
    back = come_back(browser, provider, "ann")
    code = parse_qs(urlsplit(back).query)["code"][0]
    pending = browser.client.cookies[COOKIE]
    assert browser.get(back).status_code == 200
    secret = browser.client.cookies["anonymaly"].partition(".")[2]
    with own.state.read() as connection:
        rows = connection.execute(sa.select(jobs).where(jobs.c.kind == "login")).all()
        left = str(rows) + str(connection.execute(sa.select(sessions)).all())
    assert rows
    assert {row.payload for row in rows} == {None}
    for text in (code, pending, pending.partition(".")[0], secret, CLIENTS["console"], "anm_", "eyJ"):
        assert text not in own.log
        assert text not in left
    assert "GET /login/callback 200" in own.log


def test_logins_that_fail_are_slowed_down(provider: RunningProvider, tmp_path: Path) -> None:
    with serve(tmp_path, login=settings(provider)) as served:
        browser, found = Browser(served), []
        for _ in range(21):
            state = parse_qs(urlsplit(begin(browser)).query)["state"][0]
            found.append(browser.get("/login/callback", params={"state": state, "error": "access_denied"}))
        assert [item.status_code for item in found] == [403] * 20 + [429]
        assert "begin at the login page again" in found[-1].text
        # Keys are counted apart.
        assert Browser(served, "owner").get("/").status_code == 200


def test_a_provider_that_is_away_is_said_to_be_so_and_keys_still_let_in(
    provider: RunningProvider, tmp_path: Path
) -> None:
    with serve(tmp_path, login=settings(provider, issuer="http://127.0.0.1:9")) as served:
        found = Browser(served).get("/login/provider")
        assert found.status_code == 503
        assert "cannot be reached now" in found.text
        assert Browser(served, "analyst").get("/").status_code == 200


def test_a_public_client_and_a_wrong_secret(provider: RunningProvider, tmp_path: Path) -> None:
    public = settings(provider, client_id="public", client_secret=None)
    with serve(tmp_path, login=public) as served:
        assert enter(served, provider, "ann").get("/").status_code == 200
    other = tmp_path / "wrong"
    other.mkdir()
    with serve(other, login=settings(provider, client_secret=CLIENTS["another"])) as served:
        browser = Browser(served)
        assert browser.get(come_back(browser, provider, "ann")).status_code == 403
        assert "refused a code: invalid_client" in served.log
        assert made(served) == []


def test_without_a_provider_there_is_neither_a_link_nor_a_page(served: Served) -> None:
    browser = Browser(served)
    assert "/login/provider" not in browser.get("/login").text
    for place in ("/login/provider", "/login/callback"):
        assert browser.get(place).status_code == 404

# SPDX-License-Identifier: Apache-2.0
"""Login, logout, and how sessions end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from anonymaly.server.console.sessions import IDLE_SECONDS, LONGEST_SECONDS, MOST_OF_PERSON
from anonymaly.server.console.throttle import OF_A_KEY
from anonymaly.server.keys import ApiKey
from anonymaly.server.settings import ServerSettings, WebSettings
from anonymaly.server.state import keys, sessions
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import Served, make_key, serve


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose logins fail."""
    with serve(tmp_path_factory.mktemp("entering")) as running:
        yield running


def change(served: Served, statement: sa.Update) -> None:
    with served.state.write() as connection:
        connection.execute(statement)


def stored(served: Served, browser: Browser) -> sa.Row[tuple[object, ...]]:
    number = browser.client.cookies["anonymaly"].partition(".")[0]
    with served.state.read() as connection:
        return connection.execute(sa.select(sessions).where(sessions.c.id == number)).one()


def test_whoever_is_not_logged_in_is_sent_to_the_login_wherever_they_go(served: Served) -> None:
    browser = Browser(served)
    for path in ("/tables/patients", "/tables/nowhere", "/nowhere", "/answers/1", "/keys"):
        found = browser.get(path)
        assert found.status_code == 303
        assert found.headers["Location"] == f"/login?next={path}"
    assert browser.get("/").headers["Location"] == "/login"
    assert browser.get("/tables/patients.json").status_code == 401


def test_login_leads_to_where_one_wanted_to_be_and_never_elsewhere(served: Served) -> None:
    browser = Browser(served)
    wanted = Reader(browser.get("/login?next=/tables/patients").text).form("/login")
    key = served.keys["analyst"].text
    entered = browser.client.post("/login", data={**wanted, "key": key})
    assert entered.headers["Location"] == "/tables/patients"
    assert browser.follow(entered).status_code == 200
    for place in (
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/a\nb",
    ):
        entered = Browser(served).client.post("/login", data={"next": place, "key": key})
        assert entered.headers["Location"] == "/", place


def test_the_cookie_is_for_this_site_and_no_script(served: Served) -> None:
    entered = Browser(served).client.post("/login", data={"key": served.keys["analyst"].text})
    cookie = entered.headers["Set-Cookie"]
    assert cookie.startswith("anonymaly=")
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")


@pytest.mark.parametrize(("given", "encrypted"), [({}, False), ({"behind_proxy": "10.0.0.2"}, True)])
def test_a_server_says_whether_browsers_reach_it_by_tls(given: dict[str, Any], encrypted: bool) -> None:
    assert ServerSettings(**given).for_web(Path()).encrypted is encrypted


def test_beyond_loopback_the_cookie_goes_by_tls_alone(own: Served) -> None:
    from anonymaly.server.authentication import Authenticator
    from anonymaly.server.console.sessions import ConsoleSessions

    assert WebSettings(state="", outbox="").encrypted is False
    authenticator = Authenticator(own.state)
    found = ConsoleSessions(own.state, authenticator, encrypted=True)
    caller = authenticator.of_key(own.keys["analyst"])
    assert caller is not None
    cookie = found.handed(found.begin(caller))
    assert cookie.startswith("__Host-anonymaly=")
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict; Secure")


def test_every_wrong_key_gets_the_same_page(own: Served) -> None:
    right = own.keys["analyst"].text
    wrong = ["", "anm_1", ApiKey.fresh().text, right[:-1] + ("A" if right[-1] != "A" else "B"), "x" * 10_000]
    wrong += [own.keys["expired"].text, own.keys["revoked"].text]
    found = [Browser(own).client.post("/login", data={"key": key}) for key in wrong]
    assert {item.status_code for item in found} == {403}
    assert len({item.content for item in found}) == 1
    assert "Set-Cookie" not in found[0].headers


def test_logins_that_fail_are_slowed_down_by_key_and_address(own: Served) -> None:
    right = make_key(own.state, "ann", "analyst").text
    wrong = right[:-1] + ("A" if right[-1] != "A" else "B")
    browser = Browser(own)
    found = [browser.client.post("/login", data={"key": wrong}) for _ in range(OF_A_KEY + 1)]
    assert [item.status_code for item in found] == [403] * OF_A_KEY + [429]
    assert int(found[-1].headers["Retry-After"]) > 0
    assert "logins have failed" in found[-1].text
    # Nor does the right one then: it would be told from the wrong ones.
    assert browser.client.post("/login", data={"key": right}).status_code == 429
    # Of another key nothing is known yet.
    assert browser.client.post("/login", data={"key": own.keys["owner"].text}).status_code == 303


def test_the_key_is_nowhere_but_sealed(served: Served) -> None:
    browser = Browser(served, "analyst")
    row = stored(served, browser)
    key, secret = served.keys["analyst"].text, browser.client.cookies["anonymaly"].partition(".")[2]
    for text in (str(row), browser.get("/").text, browser.get("/index.json").text, served.log):
        assert key not in text
        assert secret not in text
    assert served.keys["analyst"].signing.hex() not in str(row)


def test_a_cookie_of_another_secret_is_none(served: Served) -> None:
    browser, other = Browser(served, "analyst"), Browser(served, "owner")
    number = browser.client.cookies["anonymaly"].partition(".")[0]
    secret = other.client.cookies["anonymaly"].partition(".")[2]
    for cookie in (f"{number}.{secret}", number, f"{number}.", "", f"{number}.{'A' * 43}", "é"):
        found = httpx.get(f"{served.base}/", headers=[(b"Cookie", f"anonymaly={cookie}".encode())])
        assert found.status_code == 303, cookie
    assert browser.get("/").status_code == 200


def test_logout_ends_the_session_for_good(served: Served) -> None:
    browser = Browser(served, "analyst")
    cookie = dict(browser.client.cookies)
    out = browser.send("/logout")
    assert out.headers["Set-Cookie"].startswith("anonymaly=; Max-Age=0")
    assert "logged out" in browser.follow(out).text
    assert httpx.get(f"{served.base}/", cookies=cookie).status_code == 303


def test_the_oldest_session_of_a_person_ends_when_there_are_too_many_whatever_their_keys(own: Served) -> None:
    first, other = Browser(own, "analyst"), Browser(own, "other analyst")
    # As a login at a provider makes them: each session has a key of its own.
    for number in range(MOST_OF_PERSON):
        own.keys[f"login {number}"] = make_key(own.state, "ann", "analyst")
    again = [Browser(own, f"login {number}") for number in range(MOST_OF_PERSON - 1)]
    assert first.get("/").status_code == 200
    again.append(Browser(own, f"login {MOST_OF_PERSON - 1}"))
    assert first.get("/").status_code == 303
    assert all(browser.get("/").status_code == 200 for browser in (*again, other))


def test_a_session_ends_when_its_key_is_revoked(own: Served) -> None:
    own.keys["brief"] = make_key(own.state, "ann", "analyst")
    browser = Browser(own, "brief")
    assert browser.get("/").status_code == 200
    change(own, keys.update().where(keys.c.id == own.keys["brief"].id).values(revoked_at=own.state.now))
    found = browser.get("/tables/patients")
    assert found.headers["Location"] == "/login?next=/tables/patients&ended=1"
    with own.state.read() as connection:
        left = connection.execute(sa.select(sessions).where(sessions.c.key_id == own.keys["brief"].id))
        assert left.all() == []


def test_a_session_ends_when_the_role_of_its_key_changes(own: Served) -> None:
    own.keys["changing"] = make_key(own.state, "ann", "analyst")
    browser = Browser(own, "changing")
    change(own, keys.update().where(keys.c.id == own.keys["changing"].id).values(role="owner"))
    assert browser.get("/").status_code == 303


@pytest.mark.parametrize(("column", "seconds"), [("created_at", LONGEST_SECONDS), ("used_at", IDLE_SECONDS)])
def test_a_session_ends_after_hours_and_when_it_is_not_used(own: Served, column: str, seconds: float) -> None:
    browser = Browser(own, "owner")
    mine = sessions.c.id == browser.client.cookies["anonymaly"].partition(".")[0]
    change(own, sessions.update().where(mine).values({column: own.state.now - seconds + 5}))
    assert browser.get("/").status_code == 200
    change(own, sessions.update().where(mine).values({column: own.state.now - seconds - 1}))
    assert browser.get("/").status_code == 303
    Browser(own, "owner")  # whoever comes in next has it removed
    with own.state.read() as connection:
        assert connection.execute(sa.select(sessions).where(mine)).first() is None

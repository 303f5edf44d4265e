# SPDX-License-Identifier: Apache-2.0
"""What an owner does in the console: grants, the budget, pauses, keys; each by the job that /v1 has done."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from anonymaly import connect
from anonymaly.errors import Proposed
from anonymaly.server.confirming import Host
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import COUNT, Served, serve

GRANT = {"analyst": "dora", "total": "2", "reason": "study 7"}
HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}"
FORMS = (
    "/tables/patients/grant",
    "/tables/patients/grants/ann/revoke",
    "/tables/patients/budget/raise",
    "/tables/patients/amend",
    "/tables/patients/pause",
    "/tables/patients/resume",
    "/keys",
    "/keys/0123456789abcdef/revoke",
)


@pytest.fixture
def owner(changing: Served) -> Browser:
    return Browser(changing, "owner")


def told(served: Served, path: str, who: str = "owner") -> Any:
    with served.client(who) as client:
        found = client.get(path)
        assert found.status_code == 200, found.text
        return found.json()


def grants_of(served: Served, table: str = "patients") -> dict[str, Any]:
    return {item["analyst"]: item for item in told(served, f"/v1/tables/{table}/grants")["items"]}


def give(browser: Browser, fields: dict[str, Any], table: str = "patients") -> httpx.Response:
    """Fill in a grant, look at the second page, and confirm it there."""
    place = f"/tables/{table}/grant"
    checked = browser.send(place, fields)
    assert checked.status_code == 200, checked.text
    return browser.client.post(place, data={**Reader(checked.text).form(place), "confirmed": "1"})


def test_a_grant_is_said_in_words_before_it_is_given(changing: Served, owner: Browser) -> None:
    fields = {
        **GRANT,
        "question_limit": "0.5",
        "each_period": "1",
        "every": "month",
        "begins": "2026-01-01",
        "until": "2090-01-31",
        "questions": ["count", "score"],
        "overcommit": "1",
    }
    checked = owner.send("/tables/patients/grant", fields)
    text = Reader(checked.text).text
    for words in ("dora may ask patients", "up to ε = 2 in all", "up to ε = 1 each month", "count, score"):
        assert words in text
    assert "dora" not in grants_of(changing)

    changed = owner.send("/tables/patients/grant", {**fields, "change": "1"})
    form = Reader(changed.text).form("/tables/patients/grant")
    assert (form["total"], form["every"], form["questions"]) == (["2"], ["month"], ["count", "score"])

    shown = owner.follow(give(owner, fields))
    assert "The grant is given." in shown.text
    found = grants_of(changing)["dora"]
    assert (found["by"], found["reason"], found["standing"]) == ("olga", "study 7", True)
    terms = found["terms"]
    assert (terms["total"], terms["question_limit"], terms["questions"]) == ("2", "0.5", ["count", "score"])
    assert terms["period"]["epsilon"] == "1"
    assert terms["overcommit"] is True
    again = Reader(owner.get("/tables/patients/grant?analyst=dora").text).form("/tables/patients/grant")
    assert (again["total"], again["each_period"], again["overcommit"]) == (["2"], ["1"], ["1"])


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("analyst", {"analyst": ""}),
        ("analyst", {"analyst": "a/b"}),
        ("total", {"total": ""}),
        ("total", {"total": "much"}),
        ("total", {"total": "-1"}),
        ("reason", {"reason": " "}),
        ("question_limit", {"question_limit": "0"}),
        ("each_period", {"every": "month"}),
        ("every", {"each_period": "1"}),
        ("every", {"each_period": "1", "every": "century"}),
        ("begins", {"each_period": "1", "every": "day", "begins": "2026-02-31"}),
        ("until", {"until": "someday-soon"}),
        ("rules", {"rules": ["adults"], "allotted.adults": "few"}),
    ],
)
def test_what_is_wrong_with_a_grant_is_said_at_its_field(
    changing: Served, owner: Browser, field: str, changes: dict[str, Any]
) -> None:
    found = owner.send("/tables/patients/grant", {**GRANT, "analyst": "emil", **changes, "confirmed": "1"})
    assert found.status_code == 422, found.text
    assert f'href="#field-{field}"' in found.text
    assert f'id="field-{field}"' in found.text
    form = Reader(found.text).form("/tables/patients/grant")
    assert form["total"] == [changes.get("total", "2")]
    assert "emil" not in grants_of(changing)


@pytest.mark.parametrize(
    ("field", "status", "changes"),
    [
        ("total", 403, {"total": "150"}),
        ("until", 422, {"until": "2001-01-01"}),
        ("rules", 422, {"rules": ["no"]}),
    ],
)
def test_what_the_ledger_refuses_is_said_at_its_field(
    changing: Served, owner: Browser, field: str, status: int, changes: dict[str, Any]
) -> None:
    found = give(owner, {**GRANT, "analyst": "emil", **changes})
    assert found.status_code == status, found.text
    assert f'href="#field-{field}"' in found.text
    assert "emil" not in grants_of(changing)


def test_a_grant_is_revoked_with_a_reason(changing: Served, owner: Browser) -> None:
    give(owner, {**GRANT, "analyst": "finn", "total": "1"})
    place = "/tables/patients/grants/finn/revoke"
    assert "nothing more" in owner.get(place).text
    missing = owner.send(place, {"reason": ""})
    assert missing.status_code == 422
    assert 'href="#field-reason"' in missing.text
    assert grants_of(changing)["finn"]["standing"]
    assert "The grant is revoked." in owner.follow(owner.send(place, {"reason": "it has ended"})).text
    assert not grants_of(changing)["finn"]["standing"]
    assert "has no grant" in owner.get(place).text
    assert "has no grant" in owner.send("/tables/patients/grants/nobody/revoke", {"reason": "x"}).text


def test_a_budget_is_raised_on_a_second_page_alone(changing: Served, owner: Browser) -> None:
    place, fields = "/tables/others/budget/raise", {"to": "120.5", "reason": "a second year"}
    checked = owner.send(place, fields)
    assert "never lowered again" in checked.text
    assert told(changing, "/v1/tables/others")["account"]["limit"] == "100"
    sent = owner.client.post(place, data={**Reader(checked.text).form(place), "confirmed": "1"})
    assert "The budget is raised." in owner.follow(sent).text
    assert told(changing, "/v1/tables/others")["account"]["limit"] == "120.5"
    steps = owner.get("/tables/others/budget.json").json()["steps"]
    assert (steps[0]["change"], steps[0]["limit"], steps[0]["what"]) == ("+20.5", "120.5", "raised by olga")

    for to in ("", "much", "-3"):
        assert 'href="#field-to"' in owner.send(place, {"to": to, "reason": "x"}).text
    lower = owner.send(place, {"to": "3", "reason": "less", "confirmed": "1"})
    assert lower.status_code >= 400
    assert 'href="#field-to"' in lower.text
    assert told(changing, "/v1/tables/others")["account"]["limit"] == "120.5"


def test_a_table_is_paused_and_resumed(changing: Served, owner: Browser) -> None:
    place = "/tables/others"
    assert owner.send(f"{place}/pause", {"reason": ""}).status_code == 422
    assert not told(changing, "/v1/tables/others")["paused"]
    assert "The table is paused" in owner.follow(owner.send(f"{place}/pause", {"reason": "holidays"})).text
    assert told(changing, "/v1/tables/others")["paused"]
    refused = changing.ask("other analyst", "while-paused", {**COUNT, "where": "age < 33"}, "others").json()
    assert refused.get("state") != "done"
    assert "is resumed" in owner.follow(owner.send(f"{place}/resume", {"reason": "back"})).text
    assert not told(changing, "/v1/tables/others")["paused"]


def test_a_key_is_shown_once_and_revoked_for_good(changing: Served, owner: Browser) -> None:
    fields = {"person": "gina", "role": "auditor", "label": "laptop", "expires_in_days": "7"}
    made = owner.send("/keys", fields)
    assert made.headers["Cache-Control"] == "no-store"
    text = re.findall(r"anm_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", made.text)[0]
    assert text not in owner.get("/keys").text
    assert text not in owner.get("/keys.json").text
    number = text[4:20]
    gina = Browser(changing)
    assert gina.client.post("/login", data={"key": text}).status_code == 303
    assert "gina" in gina.get("/").text
    line = next(item for item in owner.get("/keys.json").json()["keys"] if item["id"] == number)
    assert (line["person"], line["role"], line["label"], line["state"]) == (
        "gina",
        "auditor",
        "laptop",
        "valid",
    )

    place = f"/keys/{number}/revoke"
    assert "for good" in owner.get(place).text
    assert gina.get("/").status_code == 200
    assert "The key is revoked" in owner.follow(owner.send(place)).text
    assert gina.get("/").status_code == 303
    own = owner.send(f"/keys/{changing.keys['owner'].id}/revoke")
    assert own.status_code == 403
    assert "last key of an owner" in own.text


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("person", {"person": ""}),
        ("person", {"person": "a/b"}),
        ("role", {"role": "king"}),
        ("label", {"label": "x" * 101}),
        ("expires_in_days", {"expires_in_days": ""}),
        ("expires_in_days", {"expires_in_days": "0"}),
        ("expires_in_days", {"expires_in_days": "1.5"}),
    ],
)
def test_what_is_wrong_with_a_key_is_said_at_its_field(
    changing: Served, owner: Browser, field: str, changes: dict[str, str]
) -> None:
    fields = {"person": "hal", "role": "analyst", "label": "", "expires_in_days": "90", **changes}
    found = owner.send("/keys", fields)
    assert found.status_code == 422
    assert f'href="#field-{field}"' in found.text
    assert not [item for item in told(changing, "/v1/keys?limit=200")["items"] if item["person"] == "hal"]


def test_hostile_names_are_text_on_every_page(changing: Served, owner: Browser) -> None:
    hostile = {"analyst": HOSTILE, "total": "0.5", "reason": HOSTILE}
    owner.follow(give(owner, hostile))
    made = owner.send(
        "/keys", {"person": HOSTILE, "role": "analyst", "label": HOSTILE, "expires_in_days": "1"}
    )
    assert made.status_code == 200
    places = [
        f"/tables/patients/{name}" for name in ("grants", "ledger", "full-statement", "asked", "budget")
    ]
    quoted = httpx.URL(f"/tables/patients/grant?analyst={HOSTILE.replace('&', '%26')}")
    for found in (made, owner.get("/keys"), owner.get(str(quoted)), *map(owner.get, places)):
        assert found.status_code == 200
        assert "<img" not in found.text
        check_plain(found.text)
    assert HOSTILE in Reader(owner.get("/tables/patients/grants").text).text
    assert HOSTILE in Reader(owner.get("/tables/patients/ledger").text).text


@pytest.mark.parametrize("place", FORMS)
def test_nothing_is_done_without_the_token_of_the_session(
    changing: Served, owner: Browser, place: str
) -> None:
    before = [told(changing, f"/v1/tables/patients/{part}") for part in ("grants", "ledger?limit=200")]
    fields = {
        **GRANT,
        "to": "500",
        "person": "ida",
        "role": "owner",
        "expires_in_days": "9",
        "confirmed": "1",
    }
    other = Browser(changing, "owner").token
    for token in ("", "0" * 64, other):
        found = owner.client.post(place, data={"csrf": token, **fields})
        assert found.status_code == 403
        assert "was not sent from a page of this session" in found.text
    after = [told(changing, f"/v1/tables/patients/{part}") for part in ("grants", "ledger?limit=200")]
    assert after == before


def test_who_asked_what_is_there_in_words(changing: Served, owner: Browser) -> None:
    where = "age < 41"
    assert changing.ask("analyst", "who-asked-what", {**COUNT, "where": where}).status_code == 200
    newest = owner.get("/tables/patients/asked.json").json()["charges"][0]
    assert (newest["analyst"], newest["question"], newest["epsilon"]) == ("ann", "count", "0.01")
    assert where in newest["asks"]
    assert (newest["state"], newest["first"]) == ("answered", True)
    text = Reader(owner.get("/tables/patients/asked").text).text
    assert newest["asks"] in text
    steps = owner.get("/tables/patients/budget.json").json()["steps"]
    assert (steps[0]["what"], steps[0]["change"]) == ("asked by ann", "−0.01")
    account = told(changing, "/v1/tables/patients")["account"]
    assert (steps[0]["left"], steps[0]["limit"]) == (account["remaining"], account["limit"])
    picture = owner.get("/tables/patients/budget").text
    assert re.search(
        r'<svg [^>]*role="img" aria-label="What is left of the budget. ε = 100 at first', picture
    )


def test_what_loosens_is_shown_as_a_proposal(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serve(tmp_path_factory.mktemp("confirm"), confirm=True) as served:
        owner, auditor = Browser(served, "owner"), Browser(served, "auditor")
        shown = owner.follow(give(owner, {**GRANT, "analyst": HOSTILE}))
        assert "Proposal 1 waits for the host" in Reader(shown.text).text
        raised = owner.send("/tables/patients/budget/raise", {"to": "200", "reason": "x", "confirmed": "1"})
        assert raised.headers["Location"] == "/proposals?made=2"
        key = {"person": "kai", "role": "analyst", "label": "", "expires_in_days": "9"}
        assert owner.send("/keys", key).headers["Location"] == "/proposals?made=3"
        with served.client("owner") as client:
            told_so = client.post("/v1/tables/patients/budget", json={"to": "300", "reason": "x"})
        assert (told_so.status_code, told_so.json()["result"]["proposal"]["number"]) == (202, 4)
        curator = connect(f"{served.base}/patients", key=served.keys["owner"].text)
        with curator, pytest.raises(Proposed, match="proposal 5"):
            curator.owner.raise_budget(400, reason="x")
        assert set(grants_of(served)) == {"ann"}
        assert told(served, "/v1/tables/patients")["account"]["limit"] == "100"
        assert len(told(served, "/v1/proposals", "auditor")["items"]) == 5
        for browser, place in ((auditor, "/proposals"), (owner, "/tables/patients/grants")):
            page = browser.get(place)
            check_plain(page.text)
            assert "<img" not in page.text
            assert f"let {HOSTILE} ask patients: up to ε = 2 in all" in Reader(page.text).text.replace(
                "Let", "let"
            )
        with Host.open(served.folder) as host:
            host.confirm(1, pytest.fail)
        assert grants_of(served)[HOSTILE]["by"] == "olga"
        assert "confirmed" in auditor.get("/proposals").text
        paused = owner.send("/tables/patients/pause", {"reason": "at once"})
        assert paused.headers["Location"] == "/tables/patients/budget?done=paused"

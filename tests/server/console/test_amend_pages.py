# SPDX-License-Identifier: Apache-2.0
"""Proposing to amend, in the console and over HTTP: what would change for whom, and the proposal."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from anonymaly.server.confirming import Host
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import COLUMNS, Served

PAGE = "/tables/others/amend"
RULES = {"grown": {"type": "policy", "text": "age >= 18"}}


@pytest.fixture
def owner(changing: Served) -> Browser:
    return Browser(changing, "owner")


def test_an_amendment_is_shown_proposed_and_declined(changing: Served, owner: Browser) -> None:
    assert PAGE in owner.get("/tables/others/rules").text
    assert PAGE not in Browser(changing, "auditor").get("/tables/others/rules").text
    form = owner.read(PAGE).form(PAGE)
    declared = yaml.safe_load(form["declaration"][0])
    assert declared["columns"] == COLUMNS
    wanted = yaml.safe_dump({**declared, "rules": RULES})
    fields = {**form, "declaration": wanted, "reason": "grown people agreed", "learned": "1"}
    checked = owner.client.post(PAGE, data=fields)
    assert checked.status_code == 200, checked.text
    check_plain(checked.text)
    text = Reader(checked.text).text
    for words in (
        "This leaves people unprotected",
        "Rule grown new: from now on answers that cite it leave unprotected",
        "As it was: age, ward.",
        "Learned from rows",
        "grown people agreed",
    ):
        assert words in text, words
    again = owner.client.post(PAGE, data={**Reader(checked.text).form(PAGE), "change": "1"})
    assert Reader(again.text).form(PAGE)["declaration"] == [wanted.rstrip()]

    sent = owner.client.post(PAGE, data={**Reader(checked.text).form(PAGE), "confirmed": "1"})
    shown = owner.follow(sent)
    check_plain(shown.text)
    assert "waits for the host" in shown.text
    assert "rule grown new" in shown.text
    number = int(sent.headers["Location"].rpartition("=")[2])
    assert "others" in owner.get(PAGE).text
    with changing.client("auditor") as client:
        found = {item["number"]: item for item in client.get("/v1/proposals").json()["items"]}[number]
    assert found["asked"]["declaration"]["rules"] == RULES
    assert found["asked"]["learned_from_rows"] is True
    with Host.open(changing.folder) as host:
        waits = {item["number"]: item for item in host.waiting()}[number]
        assert [line for line in waits["changes"] if line.startswith("rule grown new")]
        host.decline(number)
    assert "rules" not in yaml.safe_load((changing.folder / "others.yaml").read_text())


@pytest.mark.parametrize(
    ("field", "changes", "words"),
    [
        ("reason", {"reason": " "}, "must be filled in"),
        ("declaration", {"declaration": "columns: [1"}, "not YAML"),
        ("declaration", {"declaration": "- 1"}, "declares nothing"),
        ("declaration", {"declaration": "source: /etc/passwd"}, "source: cannot be amended over HTTP"),
        ("declaration", {"declaration": "person: age"}, "person: cannot be amended over HTTP"),
        ("declaration", {"declaration": "rules: {a: {type: policy, text: 'hight > 1'}}"}, "hight"),
        ("declaration", {"declaration": "rules:"}, "nothing differs"),
        ("declaration", {"declaration": '"\\ud800": 1'}, "half a surrogate pair"),
    ],
)
def test_what_is_wrong_with_an_amendment_is_said_at_its_field(
    owner: Browser, field: str, changes: dict[str, str], words: str
) -> None:
    given = {"declaration": yaml.safe_dump({"rules": RULES}), "reason": "x", **changes}
    found = owner.send(PAGE, {**given, "confirmed": "1"})
    assert found.status_code == 422, found.text
    check_plain(found.text)
    assert f'href="#field-{field}"' in found.text
    assert words in Reader(found.text).text


def test_what_was_shown_beside_another_declaration_is_not_proposed(changing: Served, owner: Browser) -> None:
    fields = {"declaration": yaml.safe_dump({"rules": RULES}), "reason": "they agreed"}
    checked = Reader(owner.send(PAGE, fields).text).form(PAGE)
    number = int(checked["replaces"][0])
    with changing.client("owner") as client:
        before = client.get("/v1/proposals").json()["items"]
        for other in (str(number - 1), "", "x"):
            late = owner.client.post(PAGE, data={**checked, "replaces": other, "confirmed": "1"})
            assert late.status_code == 409, late.text
            assert "amended since" in Reader(late.text).text
        asked = {"declaration": {"rules": RULES}, "reason": "they agreed", "replaces": number - 1}
        assert client.post("/v1/tables/others/amendment", json=asked).status_code == 409
        assert client.get("/v1/proposals").json()["items"] == before


def test_no_name_turns_a_line_around_or_hides_a_letter(changing: Served, owner: Browser) -> None:
    hidden = {"a\u202eb\u200b": {"type": "policy", "text": "age >= 18"}}
    shown = owner.send(PAGE, {"declaration": yaml.safe_dump({"rules": hidden}), "reason": "x"})
    assert shown.status_code == 200
    told = shown.text.partition("<form method")[0]
    assert "a\\u202eb\\u200b" in told
    assert not {"\u202e", "\u200b"} & set(told)
    with changing.client("owner") as client:
        seen = client.post("/v1/tables/others/amendment/preview", json={"declaration": {"rules": hidden}})
    assert "\u202e" not in "".join((*seen.json()["differences"], *seen.json()["rules"]))


def test_http_says_and_proposes_the_same(changing: Served) -> None:
    fields: dict[str, Any] = {"rules": RULES}
    place = "/v1/tables/others/amendment"
    with changing.client("owner") as client:
        seen = client.post(f"{place}/preview", json={"declaration": fields})
        assert seen.status_code == 200, seen.text
        assert seen.json()["stays"] == ["age", "ward"]
        assert seen.json()["rules"][0].startswith("rule grown new")
        beside = {"replaces": seen.json()["replaces"]}
        made = client.post(place, json={"declaration": fields, "reason": "they agreed", **beside})
        assert made.status_code == 202, made.text
        number = made.json()["result"]["proposal"]["number"]
        same = client.post(f"{place}/preview", json={"declaration": {}})
        assert (same.status_code, same.json()["field"]) == (422, "declaration")
    with Host.open(changing.folder) as host:
        host.decline(number)

# SPDX-License-Identifier: Apache-2.0
"""What pages say, to whom, and that nothing a name or a label holds is read as markup."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from anonymaly.finding.choosing import DECISIONS, TREE
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web import served as serving
from tests.server.web.served import COLUMNS, Served, make_key, serve

HOSTILE = """<img src=x onerror=alert(1)>"'{{7*7}}&"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server whose columns, values, rules and people have names that are markup."""
    columns = {**COLUMNS, HOSTILE: {"type": "categories", "values": [HOSTILE, "plain"]}}
    rules = {HOSTILE: {"type": "policy", "text": "age >= 18"}}

    def write_table(folder: Path, name: str, extra: int = 0, ledger: str | None = None) -> None:
        quoted = '"' + HOSTILE.replace('"', '""') + '"'
        lines = [f"age,ward,{quoted}", *(f"{20 + number},A,{quoted}" for number in range(50))]
        (folder / f"{name}.csv").write_text("\n".join([*lines, ""]), "utf-8")
        manifest = {
            "name": name,
            "source": f"{name}.csv",
            "columns": columns,
            "rules": rules,
            "budget": "100",
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(manifest), "utf-8")

    monkeypatch.setattr(serving, "write_table", write_table)
    with serve(tmp_path) as running:
        running.keys["hostile"] = make_key(running.state, HOSTILE, "auditor")
        yield running


def check_escaped(text: str) -> None:
    check_plain(text)
    assert "<img" not in text
    assert "49" not in text or "{{7*7}}" in text
    assert not any("onerror" in given for _, given in Reader(text).elements)


def test_hostile_names_and_labels_are_text(hostile: Served) -> None:
    browser = Browser(hostile, "analyst")
    page = "/tables/patients/ask/share-histogram"
    for path in ("/tables/patients", page, "/tables/patients/ask/identify", "/tables/patients/ask/explain"):
        found = browser.get(path)
        assert found.status_code == 200
        check_escaped(found.text)
        assert HOSTILE in Reader(found.text).text or HOSTILE in str(Reader(found.text).elements)
    fields = {"by": HOSTILE, "method": "geometric", "epsilon": "0.5"}
    shown = browser.send(page, {**fields, "do": "preview"})
    assert shown.status_code == 200, shown.text
    check_escaped(shown.text)
    sent = browser.client.post(page, data={**Reader(shown.text).form(page), "do": "ask"})
    found = browser.follow(sent)
    while found.status_code == 200 and "refresh" in found.text:
        found = browser.get(found.url.path)
    answer = browser.follow(found)
    check_escaped(answer.text)
    assert "<svg" in answer.text
    for path in ("/tables/patients/answers", "/tables/patients/statement"):
        check_escaped(browser.get(path).text)
    wrong = browser.send(page, {"by": HOSTILE, "policy": HOSTILE + "x", "epsilon": "<b>", "do": "preview"})
    assert wrong.status_code in (403, 422)
    check_escaped(wrong.text)
    check_escaped(Browser(hostile, "hostile").get("/").text)
    check_escaped(Browser(hostile).get("/login", params={"next": "/" + HOSTILE}).text)


def test_an_analyst_sees_nothing_of_others_or_of_the_table(served: Served) -> None:
    served.ask("analyst", "a-page-of-mine")
    found = Browser(served, "analyst").get("/tables/patients")
    assert "What you have left" in found.text
    assert "What the table has left" not in found.text
    assert "What the table has left" in Browser(served, "auditor").get("/tables/patients").text
    assert Browser(served, "analyst").get("/index.json").json()["tables"][0]["account"] is None


def test_an_auditor_is_offered_no_question(served: Served) -> None:
    for role, offered in (("auditor", False), ("analyst", True), ("owner", True)):
        assert ("/tables/patients/ask/count" in Browser(served, role).get("/tables/patients").text) is offered


def test_somebody_without_any_table_is_told_what_to_do(served: Served) -> None:
    served.keys["new"] = make_key(served.state, "nina", "analyst")
    found = Browser(served, "new").get("/")
    assert "There is no table that you may see yet." in found.text
    assert "nina" in found.text


def test_whoever_finds_no_answers_is_told_whose_there_are_none_of(tmp_path: Path) -> None:
    nobody = "Nobody has an answer about this table yet."
    said = {"analyst": "You have no answers about this table yet.", "owner": nobody, "auditor": nobody}
    with serve(tmp_path) as fresh:
        for who, words in said.items():
            assert words in Browser(fresh, who).get("/tables/patients/answers").text
        job = fresh.ask("analyst", "the-only-one").json()["job"]
        after = Browser(fresh, "auditor").get(f"/tables/patients/answers?after={job}").text
        assert "There are no more answers." in after


def test_answers_come_in_pages(served: Served) -> None:
    browser = Browser(served, "analyst")
    first = browser.get("/tables/patients/answers.json").json()
    rest = browser.get(f"/tables/patients/answers.json?after={first['items'][0]['job']}").json()
    assert [item["job"] for item in rest["items"]][:5] == [item["job"] for item in first["items"]][1:6]


@pytest.mark.parametrize("leaves", TREE)
@pytest.mark.parametrize("protect", DECISIONS[1].choices)
def test_three_decisions_lead_to_the_question_of_the_tree(served: Served, leaves: str, protect: str) -> None:
    browser = Browser(served, "analyst")
    found = browser.get(f"/choose?asks=analyst&protect={protect}&leaves={leaves}")
    check_plain(found.text)
    question = TREE[leaves][protect].question
    assert (f"/tables/patients/ask/{question}" in found.text) is (leaves != "stream")


def test_what_is_not_decided_yet_is_asked_for(served: Served) -> None:
    found = Browser(served, "analyst").get("/choose?asks=analyst&leaves=nonsense")
    assert ("a", {"href": "#field-protect"}) in Reader(found.text).elements
    assert found.status_code == 200

# SPDX-License-Identifier: Apache-2.0
"""Asking without JavaScript: the form, the preview, the rehearsal, the question, its answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.ask.query import Query
from anonymaly.declare.declaration import Declaration
from anonymaly.server.console.forms import Sent
from anonymaly.server.console.question_form import fields_of, query_of
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import Served, serve

COUNT_PAGE = "/tables/patients/ask/count"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that nobody else asks."""
    with serve(tmp_path_factory.mktemp("asking")) as running:
        yield running


def preview(browser: Browser, page: str = COUNT_PAGE, **fields: Any) -> httpx.Response:
    """Fill in a form and press the button for the preview."""
    form = browser.read(page).form(page)
    return browser.client.post(page, data={**form, **fields, "do": "preview"})


def press(
    browser: Browser, shown: httpx.Response, button: str, page: str = COUNT_PAGE, **more: Any
) -> httpx.Response:
    """Press a button of a preview."""
    return browser.client.post(page, data={**Reader(shown.text).form(page), **more, "do": button})


def ended(browser: Browser, sent: httpx.Response) -> httpx.Response:
    """Look at a job as a browser does that only follows, until something came of it."""
    found = browser.follow(sent)
    until = time.monotonic() + 300
    while found.status_code == 200 and 'http-equiv="refresh"' in found.text and time.monotonic() < until:
        time.sleep(0.05)
        found = browser.get(found.url.path)
    return browser.follow(found) if found.status_code == 303 else found


def test_a_question_is_previewed_asked_and_answered_without_javascript(own: Served) -> None:
    browser = Browser(own, "analyst")
    before = browser.get("/tables/patients.json").json()["table"]["own"]["spent"]
    shown = preview(browser, where="age < 41", epsilon="0.25")
    assert shown.status_code == 200
    check_plain(shown.text)
    for words in ("ε = 0.25", "records where age &lt; 41", "Expected error", "<svg", "every record"):
        assert words in shown.text, words
    assert browser.get("/tables/patients.json").json()["table"]["own"]["spent"] == before
    answered = ended(browser, press(browser, shown, "ask"))
    assert answered.status_code == 200, answered.text
    check_plain(answered.text)
    assert "The ledger has this charge." in answered.text
    plain = browser.get(f"{answered.url.path}.json").json()
    with own.client("analyst") as client:
        told = client.get(f"/v1{answered.url.path}").json()
        content = client.get(f"/v1{answered.url.path}/content")
    assert plain["answer"] == told
    assert plain["stands"] is True
    assert f"{told['value']:,} records where age &lt; 41" in answered.text
    stored = browser.get(f"{answered.url.path}/content")
    assert stored.content == content.content
    assert stored.headers["Content-Disposition"] == "attachment"
    # It is in the list and in the statement.
    assert answered.url.path in browser.get("/tables/patients/answers").text
    assert "records where age &lt; 41" in browser.get("/tables/patients/statement").text


def test_a_form_that_is_sent_twice_asks_once(own: Served) -> None:
    browser = Browser(own, "analyst")
    shown = preview(browser, where="age < 42", epsilon="0.1")
    places = {press(browser, shown, "ask").headers["Location"] for _ in range(3)}
    assert len(places) == 1


def test_what_was_changed_after_its_preview_is_not_asked(own: Served) -> None:
    browser = Browser(own, "analyst")
    shown = preview(browser, where="age < 43", epsilon="0.1")
    before = browser.get("/tables/patients.json").json()["table"]["own"]["spent"]
    for change in ({"epsilon": "5"}, {"where": "age < 44"}, {"repeat": "1"}):
        found = press(browser, shown, "ask", **change)
        assert found.status_code == 422
        assert "another one than that of the preview" in found.text
        again = ended(browser, press(browser, found, "rehearse"))
        assert "INVENTED ROWS" in again.text
    assert press(browser, shown, "ask", previewed="").status_code == 422
    assert browser.get("/tables/patients.json").json()["table"]["own"]["spent"] == before
    # Its own preview is at hand: one button more asks it.
    changed = press(browser, shown, "ask", where="age < 44")
    assert "records where age &lt; 44" in ended(browser, press(browser, changed, "ask")).text


def test_a_rehearsal_says_so_and_costs_nothing(own: Served) -> None:
    browser = Browser(own, "analyst")
    before = browser.get("/tables/patients.json").json()["table"]["own"]["spent"]
    found = ended(browser, press(browser, preview(browser, where="age < 45"), "rehearse"))
    assert "INVENTED ROWS" in found.text
    check_plain(found.text)
    assert browser.get("/tables/patients.json").json()["table"]["own"]["spent"] == before


@pytest.mark.parametrize(
    ("fields", "status", "field", "words"),
    [
        ({"where": "age <"}, 422, "where", "Where"),
        ({"epsilon": "much"}, 422, "epsilon", "Price"),
        ({"epsilon": ""}, 422, "epsilon", "Price"),
        ({"epsilon": "11"}, 200, None, "more than you have left"),
        ({"repeat": "often"}, 422, "repeat", "whole number"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    served: Served, fields: dict[str, str], status: int, field: str | None, words: str
) -> None:
    found = preview(Browser(served, "analyst"), **fields)
    assert found.status_code == status, found.text
    assert words in found.text
    check_plain(found.text)
    reader = Reader(found.text)
    if field is not None and field != "repeat":
        assert ("a", {"href": f"#field-{field}"}) in reader.elements
        marked = [given for _, given in reader.elements if given.get("aria-invalid") == "true"]
        assert [given.get("id") for given in marked] == [f"field-{field}"]
    # What was typed is still there.
    for name, text in fields.items():
        assert reader.form(COUNT_PAGE)[name] == [text]


def test_more_than_is_left_is_refused(own: Served) -> None:
    browser = Browser(own, "analyst")
    found = press(browser, preview(browser, epsilon="11"), "ask")
    assert found.status_code == 402
    assert "remain" in found.text


def test_a_job_that_runs_is_a_page_that_looks_again_by_itself(own: Served) -> None:
    browser = Browser(own, "analyst")
    with own.hand.hold:
        sent = press(browser, preview(browser, where="age < 46"), "ask")
        found = browser.follow(sent)
        assert ("meta", {"http-equiv": "refresh", "content": "2"}) in Reader(found.text).elements
        assert "is under way" in found.text
        assert browser.get(f"/answers{sent.headers['Location'].removeprefix('/jobs')}").status_code == 404
    assert "records where age &lt; 46" in ended(browser, sent).text


def test_every_form_is_made_of_its_questions_fields(served: Served) -> None:
    browser = Browser(served, "analyst")
    for name in QUESTIONS:
        page = f"/tables/patients/ask/{name}"
        found = browser.get(page)
        assert found.status_code == 200
        check_plain(found.text)
        reader = Reader(found.text)
        ids = [given["id"] for _, given in reader.elements if "id" in given]
        assert len(ids) == len(set(ids))
        assert {f"field-{field}" for field in load(name).model_fields} <= set(ids)
        # Every control has a label.
        labelled = {given["for"] for tag, given in reader.elements if tag == "label"}
        controls = {
            given.get("id")
            for tag, given in reader.elements
            if tag in ("select", "textarea") or (tag == "input" and given.get("type") != "hidden")
        }
        assert controls <= labelled, controls - labelled
    assert browser.get("/tables/patients/ask/nothing").status_code == 404


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_filled_in_is_the_question_that_was_meant(name: str) -> None:
    for example in load(name).examples():
        declared = Declaration.read(
            name="example",
            columns=example.columns,
            rules=example.rules,
            person=example.person,
            max_rows=example.max_rows,
        )
        kind, plain = type(example.query), example.query.to_dict()
        sent = Sent(filled_in(plain, {item["name"]: item for item in fields_of(kind, declared, None)}))
        assert in_order(kind.read(query_of(kind, declared, sent))) == in_order(example.query)
        # And the form shows again what was filled in.
        again = {item["name"]: item for item in fields_of(kind, declared, sent)}
        assert again["epsilon"]["text"] == plain["epsilon"]


def in_order(query: Query) -> dict[str, Any]:
    """Return a question as plain data; in a form, columns are in the order of their declaration."""
    return {
        name: sorted(item, key=str) if isinstance(item, list | tuple) else item
        for name, item in query.to_dict().items()
    }


def filled_in(plain: dict[str, Any], fields: dict[str, dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Fill in a form with a question, as a person would."""
    sent: dict[str, tuple[str, ...]] = {}
    for name, value in plain.items():
        if name == "question" or value in (None, [], {}):
            continue
        match fields[name]["widget"]:
            case "columns":
                for item in value:
                    if isinstance(item, str):
                        sent[name] = (*sent.get(name, ()), item)
                    else:
                        edges = ", ".join(map(str, item["edges"]))
                        sent[f"cut.{name}.{item['column']}"] = (edges,)
            case "record":
                sent |= {f"{name}.{column}": (str(item),) for column, item in value.items()}
            case "records":
                lines = [
                    ",".join(value),
                    *(",".join(map(str, row)) for row in zip(*value.values(), strict=True)),
                ]
                sent[name] = ("\n".join(lines),)
            case "lines":
                lines = [f"{key}={item}" for key, item in value.items()] if isinstance(value, dict) else value
                sent[name] = (lines if isinstance(lines, str) else "\n".join(lines),)
            case _:
                sent[name] = (
                    {True: "true", False: "false"}.get(value, str(value))
                    if isinstance(value, bool)
                    else str(value),
                )
    return sent

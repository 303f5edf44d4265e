# SPDX-License-Identifier: Apache-2.0
"""Asking without JavaScript: the form, the preview, the rehearsal, the question, its answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest

from anonymaly import Categories, Interval, Timestamps
from anonymaly.ask.catalogue import QUESTIONS, load
from anonymaly.ask.query import Query
from anonymaly.ask.table import Table
from anonymaly.declare.declaration import Declaration
from anonymaly.errors import InputError
from anonymaly.server.console.answer_table import open_csv
from anonymaly.server.console.filled_in import filled_in
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
    assert '<dt>cost</dt><dd class="mono">ε = 0.25</dd>' in answered.text
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
        sent = Sent(filled_in(example.query, declared))
        assert in_order(kind.read(query_of(kind, declared, sent))) == in_order(example.query)
        # And the form shows again what was filled in.
        again = {item["name"]: item for item in fields_of(kind, declared, sent)}
        assert again["epsilon"]["text"] == plain["epsilon"]


def test_dates_are_cut_by_the_calendar_and_by_nothing_else() -> None:
    kind = load("explain")
    columns: dict[str, Any] = {
        "pay": Interval(0, 100),
        "came": Timestamps("2020-01-01", "2026-01-01"),
        "job": Categories(["A", "B"]),
    }
    declared = Declaration.read(name="example", columns=columns)
    record = {"pay": 3, "came": "2021-05-04", "job": "A"}
    for by in ("year", "quarter", "month", "weekday"):
        asked = kind.read(
            {
                "record": record,
                "metric": "pay",
                "attributes": [{"type": "dates", "column": "came", "by": by}],
                "epsilon": "1",
            }
        )
        sent = filled_in(asked, declared)
        assert sent["cut.attributes.came"] == (by,)
        assert kind.read(query_of(kind, declared, Sent(sent))).attributes == asked.attributes
    parts = next(item for item in fields_of(kind, declared, Sent(sent)) if item["name"] == "attributes")[
        "parts"
    ]
    assert {part["column"]: part["by"] for part in parts} == {
        "pay": [],
        "came": ["year", "quarter", "month", "weekday"],
        "job": [],
    }
    with pytest.raises(InputError):
        kind.read(query_of(kind, declared, Sent({**sent, "cut.attributes.came": ("hour",)})))


def test_a_table_is_downloaded_as_csv_without_formulas(changing: Served) -> None:
    browser = Browser(changing, "analyst")
    asked = {"question": "share-histogram", "by": ["ward"], "method": "geometric", "epsilon": "0.5"}
    job = changing.ask("analyst", "a-table-as-csv", asked).json()["job"]
    assert f"/answers/{job}/csv" in browser.get(f"/answers/{job}").text
    found = browser.get(f"/answers/{job}/csv")
    assert found.headers["Content-Disposition"] == "attachment"
    assert found.headers["Content-Type"].startswith("text/csv")
    rows = browser.get(f"/answers/{job}.json").json()["words"]["rows"]
    lines = [[item.strip('"') for item in line.split(",")] for line in found.text.splitlines()]
    assert lines == [rows["columns"], *rows["rows"]]
    # What is no table has none.
    counted = changing.ask("analyst", "no-table-as-csv").json()["job"]
    assert browser.get(f"/answers/{counted}/csv").status_code == 404
    assert f"/answers/{counted}/csv" not in browser.get(f"/answers/{counted}").text
    # The writer is the one of the command line: see `Table.to_csv`.
    text = open_csv(Table.of(pa.schema([("=a", pa.string())]), [pa.table({"=a": ["+1", "b"]})])).read()
    assert text == b'"\'=a"\n"\'+1"\n"b"\n'


def in_order(query: Query) -> dict[str, Any]:
    """Return a question as plain data; in a form, columns are in the order of their declaration."""
    return {
        name: sorted(item, key=str) if isinstance(item, list | tuple) else item
        for name, item in query.to_dict().items()
    }


def test_a_model_scores_records_and_leads_to_a_question_about_each(own: Served) -> None:
    browser = Browser(own, "analyst")
    page = "/tables/patients/ask/score"
    model = ended(
        browser, press(browser, preview(browser, page, columns=["age", "ward"], epsilon="2"), "ask", page)
    )
    place = f"{model.url.path}/score"
    assert place in model.text
    assert browser.get(place).status_code == 200
    found = browser.send(place, {"records": "age,ward,name\n30,A,Ada\n119,B,<b>Bob\n"})
    assert found.status_code == 200, found.text
    check_plain(found.text)
    assert "The oddest of 2" in found.text
    assert "<strong>Line 2</strong>" in found.text
    assert "name &lt;b&gt;Bob" in found.text
    explain = "/tables/patients/ask/explain"
    asked = Reader(found.text).form(explain)
    assert asked["record.age"] == ["119"]
    shown = browser.client.post(explain, data={**asked, "do": "preview"})
    assert shown.status_code == 200, shown.text
    assert "stands out in age" in shown.text
    for wrong in ("", "age\n1\n", "age,ward\n"):
        refused = browser.send(place, {"records": wrong})
        assert refused.status_code == 422, wrong
        assert 'href="#field-records"' in refused.text


def test_only_models_score(own: Served) -> None:
    browser = Browser(own, "analyst")
    counted = ended(browser, press(browser, preview(browser, where="age < 47"), "ask"))
    assert browser.get(f"{counted.url.path}/score").status_code == 404

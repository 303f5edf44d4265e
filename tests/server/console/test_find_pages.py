# SPDX-License-Identifier: Apache-2.0
"""`find` without JavaScript: records, the plan, one button, how far it is, and the report."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import sqlalchemy as sa

from anonymaly.server.settings import RequestLimits
from anonymaly.server.state import finds, jobs
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import Served, serve

PAGE = "/tables/patients/find"
RECORDS = "case,age,ward\nc-1,30,A\nc-2,118,B\nc-3,41,A\n"
NOBODYS = "case-of-nobody-else"


def planned(browser: Browser, records: str, epsilon: str = "1.5", **more: Any) -> httpx.Response:
    """Paste records and press the button for the plan."""
    form = browser.read(PAGE).form(PAGE)
    return browser.client.post(
        PAGE, data={**form, "records": records, "epsilon": epsilon, **more, "do": "plan"}
    )


def begin(browser: Browser, shown: httpx.Response, **more: Any) -> httpx.Response:
    """Press the button of a plan."""
    assert shown.status_code == 200, shown.text
    return browser.client.post(PAGE, data={**Reader(shown.text).form(PAGE), **more, "do": "begin"})


def report(browser: Browser, sent: httpx.Response) -> httpx.Response:
    """Look at a find as a browser does that only follows, until it has ended."""
    found = browser.follow(sent)
    until = time.monotonic() + 300
    while 'http-equiv="refresh"' in found.text and time.monotonic() < until:
        found = browser.get(found.url.path)
    return found


def paid(browser: Browser, found: httpx.Response) -> Decimal:
    """Return what a report says that it cost: the shares of the answers that it asked for, and no more."""
    told = browser.get(f"{found.url.path}.json").json()
    assert told["state"] == "done"
    new = [item for item in told["report"]["questions"] if re.fullmatch(r"answer \d+", item["answer"])]
    assert Decimal(told["report"]["charged"]) == sum(Decimal(item["share"]) for item in new)
    return Decimal(told["report"]["charged"])


def spent(browser: Browser) -> Decimal:
    return Decimal(browser.get("/tables/patients.json").json()["table"]["own"]["spent"])


def questions(served: Served) -> int:
    with served.state.read() as connection:
        of = sa.select(sa.func.count()).select_from(jobs).where(jobs.c.kind == "ask")
        return int(connection.execute(of).scalar_one())


@pytest.mark.slow
def test_a_find_is_planned_paid_once_and_ends_in_one_report(changing: Served) -> None:
    browser = Browser(changing, "analyst")
    before = spent(browser)
    shown = planned(browser, RECORDS, explain="1")
    check_plain(shown.text)
    for words in ("At most ε = 1.5", "explanation 1", "the 3 oddest of 3 records", "every record"):
        assert words in shown.text, words
    assert spent(browser) == before
    # Twice at once, and once more when all is over.
    sent = [begin(browser, shown) for _ in range(2)]
    found = report(browser, sent[0])
    assert found.status_code == 200
    check_plain(found.text)
    assert {item.headers["Location"] for item in [*sent, begin(browser, shown)]} == {found.url.path}
    for words in ("Each record", "c-2", "What it cost", "together", "What is promised"):
        assert words in found.text, words
    if "Stands out in age" in found.text:  # or the noise named no group
        assert "this one has 118" in found.text
    charged = paid(browser, found)
    assert charged >= Decimal(1)  # the model; which records are explained depends on its noise
    assert spent(browser) - before == charged
    # The file is the one that the command line writes.
    file = browser.get(f"{found.url.path}/report")
    assert file.headers["Content-Disposition"] == 'attachment; filename="patients-find.html"'
    assert file.text.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in file.text
    assert "c-2" in file.text

    # The next records cost explanations alone: the model is there.
    again = planned(browser, "age,ward\n119,A\n", explain="1")
    assert "is stored" in again.text
    asked = questions(changing)
    second = paid(browser, report(browser, begin(browser, again)))
    assert f"At most ε = {second}" in again.text
    assert (second, questions(changing)) in ((Decimal("0.5"), asked + 1), (Decimal(0), asked))
    # And the same ones nothing but what they cost already.
    third = report(browser, begin(browser, planned(browser, "age,ward\n119,A\n", explain="1")))
    assert paid(browser, third) == 0


@pytest.mark.slow
def test_one_question_is_asked_after_the_other_and_the_page_says_how_far_it_is(changing: Served) -> None:
    browser = Browser(changing, "analyst")
    before = questions(changing)
    with changing.hand.hold:
        sent = begin(browser, planned(browser, "age,ward\n3,A\n4,B\n", "0.3", explain="2", columns=["age"]))
        waiting = browser.follow(sent)
        check_plain(waiting.text)
        assert ("meta", {"http-equiv": "refresh", "content": "2"}) in Reader(waiting.text).elements
        assert "0 of at most 3 questions are answered" in waiting.text
        assert questions(changing) == before + 1
        # There is no report yet: back to how far it is.
        early = browser.get(f"{waiting.url.path}/report")
        assert early.headers["Location"] == waiting.url.path
        assert browser.get(f"{waiting.url.path}.json").json()["report"] is None
        assert questions(changing) == before + 1
    found = report(browser, sent)
    assert "Each record" in found.text
    told = browser.get(f"{found.url.path}.json").json()["report"]["questions"]
    assert questions(changing) == before + sum(item["answer"] != "no answer" for item in told)


def test_records_are_written_down_sealed_and_go_when_they_are_to_be_forgotten(changing: Served) -> None:
    browser = Browser(changing, "analyst")
    records = f"case,age,ward\n{NOBODYS},77,A\n"
    shown = planned(browser, records, "0.2", explain="0")
    sent = begin(browser, shown)
    place = sent.headers["Location"]
    assert NOBODYS in report(browser, sent).text

    def kept() -> str:
        with changing.state.read() as connection:
            of = [sa.select(finds.c.sealed).where(finds.c.id == place.rpartition("/")[2]), sa.select(jobs)]
            return str([connection.execute(item).all() for item in of])

    assert len(kept()) > len(records)
    assert NOBODYS not in kept()
    assert NOBODYS not in changing.log
    # Another session of the same person does not open it, and neither does anybody else.
    for who in ("analyst", "other analyst", "owner"):
        other = Browser(changing, who)
        assert other.get(place).status_code == 404
        assert other.send(f"{place}/forget").status_code == 404
    with changing.state.read() as connection:
        of = sa.select(finds.c.sealed).where(finds.c.id == place.rpartition("/")[2])
        sealed = connection.execute(of).scalar_one().encode()[:400]
    assert any(sealed in path.read_bytes() for path in changing.folder.glob("server.db*"))
    with changing.hand.hold, changing.hand.silence:
        assert browser.send(f"{place}/forget").headers["Location"] == "/tables/patients"
    assert not any(sealed in path.read_bytes() for path in changing.folder.glob("server.db*"))
    assert browser.get(place).status_code == 404
    assert place not in browser.get(PAGE).text
    # What is left of it goes with the session; until then the form leads back to it, and nobody else's does.
    again = begin(browser, planned(browser, records, "0.2", explain="0")).headers["Location"]
    assert f'href="{again}"' in browser.get(PAGE).text
    assert again not in Browser(changing, "analyst").get(PAGE).text
    browser.send("/logout")
    with changing.state.read() as connection:
        gone = sa.select(finds.c.id).where(finds.c.id == again.rpartition("/")[2])
        assert connection.execute(gone).first() is None


def test_what_was_changed_after_its_plan_is_not_begun(changing: Served) -> None:
    browser = Browser(changing, "analyst")
    shown, before = planned(browser, RECORDS, "0.4"), questions(changing)
    for change in ({"epsilon": "3"}, {"explain": "5"}, {"records": "age,ward\n1,A\n"}, {"planned": ""}):
        found = begin(browser, shown, **change)
        assert found.status_code == 422, found.text
        assert "another plan than the one that you saw" in found.text
    assert questions(changing) == before


@pytest.mark.parametrize(
    ("fields", "status", "field"),
    [
        ({"records": ""}, 422, "records"),
        ({"records": "age\n30\n"}, 422, "records"),
        ({"records": "age,ward\n"}, 422, "records"),
        ({"epsilon": "much"}, 422, "epsilon"),
        ({"epsilon": "0.000000001"}, 422, "epsilon"),
        ({"top": "0"}, 422, "top"),
        ({"explain": "21"}, 422, "explain"),
        ({"columns": ["hight"]}, 422, "columns"),
        ({"missing": "never"}, 422, "missing"),
    ],
)
def test_what_is_wrong_with_a_find_is_said_at_its_field(
    served: Served, fields: dict[str, Any], status: int, field: str
) -> None:
    given: dict[str, Any] = {"records": RECORDS, **fields}
    found = planned(Browser(served, "analyst"), **given)
    assert found.status_code == status, found.text
    check_plain(found.text)
    assert ("a", {"href": f"#field-{field}"}) in Reader(found.text).elements


def test_a_find_beyond_what_is_left_is_refused_as_a_whole(changing: Served) -> None:
    browser = Browser(changing, "analyst")
    before = questions(changing)
    shown = planned(browser, RECORDS, "50")
    assert "more than is left" in shown.text
    assert begin(browser, shown).status_code == 402
    assert questions(changing) == before


@pytest.mark.slow
def test_whoever_looks_often_keeps_a_web_process_at_one_look_and_is_led_on(tmp_path: Path) -> None:
    limits = RequestLimits(rate=1000, burst=1000, at_once=1)
    with serve(tmp_path, limits=limits) as served:
        browser = Browser(served, "analyst")
        many = "age,ward\n" + "30,A\n" * 20_000
        found = report(browser, begin(browser, planned(browser, many, explain="1")))
        place = f"{found.url.path}.json"
        assert browser.get(place).json()["state"] == "done"

        def look(_: int) -> dict[str, Any]:
            with httpx.Client(base_url=served.base, cookies=browser.client.cookies, timeout=300) as client:
                seen = client.get(place)
            assert seen.status_code == 200, seen.text
            told: dict[str, Any] = seen.json()
            return told

        with ThreadPoolExecutor(8) as pool:
            looks = list(pool.map(look, range(16)))
        assert {item["state"] for item in looks} == {"done", "running"}
        waits = [item["problem"]["problem"] for item in looks if item["state"] == "running"]
        assert all("are being worked out" in words for words in waits)


def test_columns_without_end_are_refused_before_they_are_read(served: Served) -> None:
    wide = f"age,ward{',c' * 100_000}\n30,A{',1' * 100_000}\n"
    found = planned(Browser(served, "analyst"), wide)
    assert found.status_code == 422
    assert "100,002 columns" in found.text


def test_what_is_too_large_to_be_kept_is_refused_at_its_field(changing: Served) -> None:
    browser, before = Browser(changing, "analyst"), questions(changing)
    shown = planned(browser, RECORDS, explain="0")
    form = {name: values[0] for name, values in Reader(shown.text).form(PAGE).items() if values}
    del form["records"]  # it comes last
    records = b"age,ward,note\n" + (b"30,A," + b"\x01" * 250 + b"\n") * 15_000

    def send(fields: dict[str, str]) -> httpx.Response:
        # As no browser writes it: not one of these is escaped.
        body = urlencode({**fields, "records": ""}).encode() + records
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return browser.client.post(PAGE, content=body, headers=kind)

    plan = Reader(send({**form, "do": "plan"}).text).form(PAGE)["planned"][0]
    found = send({**form, "planned": plan, "do": "begin"})
    assert found.status_code == 413
    assert "too large to be kept" in found.text
    assert questions(changing) == before

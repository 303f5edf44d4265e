# SPDX-License-Identifier: Apache-2.0
"""What an auditor reads in the console: entries, their check, the statement, what is still promised."""

from __future__ import annotations

from decimal import Decimal

import pytest

from anonymaly.ask.forgotten import write_erasure
from anonymaly.errors import Refused
from anonymaly.ledger import Ledger
from tests.server.console.test_console_gate import check_plain
from tests.server.console.visiting import Browser, Reader
from tests.server.web.served import NANO, Served

READ = ("rules", "budget", "asked", "grants", "ledger", "ledger/verification", "full-statement")


@pytest.fixture
def auditor(changing: Served) -> Browser:
    return Browser(changing, "auditor")


def test_an_auditor_reads_all_of_it_and_is_offered_nothing_to_change(served: Served) -> None:
    auditor = Browser(served, "auditor")
    for name in READ:
        page = auditor.read(f"/tables/patients/{name}")
        assert [given.get("action") for given, _ in page.forms] == ["/logout"], name
        places = {given.get("href") or "" for tag, given in page.elements if tag == "a"}
        assert not [place for place in places if place.endswith(("/grant", "/raise", "/revoke", "/keys"))], (
            name
        )
        check_plain(auditor.get(f"/tables/patients/{name}").text)


def test_entries_come_in_pages_the_newest_first(changing: Served, auditor: Browser) -> None:
    with Ledger.open(changing.folder / "others.ledger") as ledger:
        for _ in range(26):
            ledger.pause("others", by="olga", reason="a test")
            ledger.resume("others", by="olga", reason="a test")
        count = len(ledger.entries("others"))
    first = auditor.get("/tables/others/ledger.json").json()
    assert (len(first["entries"]), first["page"], first["pages"]) == (50, 1, -(-count // 50))
    numbers = [entry["number"] for entry in first["entries"]]
    for page in range(2, first["pages"] + 1):
        part = auditor.get(f"/tables/others/ledger.json?page={page}").json()
        numbers += [entry["number"] for entry in part["entries"]]
    assert numbers == sorted(set(numbers), reverse=True)
    assert len(numbers) == count
    shown = auditor.get("/tables/others/ledger")
    assert 'href="/tables/others/ledger?page=2"' in shown.text
    assert "the account is opened with ε = 100" in auditor.get("/tables/others/ledger?page=99").text
    for wrong in ("0", "-1", "x", "9" * 30):
        assert auditor.get(f"/tables/others/ledger?page={wrong}").status_code == 200


def test_an_erasure_names_the_entries_whose_answers_are_gone(changing: Served, auditor: Browser) -> None:
    with Ledger.open(changing.folder / "others.ledger") as ledger:
        write_erasure(ledger, "others", [7], by="olga", reason="a test")
        write_erasure(ledger, "others", [8, 9], by="olga", reason="a test")
        ledger.consent("others", {"number": 7}, by="olga", reason="a test")
    said = [entry["says"] for entry in auditor.get("/tables/others/ledger.json").json()["entries"][:3]]
    assert said == [
        "the owner confirmed what the entry names",
        "the answers of entries 8, 9 are erased; what was charged stands",
        "the answer of entry 7 is erased; what was charged stands",
    ]


def test_the_whole_ledger_is_verified(changing: Served, auditor: Browser) -> None:
    shown = auditor.get("/tables/patients/ledger/verification")
    assert "The ledger verifies" in shown.text
    with Ledger.open(changing.folder / "patients.ledger") as ledger:
        head = ledger.head()
    found = auditor.get("/tables/patients/ledger/verification.json").json()["found"]
    assert (found["ok"], found["head"]["hash"]) == (True, head.hash)
    assert head.hash in shown.text


def test_the_statement_says_what_the_ledger_says(changing: Served, auditor: Browser) -> None:
    with changing.client("auditor") as client:
        statement = client.get("/v1/tables/patients/statement").json()
    text = " ".join(Reader(auditor.get("/tables/patients/full-statement").text).text.split())
    for line in statement["meaning"]:
        assert " ".join(line.split()) in text
    assert f"cost ε = {statement['spent']} of a budget of {statement['budget']}" in text
    assert auditor.get("/tables/patients/full-statement.json").json()["statement"] == statement


def test_what_is_still_promised_is_what_the_ledger_keeps(changing: Served, auditor: Browser) -> None:
    with Ledger.open(changing.folder / "others.ledger") as ledger:
        for name, more in (("kim", {}), ("leo", {"overcommit": True})):
            terms = {"terms": 1, "total": 3 * NANO, **more}
            ledger.grant("others", name, limit=None, by="olga", reason="x", terms=terms)
    promised = auditor.get("/tables/others/grants.json").json()["promised"]
    assert promised["held"] == [{"analyst": "kim", "kept": "3"}]
    assert "leo" in promised["not_held"]
    amounts = [Decimal(promised[name]) for name in ("spent", "kept", "free")]
    assert sum(amounts) == Decimal(promised["limit"])
    too_much = {"terms": 1, "total": int(Decimal(promised["free"]) * NANO) + 1}
    with Ledger.open(changing.folder / "others.ledger") as ledger:
        with pytest.raises(Refused, match="more than"):
            ledger.grant("others", "max", limit=None, by="olga", reason="x", terms=too_much)
        all_of_it = {"terms": 1, "total": too_much["total"] - 1}
        ledger.grant("others", "max", limit=None, by="olga", reason="x", terms=all_of_it)

# SPDX-License-Identifier: Apache-2.0
"""A web process that was broken into adds jobs nobody wanted: all are refused, and nothing is charged."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly.core.value import canonical_json
from anonymaly.server import jobs
from anonymaly.server.carrying_out import FORGED
from anonymaly.server.keys import sign
from anonymaly.server.released import under_way
from anonymaly.server.state import jobs as rows
from tests.server.places import NANO, Place

QUESTION = {"query": {"question": "count", "epsilon": "0.1"}, "repeat": 0}
DEARER = json.dumps({"query": {"question": "count", "epsilon": "0.9"}, "repeat": 0})
MORE = json.dumps({"analyst": "ann", "limit": 9 * NANO, "terms": {}, "reason": "mine"})
FORGERIES: dict[str, Callable[[Place], dict[str, Any]]] = {
    "in another's name": lambda place: {"person": "bob"},
    "in another's name, with their key's id": lambda place: {
        "person": "bob",
        "key_id": place.keys["bob"].id,
    },
    "with an owner's key's id": lambda place: {"key_id": place.keys["olga"].id},
    "with a key that nobody has": lambda place: {"key_id": "0" * 16},
    "another question": lambda place: {"payload": DEARER},
    "another table": lambda place: {"table_name": "others"},
    "another kind": lambda place: {"kind": "rehearse"},
    "an owner's kind": lambda place: {"kind": "grant", "payload": MORE},
    "another idempotency key": lambda place: {"idempotency": "another"},
    "the proof of another job": lambda place: {"id": uuid.uuid4().hex},
    "no proof": lambda place: {"proof": ""},
    "letters for a proof": lambda place: {"proof": "ß" * 64},
    "said to have been tried before": lambda place: {"payload": DEARER, "attempts": 7},
}


def insert(place: Place, row: dict[str, Any]) -> str:
    with place.state.write() as connection:
        connection.execute(rows.insert().values({**row, "created_at": place.state.now}))
    return str(row["id"])


def genuine(place: Place, person: str = "ann", kind: jobs.Kind = "ask", **payload: Any) -> dict[str, Any]:
    """A job as an honest web process would add it, not added."""
    number, text = uuid.uuid4().hex, json.dumps(payload or QUESTION)
    key = place.keys[person]
    signed = jobs.signed(number, kind, "patients", person, None, text)
    return {
        "id": number,
        "kind": kind,
        "table_name": "patients",
        "person": person,
        "key_id": key.id,
        "idempotency": None,
        "request": None,
        "payload": text,
        "proof": sign(key.signing, signed),
        "asks": "",
        "state": "waiting",
        "attempts": 0,
        **({"slot": 0.1} if "slot" in rows.c else {}),
    }


def test_no_forged_job_is_carried_out_or_changes_the_ledger(place: Place) -> None:
    place.add_key("bob", "analyst")
    with place.worker() as worker:
        for person in ("ann", "bob"):
            place.grant(person)
        while worker.work():
            pass
        worker._tables["others"] = worker._tables["patients"]
        ledger = worker._tables["patients"].curator.accountant.ledger
        before = ledger.head()
        forged = {what: insert(place, {**genuine(place), **how(place)}) for what, how in FORGERIES.items()}
        while worker.work():
            pass
        assert ledger.head() == before
        ended = {what: place.job(number) for what, number in forged.items()}
        assert {what: job.state for what, job in ended.items()} == dict.fromkeys(FORGERIES, "refused")
        assert {job.result for job in ended.values()} == {canonical_json(FORGED.result)}
        # And the one that they were all made from is genuine.
        honest = insert(place, genuine(place))
        worker.work()
        assert place.job(honest).state == "done"


def test_no_answer_is_put_outside_the_outbox_or_in_place_of_anothers(
    here: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with here.worker() as worker:
        here.grant("ann")
        asked = here.ask("ann", "0.2")
        while worker.work():
            pass
        kept = here.answer(asked)
        names = ["../outside", f"./{asked.id}", str(here.folder / "x")[-63:], "one\nERROR another line", ""]
        for name in names:
            row = genuine(here)
            signed = jobs.signed(name, "ask", "patients", "ann", None, row["payload"])
            insert(here, {**row, "id": name, "proof": sign(here.keys["ann"].signing, signed)})
        while worker.work():
            pass
    assert [here.job(name).state for name in names] == ["refused"] * len(names)
    assert here.answer(asked) == kept
    assert [path.name for path in (here.folder / "outbox").iterdir()] == [f"{asked.id}.answer"]
    assert not (here.folder / "outside.answer").exists()
    assert "another line" not in caplog.text


def test_an_analysts_key_signs_no_owners_job(place: Place) -> None:
    kinds: tuple[jobs.Kind, ...] = (
        "grant", "revoke", "raise", "pause", "resume", "key", "revoke-key",
    )  # fmt: skip
    payload: dict[str, Any] = {
        "analyst": "ann",
        "limit": NANO,
        "to": 99 * NANO,
        "reason": "mine",
        "person": "ann",
    }
    with place.worker() as worker:
        forged = [insert(place, genuine(place, kind=kind, role="owner", **payload)) for kind in kinds]
        while worker.work():
            pass
    assert [place.job(number).state for number in forged] == ["refused"] * len(kinds)
    with place.ledger() as ledger:
        assert ledger.accounts() == []


def test_a_kind_of_job_that_there_is_not_is_refused_to_an_owner_too(here: Place) -> None:
    with here.worker() as worker:
        odd = insert(here, genuine(here, "olga", "amend"))  # type: ignore[arg-type]
        worker.work()
    assert here.job(odd).state == "refused"


def test_a_job_cannot_be_added_again_under_its_id(place: Place) -> None:
    row = genuine(place, "olga", "grant", analyst="ann", limit=NANO, terms={}, reason="a study")
    with place.worker() as worker:
        insert(place, row)
        worker.work()
        place.submit("revoke", "olga", {"analyst": "ann", "reason": "over"})
        worker.work()
        with pytest.raises(sa.exc.IntegrityError):
            insert(place, row)
        assert not worker.work()
    with place.ledger() as ledger:
        assert [item.standing for item in ledger.grants("patients")] == [False]


def test_no_job_that_a_worker_would_choke_on_can_be_added(place: Place) -> None:
    huge = "x" * (17 * 2**20)
    for field in ("payload", "person", "asks", "key_id", "proof"):
        with pytest.raises((sa.exc.IntegrityError, sa.exc.DataError)):
            insert(place, {**genuine(place), field: huge})


@pytest.mark.parametrize("field", ["slot", "created_at"])
@pytest.mark.parametrize("odd", [-1e300, float("inf"), float("nan"), -1.0])
def test_no_job_is_added_whose_release_no_web_process_could_work_out(
    place: Place, field: str, odd: float
) -> None:
    # All of them count the jobs under way before they take another.
    row = {**genuine(place), "created_at": 0.0, field: odd}
    with pytest.raises((sa.exc.IntegrityError, sa.exc.DataError)), place.state.write() as connection:
        connection.execute(rows.insert().values(row))
    assert under_way(place.state) == 0


@pytest.mark.parametrize("slot", [0.0, 1e-300])
def test_no_slot_is_shorter_than_the_shortest(here: Place, slot: float) -> None:
    with pytest.raises(sa.exc.IntegrityError):
        insert(here, {**genuine(here), "slot": slot})


def test_json_that_is_nested_too_deeply_is_refused_and_the_worker_goes_on(here: Place) -> None:
    deep = '{"query":' + "[" * 100_000 + "]" * 100_000 + "}"
    key = here.keys["olga"]
    row = genuine(here, "olga")
    signed = jobs.signed(row["id"], "ask", "patients", "olga", None, deep)
    with here.worker() as worker:
        odd = insert(here, {**row, "payload": deep, "proof": sign(key.signing, signed)})
        worker.work()
        after = here.ask("olga")
        worker.work()
    assert here.job(odd).state in ("refused", "failed")
    assert here.job(after.id).state == "done"

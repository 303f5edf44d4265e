# SPDX-License-Identifier: Apache-2.0
"""What an owner has a server forget: bytes of answers, old jobs and a person's name; the charge stays."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from anonymaly import Curator, connect
from anonymaly.ask.store import Store, folder_of
from anonymaly.ask.verify import verify
from anonymaly.cli.forget import forget as forget_command
from anonymaly.errors import AnswerForgotten, InputError
from anonymaly.ledger.following import follow
from anonymaly.questions.count.query import Count
from anonymaly.server.backup import back_up
from anonymaly.server.state import jobs, keys, proposals
from tests.server.web.served import COUNT, Served, serve, write_table

REASON = "the study ended"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as served:
        yield served


def forget(served: Served, *options: str, done: bool = True) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-m", "anonymaly", "forget", str(served.folder)]
    more = ["--reason", REASON, "--json", *options, *(["--yes"] if done else [])]
    ended = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def answered(served: Served, who: str = "analyst", key: str = "an-answer", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = served.ask(who, key, {**COUNT, **more}).json()["answer"]
    return found


def number_of(served: Served) -> int:
    with follow(served.folder / "patients.ledger") as ledger:
        return max(charge.seq for charge in ledger.reservations("patients"))


def test_an_erased_answer_is_gone_from_store_outbox_and_jobs_and_asking_again_says_why(
    own: Served, tmp_path: Path
) -> None:
    answer = answered(own)
    job, number = answer["job"], number_of(own)
    store = Path(f"{own.folder}/patients.ledger.answers")
    before = len(list(store.rglob("*-*")))
    assert forget(own, "--answer", str(number), "--table", "patients", done=False)["answers"]["patients"] == [
        number
    ]
    assert (own.folder / "outbox" / f"{job}.answer").exists()
    assert forget(own, "--answer", str(number), "--table", "patients")["done"]
    assert not (own.folder / "outbox" / f"{job}.answer").exists()
    assert len(list(store.rglob("*-*"))) == before - 1
    with own.state.read() as connection:
        kept = connection.execute(sa.select(jobs.c.result).where(jobs.c.id == job)).scalar_one()
    assert "value" not in json.loads(kept)["answer"]
    with own.client("analyst") as client:
        for path in (f"/v1/answers/{job}", f"/v1/answers/{job}/content"):
            gone = client.get(path)
            assert gone.status_code == 410, gone.text
            assert REASON in gone.json()["problem"]
            assert "charge stands" in gone.json()["problem"]
        receipt = client.get(f"/v1/answers/{job}/receipt").json()["receipt"]
        assert receipt == answer["receipt"]
        assert client.post("/v1/verify", json={"receipt": receipt}).json() == {"ok": True}
        (line,) = client.get("/v1/tables/patients/answers").json()["items"]
        assert (line["job"], line["erased"]) == (job, True)
    same, another = own.ask("analyst", "an-answer"), own.ask("analyst", "another-key")
    for found in (same.json(), another.json()):
        assert (found["state"], found["problem"]["status"]) == ("refused", 410)
        assert REASON in found["problem"]["problem"]
    with connect(f"{own.base}/patients", key=own.keys["analyst"].text) as curator:
        assert curator.answers() == []
        with pytest.raises(AnswerForgotten):
            curator.ask(Count(where=COUNT["where"], epsilon=COUNT["epsilon"]))
    with follow(own.folder / "patients.ledger") as ledger:
        folder = folder_of(store, ledger.head().ledger)
        found_ok = verify(ledger, "patients", Store(folder, create=False))
        assert found_ok.ok, found_ok.problems
        assert len(ledger.charges("patients", "ann")) == 1
        (folder / f"{ledger.reservations('patients')[-1].key}-{receipt['digest']}").write_bytes(b"back again")
        problems = verify(ledger, "patients", Store(folder, create=False)).problems
        assert "was erased, and its bytes are there" in problems[0]
    # Whoever was interrupted after the entry removes the rest by the same command.
    assert forget(own, "--older-than", "1")["done"]
    index = back_up(own.folder, tmp_path / "copy")
    assert index["tables"]["patients"]["missing"] == []
    repeated = {"query": COUNT, "repeat": 1}
    headers = {"Idempotency-Key": "asked-anew", "Prefer": "wait=60"}
    with own.client("analyst") as client:
        anew = client.post("/v1/tables/patients/ask", json=repeated, headers=headers).json()
    assert anew["state"] == "done"


def test_the_command_says_what_would_be_erased_and_then_what_was(own: Served) -> None:
    answered(own)
    number = number_of(own)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "anonymaly",
        "forget",
        str(own.folder),
        "--reason",
        REASON,
    ]
    command += ["--table", "patients", "--answer"]

    def said(*more: str) -> str:
        ended = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        return f"{ended.stdout}{ended.stderr}"

    assert f"patients: 1 answer to erase: {number}\nNothing was erased" in said(str(number))
    assert said(str(number), "--yes") == f"patients: 1 answer erased: {number}\n"
    told = said(str(number), "--yes")  # a second time
    assert f"there is no answer {number} that is kept" in told
    assert "Give the number of its entry" in told


def test_who_asked_the_same_loses_it_too_and_an_answer_of_equal_bytes_stays(own: Served) -> None:
    first = answered(own)
    number = number_of(own)
    with own.client("owner") as owner:
        owner.put("/v1/tables/patients/grants/ben", json={"total": "1", "reason": "a study"})
    same = answered(own, "other analyst", "the-same")
    other = answered(own, "analyst", "another-question", where="age < 41")
    with own.state.write() as connection:  # as if both answers were the same number
        text = connection.execute(sa.select(jobs.c.result).where(jobs.c.id == other["job"])).scalar_one()
        equal = text.replace(other["receipt"]["digest"], first["receipt"]["digest"])
        connection.execute(jobs.update().where(jobs.c.id == other["job"]).values(result=equal))
    forget(own, "--answer", str(number), "--table", "patients")
    with own.client("analyst") as ann, own.client("other analyst") as ben:
        assert ann.get(f"/v1/answers/{first['job']}").status_code == 410
        assert ben.get(f"/v1/answers/{same['job']}").status_code == 410
        assert ann.get(f"/v1/answers/{other['job']}").status_code == 200
        assert ann.get(f"/v1/answers/{other['job']}/content").status_code == 200


def test_another_analyst_is_told_before_they_are_charged(own: Served) -> None:
    answered(own)
    forget(own, "--answer", str(number_of(own)), "--table", "patients")
    with own.client("owner") as owner:
        owner.put("/v1/tables/patients/grants/ben", json={"total": "1", "reason": "a study"})
    found = own.ask("other analyst", "of-another").json()
    assert found["problem"]["status"] == 410
    with follow(own.folder / "patients.ledger") as ledger:
        assert ledger.charges("patients", "ben") == []


def test_what_is_old_goes_with_what_jobs_kept_and_what_is_new_stays(own: Served) -> None:
    job = answered(own)["job"]
    with own.client("analyst") as client:
        rehearsed = client.post("/v1/tables/patients/rehearse", json={"query": COUNT, "rows": 5})
        assert rehearsed.status_code in (200, 202)
    assert forget(own, "--older-than", "1")["answers"] == {"others": [], "patients": []}
    with own.client("analyst") as client:
        assert client.get(f"/v1/answers/{job}").status_code == 200
    with own.state.write() as connection:
        connection.execute(
            jobs.update().where(jobs.c.kind == "rehearse").values(created_at=0.0, ended_at=1.0)
        )
    erased = forget(own, "--older-than", "0")["answers"]
    assert len(erased["patients"]) == 2
    with own.client("analyst") as client:
        assert client.get(f"/v1/answers/{job}").status_code == 410
    with own.state.read() as connection:
        assert connection.execute(sa.select(jobs.c.kind)).scalars().all() == ["ask"]


def test_a_name_goes_from_keys_and_jobs_and_it_is_said_that_the_ledger_keeps_it(own: Served) -> None:
    answered(own)
    said = forget(own, "--person", "ann")
    assert (said["error"], said["field"]) == ("Refused", "person")
    with own.client("owner") as owner:
        owner.delete("/v1/tables/patients/grants/ann", params={"reason": "over"})
    said = forget(own, "--person", "ann", done=False)
    assert own.client("analyst").get("/v1/me").status_code == 200
    said = forget(own, "--person", "ann")
    assert said["keys"] == 3
    assert said["entries"]["patients"] >= 3
    assert said["entries"]["others"] == 0
    assert own.client("analyst").get("/v1/me").status_code == 401
    with own.state.read() as connection:
        people = set(connection.execute(sa.select(keys.c.person)).scalars())
        people |= set(connection.execute(sa.select(jobs.c.person)).scalars())
        results = " ".join(filter(None, connection.execute(sa.select(jobs.c.result)).scalars()))
    assert "ann" not in people
    assert said["instead"] in people
    assert '"ann"' not in results
    with follow(own.folder / "patients.ledger") as ledger:
        assert ledger.verify().ok


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({}, "older-than, answer, person"),
        ({"answer": 1}, "table"),
        ({"older_than": 1, "person": "ann"}, "older-than, answer, person"),
        ({"answer": 99, "table": "patients"}, "answer"),
        ({"older_than": 1, "table": "nowhere"}, "table"),
        ({"person": "ann"}, "folder"),  # no server was ever started here
    ],
)
def test_what_is_to_be_forgotten_is_said_once_and_is_there(
    tmp_path: Path, options: dict[str, Any], field: str
) -> None:
    write_table(tmp_path, "patients")
    with closing(Curator.open(tmp_path / "patients.yaml")) as curator:
        curator.accountant.open()
    with pytest.raises(InputError) as caught:
        forget_command(tmp_path, REASON, **options, yes=True)
    assert caught.value.field == field


def test_proposals_about_somebody_go_with_the_name(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served", confirm=True) as served:
        with served.client("owner") as client:
            for analyst in ("carl", "dora"):
                body = {"total": "1", "reason": "a study"}
                client.put(f"/v1/tables/patients/grants/{analyst}", json=body).raise_for_status()
        forget(served, "--person", "carl")
        with served.state.read() as connection:
            held = connection.execute(sa.select(proposals.c.payload)).scalars().all()
            told = connection.execute(sa.select(jobs.c.result).where(jobs.c.kind == "grant")).scalars().all()
        assert [json.loads(text)["analyst"] for text in held] == ["dora"]
        assert not any("carl" in (text or "") for text in told)

# SPDX-License-Identifier: Apache-2.0
"""What loosens is held back until it is confirmed on the host; nobody else can confirm or forge it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from anonymaly.cli.main import app
from anonymaly.errors import InputError, Refused
from anonymaly.server.confirming import Host
from anonymaly.server.jobs import Job
from anonymaly.server.keys import ApiKey
from anonymaly.server.people import revoke_key
from anonymaly.server.proposals import MOST_OPEN, list_proposals
from anonymaly.server.settings import ServerSettings
from anonymaly.server.state import jobs, proposals
from tests.server.places import NANO, Place
from tests.server.test_broken_web import refuse, remove_role, role_of


def work(place: Place, *added: Job) -> list[dict[str, Any]]:
    """Have a worker of a server that is reached from elsewhere do what was added."""
    with place.worker(confirm=True) as worker:
        for _ in added:
            assert worker.work()
    assert all(place.job(job.id).state == "done" for job in added)
    return [place.result(job) for job in added]


def confirm(place: Place, number: int) -> list[str]:
    shown: list[str] = []
    with Host.open(place.folder, place.state_at) as host:
        host.confirm(number, shown.append)
    return shown


def states(place: Place) -> dict[int, str]:
    return {item["number"]: item["state"] for item in list_proposals(place.state)}


def limit(place: Place) -> int | None:
    with place.ledger() as ledger:
        return ledger.account("patients").limit if "patients" in ledger.accounts() else None


def raise_to(place: Place, to: int) -> Job:
    return place.submit("raise", "olga", {"to": to * NANO, "reason": "more"})


def test_what_loosens_waits_for_the_host_and_what_tightens_does_not(place: Place) -> None:
    with place.worker() as worker:
        place.grant("ann")
        worker.work()
    key = {"person": "max", "role": "owner", "label": "", "expires_in_days": 1}
    pause = place.submit("pause", "olga", {"reason": "x"})
    revoke = place.submit("revoke", "olga", {"analyst": "ann", "reason": "x"})
    done = work(place, pause, revoke)
    assert all("proposal" not in result for result in done)
    assert done[0]["account"]["paused"]

    held = [
        place.grant("ben", terms=1, total=NANO),
        raise_to(place, 50),
        place.submit("resume", "olga", {"reason": "back"}),
        place.submit("key", "olga", key, table=None),
        # Whoever has it spends what ann was granted, or will be.
        place.submit(
            "key", "olga", {"person": "ann", "role": "analyst", "expires_in_days": None}, table=None
        ),
    ]
    assert [result["proposal"]["number"] for result in work(place, *held)] == [1, 2, 3, 4, 5]
    assert [item["says"] for item in list_proposals(place.state)][::-1] == [
        "let ben ask patients: up to ε = 1 in all; no question that needs a rule",
        "raise the budget of patients to ε = 50",
        "resume patients",
        "make a key of max (owner) for 1 day",
        "make a key of ann (analyst) that stays until it is revoked",
    ]
    with place.ledger() as ledger:
        before = len(ledger.entries("patients"))
        assert ledger.account("patients").paused
        assert "ben" not in {grant.analyst for grant in ledger.grants("patients")}
    assert limit(place) == 10 * NANO

    assert [confirm(place, number) for number in (1, 2, 3)] == [[], [], []]
    for number in (4, 5):
        (text,) = confirm(place, number)
        assert ApiKey.read(text) is not None
    with place.ledger() as ledger:
        assert len(ledger.entries("patients")) == before + 3
        assert not ledger.account("patients").paused
        assert ledger.account("patients").limit == 50 * NANO
        (ben,) = (grant for grant in ledger.grants("patients") if grant.analyst == "ben")
        assert (ben.by, ben.standing) == ("olga", True)
    assert set(states(place).values()) == {"confirmed"}
    for number in (1, 4, 99):
        with pytest.raises(InputError, match="no proposal"):
            confirm(place, number)


def test_the_proposals_of_a_revoked_key_are_void(here: Place) -> None:
    here.add_key("otto", "owner")
    work(here, raise_to(here, 50))
    with here.state.write() as connection:
        revoke_key(here.state, connection, here.keys["olga"].id)
    with pytest.raises(Refused, match="revoked"):
        confirm(here, 1)
    assert states(here) == {1: "refused"}
    assert limit(here) in (None, 10 * NANO)


@pytest.mark.parametrize(
    "changes", [{"payload": json.dumps({"to": 90 * NANO, "reason": "more"})}, {"person": "ann"}]
)
def test_a_proposal_that_was_changed_is_refused(here: Place, changes: dict[str, str]) -> None:
    """Also by whoever could write where only workers and the host may."""
    work(here, raise_to(here, 50))
    with here.state.write() as connection:
        connection.execute(proposals.update().values(**changes))
    with pytest.raises(Refused, match="no proof"):
        confirm(here, 1)
    assert limit(here) in (None, 10 * NANO)


def test_a_forged_job_is_no_proposal(here: Place) -> None:
    job = raise_to(here, 50)
    with here.state.write() as connection:
        connection.execute(jobs.update().values(payload=json.dumps({"to": 90 * NANO, "reason": "more"})))
    with here.worker(confirm=True) as worker:
        worker.work()
    assert here.job(job.id).state == "refused"
    assert states(here) == {}


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("grant", {"analyst": "\x1b[2Jann", "terms": {"terms": 1, "total": 1}, "reason": "x"}),
        ("grant", {"analyst": "ann", "terms": {"terms": 1, "total": "1"}, "reason": "x"}),
        ("grant", {"analyst": "ann", "terms": [], "reason": "\x1b[2J"}),
        ("grant", {"analyst": "ann", "terms": 3, "reason": "x"}),
        ("raise", {"to": "50", "reason": "x"}),
        ("raise", {"to": 50}),
        ("resume", {"reason": ""}),
        ("key", {"person": "a\nb", "role": "owner"}),
        ("key", {"role": "owner"}),
    ],
)
def test_what_is_no_words_on_a_terminal_is_no_proposal(here: Place, kind: Any, payload: Any) -> None:
    job = here.submit(kind, "olga", payload, table=None if kind == "key" else "patients")
    with here.worker(confirm=True) as worker:
        assert worker.work()
    assert here.job(job.id).state in ("refused", "failed")
    assert states(here) == {}


def test_what_the_ledger_refuses_is_refused_at_the_host(here: Place) -> None:
    work(here, raise_to(here, 3))
    with pytest.raises(Refused, match="proposal 1 was refused"):
        confirm(here, 1)
    assert states(here) == {1: "refused"}


def test_a_proposal_is_declined(here: Place) -> None:
    work(here, raise_to(here, 50))
    with Host.open(here.folder) as host:
        host.decline(1)
    assert states(here) == {1: "declined"}
    with pytest.raises(InputError, match="no proposal"):
        confirm(here, 1)


def test_no_more_wait_than_can_be_looked_at(here: Place) -> None:
    with here.state.write() as connection:
        row = {"kind": "resume", "table_name": "patients", "person": "olga", "key_id": "x", "payload": "{}"}
        for number in range(MOST_OPEN):
            connection.execute(proposals.insert().values(**row, job=str(number), proof="", created_at=0.0))
    job = raise_to(here, 50)
    with here.worker(confirm=True) as worker:
        worker.work()
    assert "the most at a time" in here.result(job)["problem"]["problem"]


def test_a_web_process_that_was_broken_into_neither_writes_nor_confirms_one(
    postgres: str, tmp_path: Path
) -> None:
    place = Place.make(tmp_path / "served", postgres)
    work(place, raise_to(place, 50))
    as_web = role_of(postgres)
    with psycopg.connect(as_web, autocommit=True) as broken:
        refuse(
            broken,
            "UPDATE server_proposals SET state = 'confirmed'",
            "UPDATE server_proposals SET payload = '{}'",
            "DELETE FROM server_proposals",
            "INSERT INTO server_proposals (job, kind, person, key_id, payload, proof, created_at) "
            "VALUES ('x', 'raise', 'olga', 'x', '{}', '', 0)",
            "SELECT proof FROM server_proposals",
        )
        assert broken.execute("SELECT number, state FROM server_proposals").fetchall() == [(1, "open")]
    remove_role(postgres, as_web)
    place.state.close()


@pytest.mark.parametrize(
    ("settings", "alone", "expected"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"host": "192.0.2.1", "tls_cert": "a", "tls_key": "b"}, False, True),
        ({"behind_proxy": "127.0.0.1"}, False, True),
        ({"behind_proxy": "127.0.0.1", "confirm": False}, True, False),
        ({"confirm": True}, False, True),
    ],
)
def test_it_is_so_wherever_others_reach_the_server(
    tmp_path: Path, settings: dict[str, Any], alone: bool, expected: bool
) -> None:
    assert ServerSettings.read(settings).for_workers(tmp_path, alone=alone).confirm is expected


def test_the_command_lists_confirms_and_declines(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"person": "max", "role": "owner", "label": "", "expires_in_days": 1}
    work(here, raise_to(here, 50), raise_to(here, 60), here.submit("key", "olga", key, table=None))
    run, folder = CliRunner().invoke, str(here.folder)
    listed = run(app, ["owner", "confirm", folder])
    assert [line.partition("  ")[0] for line in listed.stdout.splitlines()] == ["1", "2", "3"]
    assert run(app, ["owner", "confirm", folder, "1"]).exit_code == 0
    assert limit(here) == 50 * NANO
    assert run(app, ["owner", "confirm", folder, "2", "--decline"]).exit_code == 0
    assert limit(here) == 50 * NANO
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert run(app, ["owner", "confirm", folder, "3"]).exit_code != 0
    output = here.folder / "max.key"
    assert run(app, ["owner", "confirm", folder, "3", "--output", str(output)]).exit_code == 0
    assert ApiKey.read(output.read_text().strip()) is not None
    assert output.stat().st_mode & 0o077 == 0
    assert states(here) == {1: "confirmed", 2: "declined", 3: "confirmed"}
    assert "Nothing waits" in run(app, ["owner", "confirm", folder]).stdout
    with here.state.read() as connection:
        assert set(connection.execute(sa.select(proposals.c.proof)).scalars()) == {""}

# SPDX-License-Identifier: Apache-2.0
"""Logins as a worker gets them: genuine ones end in a key, and whatever a web process makes up in none."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from anonymaly.server import jobs
from anonymaly.server.jobs import Job
from anonymaly.server.keys import ApiKey, sign
from anonymaly.server.logins.sealing import Opener
from anonymaly.server.logins.session_keys import KEPT_SECONDS, LABEL, SESSION_SECONDS
from anonymaly.server.once import forget_taken, take
from anonymaly.server.state import keys, logins, proofs
from tests.server.logins.providing import RunningProvider
from tests.server.places import Place
from tests.server.test_broken_web import remove_role, role_of

PEOPLE = {
    "ann": {"person": "ann", "role": "analyst"},
    "otto": {"person": "otto", "role": "owner"},
    "carl": {"person": "carl", "role": "auditor"},
}
NO_KEY = "0" * 16


@pytest.fixture
def desk(here: Place, provider: RunningProvider) -> Place:
    """A server whose worker lets people in whom the provider vouches for."""
    here.settings = {"login": settings(provider)}
    return here


@pytest.fixture
def desk_of_both(place: Place, provider: RunningProvider) -> Place:
    """The same in SQLite and in PostgreSQL."""
    place.settings = {"login": settings(provider)}
    return place


def settings(provider: RunningProvider, claim: str = "sub", **names: Any) -> dict[str, Any]:
    people = {"claim": claim, "names": names or PEOPLE}
    return {"issuer": provider.issuer, "client_id": "console", "people": people}


def submit(place: Place, token: Any, nonce: Any, opener: Any, **changes: Any) -> Job:
    """Add a login as a web process does."""
    fields = {"person": "", "key_id": "", "signing": b"", **changes}
    payload = {"token": token, "nonce": nonce, "opener": opener}
    return jobs.submit(place.state, "login", table=None, payload=payload, **fields)


def work(place: Place) -> None:
    with place.worker() as worker:
        while worker.work():
            pass


def count(place: Place) -> int:
    with place.state.read() as connection:
        made = connection.execute(sa.select(sa.func.count()).select_from(keys)).scalar_one()
        assert made == connection.execute(sa.select(sa.func.count()).select_from(proofs)).scalar_one()
    return int(made)


def enter(place: Place, provider: RunningProvider, person: str) -> ApiKey:
    """Log somebody in; they hold a key afterwards."""
    opener = Opener()
    job = submit(place, *provider.token(person), opener.public)
    work(place)
    result = place.result(job)
    key = ApiKey.read(str(opener.open(job.id, result["sealed"], result["public"])))
    assert key is not None, result
    place.keys[person] = key
    return key


def test_a_genuine_token_makes_a_key_of_the_person_and_role_that_the_owner_named(
    desk_of_both: Place, provider: RunningProvider
) -> None:
    desk = desk_of_both
    for person, role in (("ann", "analyst"), ("otto", "owner"), ("carl", "auditor")):
        key = enter(desk, provider, person)
        with desk.state.read() as connection:
            row = connection.execute(sa.select(keys).where(keys.c.id == key.id)).one()
        assert (row.person, row.role, row.label, row.hash) == (person, role, LABEL, key.hash)
        assert row.expires_at == pytest.approx(row.created_at + SESSION_SECONDS)


def test_such_a_key_asks_and_is_charged_as_any_other(desk: Place, provider: RunningProvider) -> None:
    enter(desk, provider, "ann")
    desk.grant("ann")
    asked = desk.ask("ann")
    work(desk)
    assert desk.job(asked.id).state == "done"
    with desk.ledger() as ledger:
        assert [item.analyst for item in ledger.reservations("patients")] == ["ann"]


def test_the_same_token_makes_no_second_key(desk_of_both: Place, provider: RunningProvider) -> None:
    desk = desk_of_both
    token, nonce = provider.token("ann")
    spelled = token[:-1] + ("A" if token[-1] != "A" else "B")
    opener, before = Opener(), count(desk)
    first = submit(desk, token, nonce, opener.public)
    again = [submit(desk, text, nonce, Opener().public) for text in (token, spelled, token)]
    work(desk)
    assert desk.job(first.id).state == "done"
    assert [desk.job(job.id).state for job in again] == ["refused"] * 3
    assert desk.result(again[0])["problem"]["problem"] == "this login was used before"
    assert count(desk) == before + 1


def test_a_login_that_a_web_process_made_up_is_refused_and_makes_no_key(
    desk: Place, provider: RunningProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "anonymaly")  # not of the test's own client
    token, nonce = provider.token("ann")
    foreign = provider.token("otto", client="another")
    opener, before = Opener().public, count(desk)
    owner = desk.keys["olga"]
    made_up = [
        submit(desk, None, nonce, opener),
        submit(desk, "", "", opener),
        submit(desk, {"sub": "otto"}, nonce, opener),
        submit(desk, "e30.e30.e30", nonce, opener),
        submit(desk, token, "0" * 64, opener),
        submit(desk, token, None, opener),
        submit(desk, *foreign, opener),
        submit(desk, token[:-40], nonce, opener),
        submit(desk, token, nonce, None),
        submit(desk, token, nonce, "00" * 32),  # a point with which every agreed secret is the same
        submit(desk, "x", nonce, opener, person="otto", key_id=owner.id),
        submit(desk, "x", nonce, opener, person="olga", key_id=owner.id, signing=owner.signing),
        submit(desk, *provider.token("mallory"), opener),
    ]
    work(desk)
    assert [desk.job(job.id).state for job in made_up] == ["refused"] * len(made_up)
    assert count(desk) == before
    for job in made_up:
        assert desk.job(job.id).payload is None
    for text in (token, foreign[0], token.split(".")[1], nonce):
        assert text not in caplog.text
    assert "aud does not fit" in caplog.text
    # And the token, which no forgery has used up, is genuine.
    last = submit(desk, token, nonce, opener)
    work(desk)
    assert desk.job(last.id).state == "done"


@pytest.mark.parametrize("payload", ["[]", "7", "[" * 50_000 + "]" * 50_000, '{"token": 7}', "no JSON"])
def test_a_payload_that_is_no_login_ends_without_a_key_and_the_worker_goes_on(
    desk: Place, provider: RunningProvider, payload: str
) -> None:
    before = count(desk)
    odd = uuid.uuid4().hex
    row = {
        "id": odd,
        "kind": "login",
        "person": "",
        "key_id": "",
        "payload": payload,
        "proof": "",
        "asks": "",
    }
    with desk.state.write() as connection:
        connection.execute(jobs.jobs.insert().values(**row, slot=0.1, created_at=desk.state.now))
    work(desk)
    assert desk.job(odd).state in ("refused", "failed")
    assert count(desk) == before


def test_whom_the_owner_did_not_name_is_refused_and_told_what_to_send(
    here: Place, provider: RunningProvider
) -> None:
    here.settings = {"login": settings(provider)}
    before = count(here)
    job = submit(here, *provider.token("Ann"), Opener().public)
    work(here)
    said = here.result(job)["problem"]
    assert said["problem"].endswith("the owner has not let you in yet: sub is Ann")
    assert "owner" in said["next_step"]
    assert count(here) == before


@pytest.mark.parametrize(
    ("person", "claim", "scope", "said"),
    [
        ("ann", "email", "openid email", None),
        ("ann", "preferred_username", "openid profile", None),
        ("unverified", "email", "openid email", "verified"),
        ("ann", "email", "openid", "did not say your email"),
        ("ann", "oid", "openid profile", "did not say your oid"),
    ],
)
def test_people_go_by_the_claim_that_the_owner_chose(
    here: Place, provider: RunningProvider, person: str, claim: str, scope: str, said: str | None
) -> None:
    both = dict.fromkeys((person, f"{person}@example.org"), PEOPLE["ann"])
    here.settings = {"login": settings(provider, claim, **both)}
    job = submit(here, *provider.token(person, scope=scope), Opener().public)
    work(here)
    if said is None:
        assert here.job(job.id).state == "done"
    else:
        assert said in here.result(job)["problem"]["problem"]


def test_without_a_provider_in_its_settings_a_worker_lets_nobody_in(
    here: Place, provider: RunningProvider
) -> None:
    before = count(here)
    job = submit(here, *provider.token("otto"), Opener().public)
    work(here)
    assert here.job(job.id).state == "refused"
    assert count(here) == before


def test_a_provider_that_is_away_lets_nobody_in(here: Place, provider: RunningProvider) -> None:
    here.settings = {"login": settings(provider) | {"issuer": "http://127.0.0.1:9"}}
    job = submit(here, *provider.token("ann"), Opener().public)
    work(here)
    assert here.result(job)["problem"]["error"] == "ProviderAway"


def test_the_text_of_the_key_is_for_the_process_that_began_the_login_and_is_removed(
    desk: Place, provider: RunningProvider
) -> None:
    opener = Opener()
    job = submit(desk, *provider.token("ann"), opener.public)
    work(desk)
    result = desk.result(job)
    assert "anm_" not in json.dumps(result)
    assert Opener().open(job.id, result["sealed"], result["public"]) is None
    assert opener.open("another job", result["sealed"], result["public"]) is None
    assert take(desk.state, job.id)
    assert not take(desk.state, job.id)
    assert forget_taken(desk.state) == 1
    assert "sealed" not in desk.result(job)


def log_out(place: Place, person: str) -> Job:
    return place.submit("log-out", person, {}, table=None)


@pytest.mark.parametrize("person", ["ann", "otto", "carl"])
def test_logout_revokes_the_key_of_the_session_and_no_other(
    desk: Place, provider: RunningProvider, person: str
) -> None:
    lasting = desk.keys.get("ann")
    key = enter(desk, provider, person)
    out = log_out(desk, person)
    late = desk.submit("rehearse", person, {"query": {}})
    work(desk)
    assert desk.result(out) == {"ended": True}
    assert desk.job(late.id).state == "refused"
    with desk.state.read() as connection:
        revoked = connection.execute(sa.select(keys.c.id).where(keys.c.revoked_at.is_not(None))).scalars()
        assert list(revoked) == [key.id]
    assert lasting is not None


def test_logout_leaves_a_key_that_an_owner_gave_out(desk: Place) -> None:
    out = log_out(desk, "ann")
    work(desk)
    assert desk.result(out) == {"ended": False}


def test_nobody_ends_anothers_session(desk: Place, provider: RunningProvider) -> None:
    otto = enter(desk, provider, "otto")
    number = uuid.uuid4().hex
    signed = jobs.signed(number, "log-out", None, "ann", None, "{}")
    row = {"id": number, "kind": "log-out", "person": "ann", "key_id": otto.id, "payload": "{}", "asks": ""}
    proof = sign(desk.keys["ann"].signing, signed)
    with desk.state.write() as connection:
        connection.execute(jobs.jobs.insert().values(**row, proof=proof, slot=0.1, created_at=desk.state.now))
    work(desk)
    assert desk.job(number).state == "refused"


def test_a_session_of_an_owner_is_not_counted_as_the_last_key_of_an_owner(
    desk_of_both: Place, provider: RunningProvider
) -> None:
    desk = desk_of_both
    otto = enter(desk, provider, "otto")
    last = desk.submit("revoke-key", "otto", {"id": desk.keys["olga"].id}, table=None)
    own = desk.submit("revoke-key", "olga", {"id": otto.id}, table=None)
    work(desk)
    assert "last key of an owner" in desk.result(last)["problem"]["problem"]
    assert desk.job(own.id).state == "done"


def test_keys_of_sessions_that_ended_long_ago_are_removed(
    desk_of_both: Place, provider: RunningProvider
) -> None:
    desk = desk_of_both
    old = enter(desk, provider, "ann")
    with desk.state.write() as connection:
        connection.execute(logins.update().values(until=desk.state.now - KEPT_SECONDS - 1))
    before = count(desk)
    new = enter(desk, provider, "ann")
    assert count(desk) == before
    with desk.state.read() as connection:
        left = set(connection.execute(sa.select(keys.c.id)).scalars())
    assert old.id not in left
    assert new.id in left


def test_a_login_does_not_show_when_a_question_before_it_ended(desk: Place) -> None:
    # While a worker rests after a question it takes owners' jobs alone; anybody may log in.
    submit(desk, "x", "y", "z")
    assert jobs.claim(desk.state, "one", ["patients"], owners=True) is None
    assert jobs.claim(desk.state, "one", ["patients"]) is not None


def test_the_role_of_web_processes_neither_reads_nor_writes_what_logins_leave(
    postgres: str, tmp_path: Path, provider: RunningProvider
) -> None:
    made = Place.make(tmp_path / "served", postgres)
    made.settings = {"login": settings(provider)}
    made.grant("ann")
    work(made)
    as_web = role_of(made.state_at)
    with psycopg.connect(as_web, autocommit=True) as broken:
        for statement in (
            "SELECT * FROM server_logins",
            "DELETE FROM server_logins",
            "INSERT INTO server_logins VALUES ('0', '0', 0)",
            "UPDATE server_logins SET id = '0'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                broken.execute(statement)
        token, nonce = provider.token("ann")
        payload = json.dumps({"token": token, "nonce": nonce, "opener": Opener().public})
        broken.execute(
            "INSERT INTO server_jobs (id, kind, person, key_id, payload, proof, asks, slot, created_at)"
            " VALUES (%s, 'login', '', '', %s, '', '', 0.1, 0)",
            [uuid.uuid4().hex, payload],
        )
        # Another process cannot read the token of a login that waits.
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            broken.execute("SELECT payload FROM server_jobs")
    work(made)
    remove_role(made.state_at, as_web)
    with made.state.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(logins)).scalar_one() == 1
    made.state.close()

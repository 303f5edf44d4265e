# SPDX-License-Identifier: Apache-2.0
"""A web process that was broken into: each line of the table in docs/server.md, tried with its role."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from anonymaly.server import jobs
from anonymaly.server.authentication import Authenticator
from anonymaly.server.console.sessions import ConsoleSessions
from anonymaly.server.keys import ApiKey, unseal
from anonymaly.server.settings import RequestLimits, ServerSettings, WebSettings
from anonymaly.server.state import web_grants
from tests.server.places import NANO, Place
from tests.server.test_forged import genuine
from tests.server.web.served import Served, serve, web_process

NUMBERS = iter(range(10**6))
DOCS = Path(__file__).parents[2] / "docs" / "server.md"
Broken = psycopg.Connection[tuple[object, ...]]


def role_of(address: str) -> str:
    """Make a role as the page on the server says; return the address with which it logs in."""
    name = f"web_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        for grant in web_grants(name):
            connection.execute(grant)
    return str(sa.make_url(address).set(username=name).render_as_string(hide_password=False))


def remove_role(address: str, as_web: str) -> None:
    name = sa.make_url(as_web).username
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


@pytest.fixture
def place(postgres: str, tmp_path: Path) -> Iterator[Place]:
    made = Place.make(tmp_path / "served", postgres)
    with made.worker() as worker:
        made.grant("ann")
        worker.work()
    yield made
    made.state.close()


@pytest.fixture
def broken(place: Place) -> Iterator[Broken]:
    """All that a web process has of the database: its role, and what it knows of SQL."""
    as_web = role_of(place.state_at)
    with psycopg.connect(as_web, autocommit=True) as connection:
        yield connection
    remove_role(place.state_at, as_web)


def refuse(broken: Broken, *statements: str) -> None:
    for statement in statements:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            broken.execute(statement)


def test_it_reads_no_proof_and_changes_no_key_no_table_and_no_job(place: Place, broken: Broken) -> None:
    place.ask("ann")
    refuse(
        broken,
        "SELECT * FROM server_proofs",
        "INSERT INTO server_proofs VALUES ('0', '0')",
        "UPDATE server_keys SET role = 'owner'",
        "UPDATE server_keys SET revoked_at = NULL",
        "INSERT INTO server_keys SELECT '0', person, role, hash, label, created_at FROM server_keys",
        "DELETE FROM server_keys",
        "UPDATE server_jobs SET person = 'ann'",
        "UPDATE server_jobs SET state = 'failed'",
        "DELETE FROM server_jobs",
        "TRUNCATE server_jobs",
        "SELECT id FROM server_jobs FOR UPDATE",
        "UPDATE server_tables SET ready_at = 0",
        "UPDATE server_workers SET seen_at = 0",
        "DELETE FROM server_workers",
        "DELETE FROM server_counts",
        "CREATE TRIGGER odd BEFORE UPDATE ON server_jobs"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "ALTER TABLE server_jobs DROP CONSTRAINT server_jobs_size",
    )


def test_it_reads_neither_what_others_ask_nor_what_they_signed(place: Place, broken: Broken) -> None:
    asked = place.ask("ann", where="age == 41")
    refuse(
        broken,
        "SELECT payload FROM server_jobs",
        "SELECT proof FROM server_jobs",
        "SELECT * FROM server_jobs",
    )
    refuse(
        broken,
        "SELECT length(payload) FROM server_jobs",
        "SELECT 1 FROM server_jobs WHERE payload LIKE '%41%'",
    )
    assert broken.execute("SELECT id FROM server_jobs WHERE state = 'waiting'").fetchall() == [(asked.id,)]


def test_it_reads_no_key_of_those_who_are_logged_in_and_lets_nobody_in(place: Place, broken: Broken) -> None:
    key = place.keys["ann"]
    found = ConsoleSessions(place.state, Authenticator(place.state), encrypted=False)
    caller = Authenticator(place.state).of_key(key)
    assert caller is not None
    session = found.begin(caller)
    rows = str(broken.execute("SELECT * FROM server_sessions").fetchall())
    assert session.id in rows
    assert not [text for text in (key.text, key.signing.hex(), key.hash, session.secret) if text in rows]
    # With a secret of its own and somebody's row it makes a session of nobody.
    broken.execute(
        "INSERT INTO server_sessions"
        " SELECT %s, key_id, 'owner', sealed, created_at, used_at FROM server_sessions",
        ["0" * 32],
    )
    cookie = f"anonymaly={'0' * 32}.{session.secret}".encode()
    assert found.find([(b"cookie", cookie)]) is None
    own = f"anonymaly={session.id}.{session.secret}".encode()
    assert found.find([(b"cookie", own)]) is not None


def test_it_writes_nothing_into_the_ledger(place: Place, broken: Broken) -> None:
    with place.ledger() as ledger:
        before = ledger.head()
    found = broken.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'ledger%'").fetchall()
    assert len(found) >= 9
    for (name,) in found:
        broken.execute(f"SELECT * FROM {name}")
        column = broken.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s", [name]
        ).fetchall()[0][0]
        refuse(
            broken,
            f"UPDATE {name} SET {column} = {column}",
            f"DELETE FROM {name}",
            f"INSERT INTO {name} SELECT * FROM {name}",
            f"TRUNCATE {name}",
            f"ALTER TABLE {name} DISABLE TRIGGER ALL",
            f"DROP TABLE {name}",
        )
    with place.ledger() as ledger:
        assert ledger.head() == before


def test_it_adds_no_job_that_has_ended_or_was_tried(place: Place, broken: Broken) -> None:
    for field, value in (
        ("state", "done"),
        ("result", "{}"),
        ("ended_at", 1.0),
        ("attempts", 7),
        ("claimed_at", 1.0),
        ("claimed_by", "me"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            add(broken, {**wanted(place), field: value})


def test_a_job_that_nobody_signed_is_refused_and_costs_nothing(place: Place, broken: Broken) -> None:
    place.add_key("bob", "analyst")
    mine = wanted(place)
    forged = [
        add(broken, {**wanted(place), "proof": "0" * 64}),
        add(broken, {**wanted(place), "person": "bob", "key_id": place.keys["bob"].id}),
        add(broken, {**wanted(place), "payload": mine["payload"].replace("0.1", "0.9")}),
        add(
            broken,
            {**wanted(place), "kind": "raise", "payload": json.dumps({"to": 99 * NANO, "reason": "mine"})},
        ),
    ]
    with place.worker() as worker:
        while worker.work():
            pass
    assert [place.job(number).state for number in forged] == ["refused"] * 4
    assert place.charges() == 0


def test_a_signed_job_is_carried_out_once_and_its_proof_is_gone(place: Place, broken: Broken) -> None:
    row = wanted(place)
    add(broken, row)
    with place.worker() as worker:
        worker.work()
        with pytest.raises(psycopg.errors.UniqueViolation):
            add(broken, row)
        other = add(broken, {**row, "id": "another"})
        worker.work()
    assert place.job(row["id"]).proof == ""
    assert place.job(other).state == "refused"
    assert place.charges() == 1


def test_a_key_that_passes_by_asks_up_to_its_grant_and_until_it_is_revoked(
    place: Place, broken: Broken
) -> None:
    # Not stopped: whoever holds the key may ask. What it may spend is.
    stolen = [add(broken, wanted(place, repeat=number)) for number in range(12)]
    with place.worker() as worker:
        while worker.work():
            pass
        assert [place.job(number).state for number in stolen].count("done") == 10  # ann's ε = 1
        place.submit("revoke-key", "olga", {"id": place.keys["ann"].id}, table=None)
        worker.work()
        late = add(broken, wanted(place, repeat=0))
        while worker.work():
            pass
        assert place.job(late).state == "refused"
    with place.ledger() as ledger:
        assert {item.analyst for item in ledger.reservations("patients")} == {"ann"}


def test_an_analysts_key_makes_it_no_owner(place: Place, broken: Broken) -> None:
    kinds: tuple[jobs.Kind, ...] = ("grant", "raise", "pause", "key", "revoke-key")
    tried = [
        add(broken, row(place, genuine(place, "ann", kind, to=99 * NANO, reason="mine"))) for kind in kinds
    ]
    with place.worker() as worker:
        while worker.work():
            pass
    assert [place.job(number).state for number in tried] == ["refused"] * len(kinds)


def test_a_key_that_is_made_through_another_web_process_is_not_readable(place: Place, broken: Broken) -> None:
    new = {"person": "eve", "role": "analyst"}
    with place.worker() as worker:
        made = place.submit("key", "olga", new, table=None)
        worker.work()
    read = str(broken.execute("SELECT result FROM server_jobs WHERE id = %s", [made.id]).fetchone())
    assert not re.search("anm_", read)
    sealed = place.result(made)["sealed"]
    assert unseal(place.keys["ann"].signing, made.id, sealed) is None
    assert unseal(place.keys["olga"].signing, "another job", sealed) is None
    text = unseal(place.keys["olga"].signing, made.id, sealed)
    assert text is not None
    assert ApiKey.read(text) is not None


def test_it_can_hide_a_new_key_and_nothing_more(place: Place, broken: Broken) -> None:
    # Not stopped: it says that the key was fetched. The owner makes another.
    with place.worker() as worker:
        made = place.submit("key", "olga", {"person": "eve", "role": "analyst"}, table=None)
        worker.work()
    broken.execute("INSERT INTO server_uses VALUES (%s, 0)", [f"job:{made.id}"])
    refuse(broken, "DELETE FROM server_uses")


def test_it_can_hold_others_up_and_nothing_is_charged_for_it(place: Place, broken: Broken) -> None:
    # Not stopped: whose idempotency key it uses up, or in front of whom it puts jobs.
    taken = add(broken, {**wanted(place), "idempotency": "theirs", "proof": "0" * 64})
    query = {"query": {"question": "count", "epsilon": "0.1"}, "repeat": 0}
    assert place.submit("ask", "ann", query, idempotency="theirs").id == taken
    behind = place.submit("ask", "ann", query, idempotency="another")
    with place.worker() as worker:
        worker.work()
        assert (place.job(taken).state, place.job(behind.id).state) == ("refused", "waiting")
    assert place.charges() == 0


def test_it_sees_answers_and_when_jobs_end_before_their_slot(place: Place, broken: Broken) -> None:
    # Not stopped: it shows answers to others, so that it reads them.
    with place.worker() as worker:
        asked = place.submit(
            "ask", "ann", {"query": {"question": "count", "epsilon": "0.1"}, "repeat": 0}, slot=900.0
        )
        worker.work()
    found = broken.execute("SELECT ended_at, result FROM server_jobs WHERE id = %s", [asked.id]).fetchone()
    assert found is not None
    assert found[0] is not None
    assert json.loads(str(found[1]))["answer"]["value"] == place.result(asked)["answer"]["value"]


def test_it_reads_the_ledger_whose_personal_fields_are_digests(place: Place, broken: Broken) -> None:
    # Not stopped: it checks grants and receipts by it.
    assert broken.execute("SELECT count(*) FROM ledger_entries").fetchall() != [(0,)]


def test_it_is_told_of_no_row_no_secret_no_store_and_no_other_role(tmp_path: Path) -> None:
    settings = ServerSettings(
        state="postgresql://worker:hidden@host/state",
        web_state="postgresql://web:two@host/state",
        ledgers={"patients": "postgresql://web:two@host/ledger"},
    )
    told = settings.for_web(tmp_path, {"patients": "postgresql://worker:hidden@host/ledger"}).to_json()
    assert "worker" not in told
    assert "hidden" not in told
    always = {"state", "outbox", "ledgers", "limits"}
    at_times = {
        "only_from",
        "encrypted",
        "login",
        "security_contact",
        "security_expires",
        "streams",
    }  # where they are set
    assert always <= set(json.loads(told)) <= always | at_times


def test_what_a_worker_writes_another_user_cannot_read(tmp_path: Path) -> None:
    made = Place.make(tmp_path / "served", None)
    with made.worker() as worker:
        made.grant("ann")
        made.ask("ann")
        while worker.work():
            pass
    made.state.close()
    private = [path for path in made.folder.rglob("*") if path.name not in ("patients.csv", "patients.yaml")]
    assert {"patients.ledger", "server.db", "outbox"} <= {path.name for path in private}
    assert [path.name for path in private if path.is_file() and path.stat().st_mode & 0o077] == []


@contextmanager
def served_with_role(folder: Path, postgres: str) -> Iterator[Served]:
    """A server whose web process logs in with its own role."""
    with serve(folder, postgres=postgres) as running:
        as_web = role_of(postgres)
        settings = WebSettings(
            state=as_web,
            outbox=str(folder / "outbox"),
            limits=RequestLimits(rate=10**6, burst=10**6),
            ledgers=dict.fromkeys(("patients", "others"), as_web),
        )
        (folder / "web.json").write_text(settings.to_json(), "utf-8")
        with web_process(folder) as base:
            running.base = base
            yield running
        remove_role(postgres, as_web)


@pytest.mark.slow
def test_that_role_is_all_that_an_honest_web_process_needs(postgres: str, tmp_path: Path) -> None:
    with served_with_role(tmp_path, postgres) as served:
        done = served.ask("analyst", "with-a-role")
        assert done.json()["state"] == "done", done.text
        again = served.ask("analyst", "with-a-role")
        assert again.json() == done.json()
        with served.client("analyst") as client:
            job, receipt = done.json()["job"], done.json()["answer"]["receipt"]
            for path in (
                f"jobs/{job}",
                f"answers/{job}",
                f"answers/{job}/content",
                "tables/patients/statement",
            ):
                assert client.get(f"/v1/{path}").status_code == 200, path
            assert client.post("/v1/verify", json={"receipt": receipt}).json() == {"ok": True}
        with served.client("owner") as client:
            assert client.get("/v1/tables/patients/ledger/verification").json()["ok"] is True
            granted = client.put("/v1/tables/patients/grants/eve", json={"total": "0.1", "reason": "a study"})
            assert granted.status_code == 200, granted.text
            made = client.post("/v1/keys", json={"person": "eve", "role": "analyst"}).json()
            assert ApiKey.read(made["result"]["text"]) is not None
            assert client.get("/v1/keys").status_code == 200
        assert " ERROR " not in served.log


def wanted(place: Place, repeat: int = 0) -> dict[str, str]:
    """A job that ann signed, as a web process adds it."""
    query = {"question": "count", "epsilon": "0.1"}
    return row(place, genuine(place, "ann", "ask", query=query, repeat=repeat))


def row(place: Place, found: dict[str, object]) -> dict[str, str]:
    kept = {
        name: item for name, item in found.items() if item is not None and name not in ("state", "attempts")
    }
    return {**kept, "created_at": "0"}  # type: ignore[dict-item]


def add(broken: Broken, fields: dict[str, object] | dict[str, str]) -> str:
    names, marks = ", ".join(fields), ", ".join(["%s"] * len(fields))
    broken.execute(f"INSERT INTO server_jobs ({names}) VALUES ({marks})", list(fields.values()))  # type: ignore[arg-type]
    return str(fields["id"])

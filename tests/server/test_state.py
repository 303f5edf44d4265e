# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from anonymaly.errors import InputError
from anonymaly.server.keys import ApiKey
from anonymaly.server.people import first_owner_key
from anonymaly.server.state import State
from tests.server.places import Place


def test_servers_that_begin_at_once_make_the_shared_tables_once(postgres: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        states = list(threads.map(lambda _: State.open(postgres, create=True), range(8)))
    with states[0].read() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM server_facts")).scalar() == 1
    for state in states:
        state.close()


def test_of_servers_that_begin_at_once_one_shows_the_first_owners_key(postgres: str) -> None:
    state = State.open(postgres, create=True)
    shown: list[ApiKey] = []
    together = threading.Barrier(5)

    def begin(_: int) -> bool:
        together.wait()
        return first_owner_key(state, shown.append)

    with ThreadPoolExecutor(5) as threads:
        assert sorted(threads.map(begin, range(5))) == [False] * 4 + [True]
    assert len(shown) == 1
    state.close()


def test_a_database_that_cannot_be_reached_is_said_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        State.open("postgresql://me:secret@127.0.0.1:1/x", create=True)
    assert caught.value.field == "state"
    assert "secret" not in f"{caught.value!r} {caught.value} {caught.value.__context__!r}"


def test_shared_tables_of_another_version_are_refused(place: Place) -> None:
    with place.state.write() as connection:
        connection.execute(sa.text("UPDATE server_facts SET value = '999' WHERE name = 'schema'"))
    with pytest.raises(InputError, match="another version"):
        State.open(place.state_at)


def test_a_database_that_no_server_began_is_refused(postgres: str) -> None:
    with pytest.raises(InputError, match="a worker began it"):
        State.open(postgres)

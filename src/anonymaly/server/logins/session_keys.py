# SPDX-License-Identifier: Apache-2.0
"""Keys that last as long as a session: workers make one for each login, and logout revokes it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from anonymaly.server.keys import ApiKey
from anonymaly.server.logins.refusals import used_before
from anonymaly.server.people import NewKey, make_key
from anonymaly.server.state import State, keys, logins, proofs, uses

LABEL = "OpenID Connect"
SESSION_SECONDS = 8 * 3600.0
KEPT_SECONDS = 30 * 86_400.0  # after its end, until the list of keys forgets one


def make_session_key(
    state: State, connection: sa.Connection, new: NewKey, token: str
) -> tuple[ApiKey, float | None]:
    """Make a key for a token that was never used; all in one transaction, so that none has two."""
    if connection.execute(sa.select(logins.c.id).where(logins.c.id == token)).first() is not None:
        raise used_before()
    made, until = make_key(state, connection, new, seconds=SESSION_SECONDS)
    connection.execute(logins.insert().values(id=token, key_id=made.id, until=until))
    _forget_ended(state, connection)
    return made, until


def end_session_key(state: State, connection: sa.Connection, number: str) -> bool:
    """Revoke the key of a login; False, and nothing is done, if it is a key of another kind."""
    if connection.execute(sa.select(logins.c.id).where(logins.c.key_id == number)).first() is None:
        return False
    mine = keys.update().where(keys.c.id == number, keys.c.revoked_at.is_(None))
    connection.execute(mine.values(revoked_at=state.now))
    return True


def is_session_key(state: State, number: str) -> bool:
    """Say whether a key seems to be one of a login, as far as a web process can see; a worker knows."""
    with state.read() as connection:
        label = connection.execute(sa.select(keys.c.label).where(keys.c.id == number)).scalar()
    return label == LABEL


def _forget_ended(state: State, connection: sa.Connection) -> None:
    ended = sa.select(logins.c.key_id).where(logins.c.until < state.now - KEPT_SECONDS)
    found: list[Any] = list(connection.execute(ended).scalars())
    if found:
        for table in (proofs, uses, keys):
            connection.execute(table.delete().where(table.c.id.in_(found)))
        connection.execute(logins.delete().where(logins.c.key_id.in_(found)))

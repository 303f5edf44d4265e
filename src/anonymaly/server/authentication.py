# SPDX-License-Identifier: Apache-2.0
"""Who calls: a key of the header, known by its hash, neither expired nor revoked by the database's clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from anonymaly.server.keys import ApiKey, Role, same
from anonymaly.server.state import State, keys, uses

NOTED_EVERY_SECONDS = 60.0  # the last use of a key, or every request would be a write
_NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever holds the key of a request."""

    key: ApiKey
    person: str
    role: Role
    expires_at: float | None


class Authenticator:
    """Finds callers by their keys."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._noted: dict[str, float] = {}

    def find(self, headers: Sequence[tuple[bytes, bytes]]) -> Caller | None:
        """Return who calls, or None whatever is wrong with the key."""
        key = _given(headers)
        return None if key is None else self.of_key(key)

    def of_key(self, key: ApiKey) -> Caller | None:
        """Return whose key it is, or None if it is not valid now."""
        of = sa.select(keys, self._state.now.label("now")).where(keys.c.id == key.id)
        with self._state.read() as connection:
            row = connection.execute(of).first()
        # Compared in any case, so that an unknown key takes as long as a wrong one.
        right = same(_NO_HASH if row is None else row.hash, key.hash)
        if row is None or not right or row.revoked_at is not None:
            return None
        if row.expires_at is not None and row.expires_at <= float(row.now):
            return None
        self._note(key.id)
        return Caller(key, row.person, row.role, row.expires_at)

    def _note(self, number: str) -> None:
        """Write down that a key was used; it is no reason to refuse a request if that cannot be written."""
        now = time.monotonic()
        if now - self._noted.get(number, -NOTED_EVERY_SECONDS) < NOTED_EVERY_SECONDS:
            return
        self._noted[number] = now
        try:
            with self._state.write() as connection:
                of = uses.update().where(uses.c.id == number).values(used_at=self._state.now)
                if connection.execute(of).rowcount == 0:
                    connection.execute(uses.insert().values(id=number, used_at=self._state.now))
        except SQLAlchemyError:
            del self._noted[number]


def _given(headers: Sequence[tuple[bytes, bytes]]) -> ApiKey | None:
    given = [value for name, value in headers if name == b"authorization"]
    if len(given) != 1:
        return None
    scheme, _, text = given[0].partition(b" ")
    if scheme.lower() != b"bearer" or not text.isascii():
        return None
    return ApiKey.read(text.decode("ascii"))

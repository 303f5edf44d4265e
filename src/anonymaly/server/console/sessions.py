# SPDX-License-Identifier: Apache-2.0
"""Sessions: a person's key, sealed with a secret that only the cookie in the person's browser holds.

A web process signs jobs with what it derives from the key, so that a session must give it the key at each
request. What is written down is of no use without the cookie: neither to whoever reads the database nor to a
web process that was broken into, other than for those who visit meanwhile.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from anonymaly.server.authentication import Authenticator, Caller
from anonymaly.server.console.cookies import given_cookie
from anonymaly.server.keys import ApiKey, same
from anonymaly.server.logins.session_keys import SESSION_SECONDS
from anonymaly.server.state import State, finds, keys, sessions

LONGEST_SECONDS = SESSION_SECONDS
IDLE_SECONDS = 3600.0
MOST_OF_PERSON = 20  # at a time: each may keep megabytes of records, and logging in again costs nothing
NOTED_EVERY_SECONDS = 60.0  # the last use, or every page would be a write
_COOKIE = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")
_NONCE = 12
_KEY, _FIND = b"anonymaly session\0", b"anonymaly find\0"  # what a secret seals: each by another key


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """Who is logged in, and the secret of their cookie."""

    id: str
    caller: Caller
    secret: str = field(repr=False)

    @property
    def token(self) -> str:
        """What every form of this session carries, and no other page knows."""
        return _derived(self.secret, b"anonymaly form\0", self.id).hex()

    def owns(self, token: str) -> bool:
        """Say whether a form is of this session."""
        return same(self.token, token)

    def mark(self, text: str) -> str:
        """Return what a text is known by within this session, and by nobody else."""
        return _derived(self.secret, b"anonymaly mark\0", text).hex()

    def seal(self, number: str, text: str) -> str:
        """Hide a text from all but this session; it is known by a number of its own."""
        return _seal(self.secret, number, text, _FIND)

    def unseal(self, number: str, sealed: str) -> str | None:
        """Return a text that this session hid; None if another one did."""
        return _unseal(self.secret, number, sealed, _FIND)


class ConsoleSessions:
    """Begins, finds and ends sessions."""

    def __init__(self, state: State, authenticator: Authenticator, *, encrypted: bool) -> None:
        self._state = state
        self._authenticator = authenticator
        self._encrypted = encrypted
        # With this prefix a browser takes the cookie from this very host by TLS alone.
        self.cookie = "__Host-anonymaly" if encrypted else "anonymaly"

    def begin(self, caller: Caller) -> ConsoleSession:
        """Write a session down; ended ones, and too many of a person, are removed."""
        session = ConsoleSession(secrets.token_hex(16), caller, secrets.token_urlsafe(32))
        row = {
            "id": session.id,
            "key_id": caller.key.id,
            "role": caller.role,
            "sealed": _seal(session.secret, session.id, caller.key.text, _KEY),
        }
        now = self._state.now
        with self._state.write() as connection:
            connection.execute(sessions.delete().where(sa.not_(self._lasts())))
            connection.execute(sessions.insert().values(**row, created_at=now, used_at=now))
            # Not of a key: each login at a provider has one of its own.
            mine = sessions.c.key_id.in_(sa.select(keys.c.id).where(keys.c.person == caller.person))
            newest = sa.select(sessions.c.id).where(mine).order_by(sessions.c.created_at.desc())
            kept = connection.execute(newest.limit(MOST_OF_PERSON)).scalars().all()
            connection.execute(sessions.delete().where(mine, sessions.c.id.not_in(kept)))
            connection.execute(finds.delete().where(finds.c.session.not_in(sa.select(sessions.c.id))))
        return session

    def find(self, headers: Sequence[tuple[bytes, bytes]]) -> ConsoleSession | None:
        """Return whose session a cookie is of; None once it or the key has ended, or the role changed."""
        given = _COOKIE.fullmatch(self.given(headers) or "")
        if given is None:
            return None
        number, secret = given.groups()
        of = sa.select(sessions, self._state.now.label("now")).where(sessions.c.id == number, self._lasts())
        with self._state.read() as connection:
            row = connection.execute(of).first()
        text = None if row is None else _unseal(secret, number, row.sealed, _KEY)
        key = None if text is None else ApiKey.read(text)
        if row is None or key is None:
            return None
        caller = self._authenticator.of_key(key)
        if caller is None or caller.role != row.role:
            self.end(number)
            return None
        if float(row.now) - row.used_at > NOTED_EVERY_SECONDS:
            with self._state.write() as connection:
                used = sessions.update().where(sessions.c.id == number)
                connection.execute(used.values(used_at=self._state.now))
        return ConsoleSession(number, caller, secret)

    def end(self, number: str) -> None:
        """End a session for good."""
        with self._state.write() as connection:
            connection.execute(sessions.delete().where(sessions.c.id == number))
            had = connection.execute(finds.delete().where(finds.c.session == number)).rowcount
        if had:
            self._state.forget()

    def given(self, headers: Sequence[tuple[bytes, bytes]]) -> str | None:
        """Return the cookie that a browser sent, if it sent one."""
        return given_cookie(headers, self.cookie)

    def handed(self, session: ConsoleSession) -> str:
        """Return the header that gives a browser its cookie, for as long as the browser is open."""
        return f"{self.cookie}={session.id}.{session.secret}; {self._flags}"

    def taken(self) -> str:
        """Return the header that takes it back."""
        return f"{self.cookie}=; Max-Age=0; {self._flags}"

    @property
    def _flags(self) -> str:
        return f"Path=/; HttpOnly; SameSite=Strict{'; Secure' if self._encrypted else ''}"

    def _lasts(self) -> sa.ColumnElement[bool]:
        now = self._state.now
        return sa.and_(sessions.c.created_at > now - LONGEST_SECONDS, sessions.c.used_at > now - IDLE_SECONDS)


def _derived(secret: str, words: bytes, number: str) -> bytes:
    return hmac.new(secret.encode(), words + number.encode(), hashlib.sha256).digest()


def _seal(secret: str, number: str, text: str, what: bytes) -> str:
    nonce = secrets.token_bytes(_NONCE)
    sealed = AESGCM(_derived(secret, what, number)).encrypt(nonce, text.encode(), number.encode())
    return base64.b64encode(nonce + sealed).decode()


def _unseal(secret: str, number: str, sealed: str, what: bytes) -> str | None:
    content = base64.b64decode(sealed)
    key = AESGCM(_derived(secret, what, number))
    try:
        return key.decrypt(content[:_NONCE], content[_NONCE:], number.encode()).decode()
    except InvalidTag:
        return None

# SPDX-License-Identifier: Apache-2.0
"""What a worker does with a login: checks the provider's token by itself, finds the person, makes a key.

A web process may have been broken into, and a login is the one job that no key signs. Its token is all that
counts: neither the person nor the role that a web process may name is looked at.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from anonymaly.server.jobs import Job
from anonymaly.server.logins.provider import Provider
from anonymaly.server.logins.refusals import TokenRefused, not_believed, not_named, unverified, without
from anonymaly.server.logins.sealing import seal_for
from anonymaly.server.logins.session_keys import LABEL, make_session_key
from anonymaly.server.logins.settings import LoginPerson, WorkerLogin
from anonymaly.server.logins.token import check_token, token_digest
from anonymaly.server.people import NewKey
from anonymaly.server.state import State

logger = logging.getLogger(__name__)


class LoginDesk:
    """Lets people in whom the provider vouches for, and whom the owner named."""

    def __init__(self, state: State, settings: WorkerLogin) -> None:
        self._state = state
        self._settings = settings
        self._provider = Provider(settings.issuer)

    def admit(self, job: Job) -> Callable[[sa.Connection], dict[str, Any]]:
        """Return what makes a key when the job ends, or refuse."""
        asked = job.asked
        token, nonce, opener = (_text(asked.get(name)) for name in ("token", "nonce", "opener"))
        with self._state.read() as connection:
            now = self._state.time(connection)
        try:
            said = check_token(token, nonce, self._provider, self._settings.client_id, now)
            seal_for(opener, job.id, "0" * 64)  # before a key is made that nobody could open
        except (TokenRefused, ValueError) as problem:
            logger.warning("login %s refused: %s", job.name, _words(problem))
            raise not_believed() from None
        found = self._find(said, job.name)
        new = NewKey(found.person, found.role, LABEL, None)

        def make(connection: sa.Connection) -> dict[str, Any]:
            made, until = make_session_key(self._state, connection, new, token_digest(token))
            sealed, public = seal_for(opener, job.id, made.text)
            return {"id": made.id, "expires_at": until, "sealed": sealed, "public": public}

        return make

    def _find(self, said: dict[str, Any], job: str) -> LoginPerson:
        """Return who somebody is here; nobody is whom the owner did not name."""
        people = self._settings.people
        name = said.get(people.claim)
        if not isinstance(name, str) or not name:
            logger.warning("login %s refused: the token has no %s", job, people.claim)
            raise without(people.claim)
        if people.claim == "email" and said.get("email_verified") is not True:
            logger.warning("login %s refused: the token does not say that the email is verified", job)
            raise unverified()
        found = people.names.get(name)
        if found is None:
            logger.warning("login %s refused: the person is not in login.people.names", job)
            raise not_named(people.claim, name)
        return found


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _words(problem: Exception) -> str:
    return str(problem) if isinstance(problem, TokenRefused) else "nobody could open the new key"

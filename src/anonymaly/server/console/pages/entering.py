# SPDX-License-Identifier: Apache-2.0
"""Login and logout."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from anonymaly.server.console.forms import Sent
from anonymaly.server.console.pending import is_of_this_server
from anonymaly.server.console.sessions import ConsoleSessions
from anonymaly.server.console.throttle import LoginThrottle
from anonymaly.server.console.visit import ConsolePage, Moved, Outcome, Shown, Visit
from anonymaly.server.keys import ApiKey
from anonymaly.server.logins.session_keys import is_session_key
from anonymaly.server.submitting import submit

FRONT = "/"


class Entering:
    """Lets people in by their keys, and out again."""

    def __init__(self, sessions: ConsoleSessions, provider: str | None = None) -> None:
        self._sessions = sessions
        self._provider = provider  # what people call it, if they may log in there
        self._throttle = LoginThrottle()

    @property
    def pages(self) -> tuple[ConsolePage, ...]:
        """Its pages."""
        return (
            ConsolePage("GET", "/login", self.login_page),
            ConsolePage("POST", "/login", self.log_in),
            ConsolePage("POST", "/logout", self.log_out),
        )

    def login_page(self, visit: Visit) -> Outcome:
        """Ask for the key."""
        if visit.session is not None:
            return Moved(next_place(visit.query))
        return Shown("login.html", self._asked(visit.query))

    def log_in(self, visit: Visit) -> Outcome:
        """Begin a session, or say that the key is not valid: the same whatever is wrong with it."""
        text = visit.form.get("key")
        key = ApiKey.read(text)
        named = text[:20] if key is None else key.id
        self._throttle.refuse(visit.address, named)
        caller = None if key is None else visit.services.authenticator.of_key(key)
        if caller is None:
            self._throttle.failed(visit.address, named)
            return Shown("login.html", {**self._asked(visit.form), "wrong": True}, 403)
        if visit.session is not None:
            self._sessions.end(visit.session.id)
        cookie = self._sessions.handed(self._sessions.begin(caller))
        return Response(status_code=303, headers={"Location": next_place(visit.form), "Set-Cookie": cookie})

    def log_out(self, visit: Visit) -> Outcome:
        """End the session, and have a key revoked that was made for it alone."""
        if visit.session is not None:
            self._sessions.end(visit.session.id)
            if is_session_key(visit.services.state, visit.caller.key.id):
                submit(visit.services, visit.caller, "log-out", None, {})
        headers = {
            "Location": "/login?out=1",
            "Set-Cookie": self._sessions.taken(),
            "Clear-Site-Data": '"cache", "storage"',
        }
        return Response(status_code=303, headers=headers)

    def _asked(self, sent: Sent) -> dict[str, Any]:
        return {
            "next": next_place(sent),
            "wrong": False,
            "ended": sent.has("ended"),
            "out": sent.has("out"),
            "provider": self._provider,
        }


def next_place(sent: Sent) -> str:
    """Return the page to go to: one of this server, whatever the address says."""
    place = sent.get("next", FRONT)
    return place if is_of_this_server(place) else FRONT

# SPDX-License-Identifier: Apache-2.0
"""Login at a provider, by OpenID Connect: the way there, and the way back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anonymaly.server import jobs
from anonymaly.server.authentication import Caller
from anonymaly.server.console.pages.entering import FRONT, next_place
from anonymaly.server.console.pending import PendingCookies, PendingLogin
from anonymaly.server.console.rendering import html
from anonymaly.server.console.sessions import ConsoleSessions
from anonymaly.server.console.throttle import LoginThrottle
from anonymaly.server.console.visit import ConsolePage, Moved, Outcome, Shown, Visit
from anonymaly.server.keys import ApiKey, same
from anonymaly.server.logins.refusals import CodeRefused, ProviderAway
from anonymaly.server.logins.sealing import Opener
from anonymaly.server.once import SEALED, take
from anonymaly.server.problems import Problem, internal, of_result, unknown
from anonymaly.server.released import Seen, look, under_way, wait
from anonymaly.server.services import Services

if TYPE_CHECKING:
    from anonymaly.server.console.code_flow import CodeFlow

WAIT_SECONDS = 30.0
NOBODY = ""  # whose job a login is: whose it will be is for a worker to find


class ProviderLogin:
    """Sends people to the provider, and lets in whom it sends back."""

    def __init__(self, sessions: ConsoleSessions, cookies: PendingCookies, flow: CodeFlow | None) -> None:
        self._sessions = sessions
        self._cookies = cookies
        self._flow = flow
        self._throttle = LoginThrottle(field="login", advice="begin at the login page again")

    @property
    def pages(self) -> tuple[ConsolePage, ...]:
        """Its pages; without a provider there is nothing on them."""
        return (
            ConsolePage("GET", "/login/provider", self.begin_login),
            ConsolePage("GET", "/login/callback", self.finish_login),
        )

    def begin_login(self, visit: Visit) -> Outcome:
        """Send somebody to the provider. By a link: a form may not lead to another site."""
        if self._flow is None:
            raise unknown()
        if visit.session is not None:
            return Moved(next_place(visit.query))
        pending = PendingLogin.fresh(next_place(visit.query))
        try:
            place = self._flow.begin(pending)
        except ProviderAway as away:
            raise _away(away) from None
        cookie = self._cookies.handed(pending)
        return Response(status_code=303, headers={"Location": place, "Set-Cookie": cookie})

    async def finish_login(self, visit: Visit) -> Outcome:
        """Begin a session for whom the provider sent back, in the browser in which the login began."""
        if self._flow is None:
            raise unknown()
        pending, sent = self._cookies.given(visit.headers), visit.query
        if pending is None or not same(pending.state, sent.get("state")):
            raise _not_begun()  # without taking the cookie: another site may have led here
        mark = pending.state[:16]
        self._throttle.refuse(visit.address, mark)
        try:
            if sent.get("iss", self._flow.issuer) != self._flow.issuer or not sent.get("code"):
                raise _ended_there()
            caller = await self._admitted(visit.services, self._flow, sent.get("code"), pending)
        except Problem as problem:
            if problem.status == 403:
                self._throttle.failed(visit.address, mark)
            problem.headers["Set-Cookie"] = self._cookies.taken()
            raise
        return await run_in_threadpool(self._entered, visit, caller, pending)

    async def _admitted(self, services: Services, flow: CodeFlow, code: str, pending: PendingLogin) -> Caller:
        """Have a worker judge the provider's token, and make a key for the session."""
        await run_in_threadpool(_refuse_if_busy, services)
        try:
            token = await run_in_threadpool(flow.fetch, code, pending)
        except ProviderAway as away:
            raise _away(away) from None
        except CodeRefused:
            raise _ended_there() from None
        opener = Opener()
        add = partial(
            jobs.submit,
            services.state,
            "login",
            table=None,
            person=NOBODY,
            key_id=NOBODY,
            signing=b"",  # there is no key yet: the token is the proof
            payload={"token": token, "nonce": pending.nonce, "opener": opener.public},
        )
        job = await run_in_threadpool(add)
        seen = await run_in_threadpool(look, services.state, job.id)
        if seen is None:
            raise internal()
        seen = await wait(services.state, seen, WAIT_SECONDS)
        return await run_in_threadpool(_caller, services, seen, opener)

    def _entered(self, visit: Visit, caller: Caller, pending: PendingLogin) -> Response:
        if visit.session is not None:
            self._sessions.end(visit.session.id)
        response = html(Shown("entered.html", {"next": pending.next}), None)
        response.headers.append("Set-Cookie", self._sessions.handed(self._sessions.begin(caller)))
        response.headers.append("Set-Cookie", self._cookies.taken())
        return response


def _caller(services: Services, seen: Seen, opener: Opener) -> Caller:
    """Return whom a worker let in, by the key that it made; it is read once."""
    if not seen.released:
        raise Problem(
            503, "no worker is ready", field="login", next_step="Try again in a minute, or tell the owner."
        )
    if seen.job.state == "refused":
        raise of_result(seen.result["problem"])
    result = seen.result
    if seen.job.state != "done" or SEALED not in result:
        raise internal()
    text = opener.open(seen.job.id, result[SEALED], result["public"])
    key = None if text is None else ApiKey.read(text)
    if key is None or not take(services.state, seen.job.id):
        raise internal()
    caller = services.authenticator.of_key(key)
    if caller is None:
        raise internal()
    return caller


def _refuse_if_busy(services: Services) -> None:
    """Refuse one more login than a quarter of all jobs that may be under way."""
    most = services.settings.limits.jobs
    if under_way(services.state, NOBODY) >= max(1, most // 4) or under_way(services.state) >= most:
        raise Problem(
            429,
            "too many people log in at once",
            field="login",
            next_step="Wait a minute, and log in again.",
            headers={"Retry-After": "60"},
        )


def _away(away: ProviderAway) -> Problem:
    return Problem(503, away.problem, field=away.field, next_step=away.next_step)


def _not_begun() -> Problem:
    return Problem(
        400,
        "this login was not begun in this browser, or more than ten minutes ago, or has ended",
        field="login",
        next_step=f"Go to {FRONT} and log in there; cookies must be allowed for this site.",
    )


def _ended_there() -> Problem:
    return Problem(
        403,
        "the provider did not let you in, or the login was cancelled there",
        field="login",
        next_step="Log in again, or with a key.",
    )

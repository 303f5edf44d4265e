# SPDX-License-Identifier: Apache-2.0
"""The console's gate: what a request for a page passes, the cheapest checks first, as in `admission`.

Size by the headers, session, rate, role, then the form: its size, type, origin and token. Whoever has no
session is sent to the login, whatever they ask for; what a role may not see is not there for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from anonymaly.errors import AnonymalyError
from anonymaly.server.console.forms import Sent, not_ours, read_sent, refuse_other_sites, refuse_other_types
from anonymaly.server.console.rendering import PAGE_HEADERS, html, problem_page
from anonymaly.server.console.sessions import ConsoleSession, ConsoleSessions
from anonymaly.server.console.visit import ConsolePage, Moved, Outcome, Shown, Visit
from anonymaly.server.limits import read_body, refuse_by_headers
from anonymaly.server.permissions import PAGES
from anonymaly.server.problems import Problem, of_error, unauthorized, unknown
from anonymaly.server.replies import reply
from anonymaly.server.services import Services

API = "/v1"
OPERATION = ("/health", "/ready", "/metrics", "/.well-known/security.txt")  # for programs that watch
JSON = ".json"
LOGIN = "/login"
FRONT = "/"
FRONT_JSON = "/index.json"


class ConsoleGate:
    """Answers requests for pages; what is under /v1, or carries a key in its header, goes on to the API."""

    def __init__(
        self, app: ASGIApp, services: Services, sessions: ConsoleSessions, pages: Sequence[ConsolePage]
    ) -> None:
        self.app = app
        self._services = services
        self._sessions = sessions
        self._pages = [(page, *compile_path(page.path)[::2]) for page in pages]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or _is_api(scope):
            await self.app(scope, receive, send)
            return
        response = await self._answer(scope, receive)
        if response is not None:
            await response(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response | None:
        state, services = scope["state"], self._services
        limits = services.settings.limits
        state["headers"] = PAGE_HEADERS
        state["problem_page"] = partial(problem_page, session=None)
        refuse_by_headers(scope, limits)
        page, places, as_json, allowed = self._find(scope)
        if as_json:
            state["problem_page"] = None
        files = page is not None and page.name == "static_file"  # the same for everybody
        session = None if files else await run_in_threadpool(self._sessions.find, scope["headers"])
        if session is None:
            if page is None or not PAGES[page.name].anyone:
                return self._to_login(scope, as_json)
        else:
            state["caller"] = session.caller
            if not as_json:
                state["problem_page"] = partial(problem_page, session=session)
            services.rates.refuse_beyond(session.caller.key.id)
        if page is None:
            raise _another_method(allowed) if _may(allowed, session) else unknown()
        state["template"] = page.path
        if session is not None and not _may([page], session):
            raise unknown()
        if not all(text.isprintable() for text in places.values()):
            raise unknown()
        form = Sent()
        if page.method == "POST":
            body = await read_body(receive, limits)
            if body is None:
                return None
            state["read"] = True
            form = self._read_form(scope, body, session)
        visit = Visit(
            services,
            _address(scope, services),
            session,
            places,
            read_sent(scope["query_string"]),
            form,
            scope["headers"],
        )
        response = self._response(await _show(page, visit), session, as_json)
        if files:
            state["headers"] = PAGE_HEADERS | {"Cache-Control": response.headers["Cache-Control"]}
        return response

    def _find(self, scope: Scope) -> tuple[ConsolePage | None, dict[str, str], bool, list[ConsolePage]]:
        """Return the page of a request, its places, whether as plain data, and pages by other methods."""
        path, method = scope["path"], scope["method"]
        others = []
        forms = [(path, False)]
        if path.endswith(JSON):
            forms.insert(0, (FRONT if path == FRONT_JSON else path.removesuffix(JSON), True))
        for form, as_json in forms:
            for page, pattern, convertors in self._pages:
                found = pattern.match(form)
                if found is None or (as_json and page.method != "GET"):
                    continue
                if page.method != method:
                    others.append(page)
                    continue
                places = {name: convertors[name].convert(text) for name, text in found.groupdict().items()}
                return page, places, as_json, []
        return None, {}, path.endswith(JSON), others

    def _to_login(self, scope: Scope, as_json: bool) -> Response:
        """Send whoever has no session to the login, and back to where they wanted to be afterwards."""
        if as_json:
            raise unauthorized()
        wanted = scope["path"] if scope["method"] == "GET" else FRONT
        query = scope["query_string"].decode("latin-1") if scope["method"] == "GET" else ""
        asked = (
            [] if wanted == FRONT else [f"next={quote(wanted + ('?' + query if query else ''), safe='/')}"]
        )
        if self._sessions.given(scope["headers"]) is not None:
            asked.append("ended=1")
        place = LOGIN + ("?" + "&".join(asked) if asked else "")
        return Response(status_code=303, headers={"Location": place, "Set-Cookie": self._sessions.taken()})

    def _read_form(self, scope: Scope, body: bytes, session: ConsoleSession | None) -> Sent:
        refuse_other_types(scope)
        refuse_other_sites(scope)
        form = read_sent(body)
        if session is not None and not session.owns(form.get("csrf")) and scope["path"] != LOGIN:
            raise not_ours()
        return form

    def _response(self, outcome: Outcome, session: ConsoleSession | None, as_json: bool) -> Response:
        match outcome:
            case Moved():
                return Response(status_code=303, headers={"Location": outcome.place})
            case Shown() if as_json:
                return reply(outcome.data, outcome.status, pad=True)
            case Shown():
                return html(outcome, session)
            case _:
                return outcome


async def _show(page: ConsolePage, visit: Visit) -> Outcome:
    try:
        if inspect.iscoroutinefunction(page.show):
            found: Any = await page.show(visit)
        else:
            found = await run_in_threadpool(page.show, visit)
    except AnonymalyError as error:
        raise of_error(error) from None
    except RecursionError:
        raise Problem(
            422, "is nested too deeply", field="query", next_step="Write a simpler question."
        ) from None
    outcome: Outcome = found
    return outcome


def _may(pages: Sequence[ConsolePage], session: ConsoleSession | None) -> bool:
    """Say whether one of these pages is for whoever visits."""
    permissions = [PAGES[page.name] for page in pages]
    return any(
        item.anyone or (session is not None and session.caller.role in item.roles) for item in permissions
    )


def _another_method(pages: Sequence[ConsolePage]) -> Problem:
    allowed = ", ".join(sorted({page.method for page in pages}))
    return Problem(
        405, f"takes only {allowed}", next_step="Go back to the front page.", headers={"Allow": allowed}
    )


def _is_api(scope: Scope) -> bool:
    path = scope["path"]
    if path == API or path.startswith(f"{API}/") or path in OPERATION:
        return True
    # Who sends a key in a header is a program: it gets the API's answers, wherever it knocks.
    return any(name == b"authorization" for name, _ in scope["headers"])


def _address(scope: Scope, services: Services) -> str:
    """Return whom a request comes from: behind a proxy, as the proxy says."""
    address = str((scope.get("client") or ("",))[0])
    if services.settings.only_from == address:
        told = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        if told:
            return str(told[-1].rpartition(b",")[2].strip(), "latin-1")
    return address

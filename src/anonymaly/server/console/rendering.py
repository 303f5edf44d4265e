# SPDX-License-Identifier: Apache-2.0
"""Pages as HTML: one set of templates, in which every value is escaped."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from anonymaly.core.epsilon import to_text
from anonymaly.server.console.meters import bar, meter
from anonymaly.server.console.sessions import ConsoleSession
from anonymaly.server.console.static_files import static_place
from anonymaly.server.console.visit import Shown
from anonymaly.server.problems import Problem
from anonymaly.server.replies import padded

TEMPLATES = Path(__file__).parent / "templates"
# For browsers: nothing from elsewhere, no script or style within a page, and no frame around it. The referrer
# stays on this site, where it tells a form of ours from one of others.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
HEADLINES = {
    400: "That could not be read",
    402: "That is more than is left",
    403: "Refused",
    404: "Nothing here",
    405: "Not this way",
    413: "Too large",
    415: "Not a form",
    422: "Something does not fit",
    429: "Too many at once",
    500: "Something went wrong",
    503: "Not available now",
}


def html(shown: Shown, session: ConsoleSession | None) -> Response:
    """Return a page; its size tells no more than its class, as that of every answer."""
    text = (
        _environment()
        .get_template(shown.template)
        .render(
            **shown.data,
            **shown.pictures,
            me=None if session is None else session.caller,
            token="" if session is None else session.token,
        )
    )
    return Response(padded(text.encode()), shown.status, media_type="text/html")


def problem_page(problem: Problem, session: ConsoleSession | None) -> Response:
    """Return an error as a page: what is wrong, and the next step."""
    said = {**problem.to_dict(), "headline": HEADLINES.get(problem.status, "That did not work")}
    response = html(Shown("problem.html", {"said": said}, problem.status), session)
    response.headers.update(problem.headers)
    return response


def moment(text: str | None) -> str:
    """Write a moment as people read it.

    Examples
    --------
    >>> moment("2026-11-16T09:30:12.345+00:00")
    '2026-11-16 09:30 UTC'
    """
    return "" if text is None else datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M UTC")


def segment(text: str) -> str:
    """Write a text as one part of a path.

    Examples
    --------
    >>> segment("a/b c")
    'a%2Fb%20c'
    """
    return quote(text, safe="")


def sentence(text: str) -> str:
    """Write what is wrong with a field as a sentence.

    Examples
    --------
    >>> sentence("must be filled in")
    'Must be filled in.'
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {"moment": moment, "segment": segment, "sentence": sentence, "epsilon": to_text}
    environment.filters.update(filters)
    environment.globals.update(static=static_place, meter=meter, bar=bar)
    return environment

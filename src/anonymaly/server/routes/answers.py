# SPDX-License-Identifier: Apache-2.0
"""Answers that were released: lists, values, stored bytes and receipts."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.errors import InputError
from anonymaly.server.looking import answers_of, content_of, find_answer
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Body, Page, Reply, Route, one_line
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.submitting import answer_of, known_answer
from anonymaly.server.verifying import verify_receipt


class AnswerReply(Reply):
    """A released answer."""

    job: str
    question: str
    asks: str


# Plain and short: it is looked up in a database as it is.
Fact = Annotated[str, Field(max_length=200), AfterValidator(one_line)] | Annotated[int, Field(ge=0, le=2**53)]


class VerifyBody(Body):
    """A receipt, as an answer has it."""

    receipt: dict[str, Fact | None]


class Verified(Reply):
    """Whether the ledger has that charge."""

    ok: bool


def list_answers(
    request: Request, table: route.Table, after: route.After = None, limit: route.Most = 50
) -> Response:
    """List released answers, oldest first: an analyst's own; all for owner and auditor."""
    services, caller = services_of(request), caller_of(request)
    return reply(answers_of(services, caller, table, after, limit), pad=True)


def get_answer(request: Request, job: route.JobId) -> Response:
    """Return a released answer."""
    return reply(answer_of(find_answer(services_of(request), caller_of(request), job)), pad=True)


def get_content(request: Request, job: route.JobId) -> Response:
    """Return the stored bytes of a released answer."""
    services = services_of(request)
    return content_of(services, find_answer(services, caller_of(request), job))


def get_receipt(request: Request, job: route.JobId) -> Response:
    """Return the receipt of a released answer."""
    seen = find_answer(services_of(request), caller_of(request), job)
    return reply({"receipt": known_answer(seen)["receipt"]})


def verify(request: Request, body: VerifyBody) -> Response:
    """Say whether the ledger has the charge that a receipt is of."""
    try:
        ok = verify_receipt(services_of(request), caller_of(request), body.receipt)
    except InputError:
        ok = False
    return reply({"ok": ok})


ROUTES = (
    Route("GET", "/v1/tables/{table}/answers", list_answers, Page),
    Route("GET", "/v1/answers/{job}", get_answer, AnswerReply),
    Route("GET", "/v1/answers/{job}/content", get_content, None),
    Route("GET", "/v1/answers/{job}/receipt", get_receipt, Reply),
    Route("POST", "/v1/verify", verify, Verified),
)

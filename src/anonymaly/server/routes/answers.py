# SPDX-License-Identifier: Apache-2.0
"""Answers that were released: lists, values, stored bytes and receipts."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO

from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from anonymaly.errors import InputError
from anonymaly.server.messages import outbox_file
from anonymaly.server.problems import unknown
from anonymaly.server.released import Seen, look
from anonymaly.server.released import list_answers as released_answers
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.route import Body, Page, Reply, Route, one_line
from anonymaly.server.services import caller_of, services_of, view
from anonymaly.server.shown import moment
from anonymaly.server.submitting import answer_of, known_answer
from anonymaly.server.verifying import verify_receipt

PART = 2**16  # bytes of an answer that are read at a time


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
    view(services, caller, table)
    person = caller.person if caller.role == "analyst" else None
    found, more = released_answers(services.state, table, person, after, limit)
    return reply({"items": [_line(item) for item in found], "next": more}, pad=True)


def get_answer(request: Request, job: route.JobId) -> Response:
    """Return a released answer."""
    return reply(answer_of(_find(request, job)), pad=True)


def get_content(request: Request, job: route.JobId) -> Response:
    """Return the stored bytes of a released answer."""
    seen = _find(request, job)
    answer_of(seen)  # or it was erased
    content = seen.result["content"]
    try:
        file = os.open(outbox_file(services_of(request).outbox, seen.job.id), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        raise unknown() from None
    digest = str(content["digest"])
    reading = os.fdopen(file, "rb")  # closed also if nobody takes a part of it
    headers = {
        "Content-Length": str(os.fstat(file).st_size),
        "ETag": f'"sha-256:{digest}"',
        "Digest": f"sha-256={base64.b64encode(bytes.fromhex(digest)).decode()}",
        "Content-Disposition": "attachment",
    }
    return StreamingResponse(_parts(reading), media_type=content["media_type"], headers=headers)


def get_receipt(request: Request, job: route.JobId) -> Response:
    """Return the receipt of a released answer."""
    return reply({"receipt": known_answer(_find(request, job))["receipt"]})


def verify(request: Request, body: VerifyBody) -> Response:
    """Say whether the ledger has the charge that a receipt is of."""
    try:
        ok = verify_receipt(services_of(request), caller_of(request), body.receipt)
    except InputError:
        ok = False
    return reply({"ok": ok})


def _find(request: Request, number: str) -> Seen:
    services, caller = services_of(request), caller_of(request)
    seen = look(services.state, number)
    if seen is None or seen.job.kind != "ask" or not seen.released or seen.job.state != "done":
        raise unknown()
    if caller.role == "analyst" and seen.job.person != caller.person:
        raise unknown()
    return seen


def _line(seen: Seen) -> dict[str, Any]:
    answer = known_answer(seen)
    kept = ("job", "number", "question", "asks", "query", "charged", "content")
    found = {name: answer[name] for name in kept if name in answer}
    erased = {"erased": True} if "forgotten" in seen.result else {}
    return {**found, "person": seen.job.person, "asked_at": moment(seen.job.created_at), **erased}


def _parts(reading: BinaryIO) -> Iterator[bytes]:
    with reading:
        while part := reading.read(PART):
            yield part


ROUTES = (
    Route("GET", "/v1/tables/{table}/answers", list_answers, Page),
    Route("GET", "/v1/answers/{job}", get_answer, AnswerReply),
    Route("GET", "/v1/answers/{job}/content", get_content, None),
    Route("GET", "/v1/answers/{job}/receipt", get_receipt, Reply),
    Route("POST", "/v1/verify", verify, Verified),
)

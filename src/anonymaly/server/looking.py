# SPDX-License-Identifier: Apache-2.0
"""What a caller may look at: tables, released answers, the statement; for HTTP and for pages alike."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from starlette.responses import Response, StreamingResponse

from anonymaly.errors import Refused
from anonymaly.ledger.own_statement import OwnStatement
from anonymaly.ledger.statement import Statement
from anonymaly.server import shown
from anonymaly.server.authentication import Caller
from anonymaly.server.messages import outbox_file
from anonymaly.server.problems import unknown
from anonymaly.server.published import list_tables
from anonymaly.server.released import Seen, list_answers, look
from anonymaly.server.services import Services, View, is_visible, view
from anonymaly.server.submitting import answer_of, known_answer

PART = 2**16  # bytes of an answer that are read at a time


def visible_tables(services: Services, caller: Caller) -> list[str]:
    """Return the names of the tables that a caller may see, in their order."""
    return [table.name for table in list_tables(services.state) if is_visible(services, caller, table)]


def table_of(seen: View) -> dict[str, Any]:
    """Return what is declared of a table, and what the caller may spend."""
    table, account = seen.table, seen.account
    return {
        "name": table.name,
        "declaration": table.plain,
        "adjacency": table.declaration.adjacency,
        "questions": list(table.questions),
        "slots": {name: table.slot(name) for name in table.questions},
        "ready": table.ready,
        "paused": seen.paused,
        "version": table.version,
        "own": own_of(seen),
        "account": None if account is None else shown.account(account.to_dict()),
    }


def own_of(seen: View) -> dict[str, Any] | None:
    """Return the caller's own limit as it stands, or as it stood when the grant ended."""
    if seen.grant is None:
        return None
    try:
        return shown.own(seen.allowance() or seen.grant)
    except Refused:
        return shown.own(seen.grant)


def answers_of(
    services: Services, caller: Caller, table: str, after: str | None, limit: int
) -> dict[str, Any]:
    """Return a page of released answers, oldest first: an analyst's own; all for owner and auditor."""
    view(services, caller, table)
    person = caller.person if caller.role == "analyst" else None
    found, more = list_answers(services.state, table, person, after, limit)
    return {"items": [_line(item) for item in found], "next": more}


def find_answer(services: Services, caller: Caller, number: str) -> Seen:
    """Return the job of a released answer; the one 404 for everything else."""
    seen = look(services.state, number)
    if seen is None or seen.job.kind != "ask" or not seen.released or seen.job.state != "done":
        raise unknown()
    if caller.role == "analyst" and seen.job.person != caller.person:
        raise unknown()
    return seen


def content_of(services: Services, seen: Seen) -> Response:
    """Return the stored bytes of a released answer."""
    answer_of(seen)  # or it was erased
    content = seen.result["content"]
    try:
        file = os.open(outbox_file(services.outbox, seen.job.id), os.O_RDONLY | os.O_NOFOLLOW)
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
    return StreamingResponse(in_parts(reading), media_type=content["media_type"], headers=headers)


def statement_of(services: Services, caller: Caller, table: str) -> dict[str, Any]:
    """Return what was spent and what is promised; an analyst's own charges for an analyst."""
    seen = view(services, caller, table)
    ledger = services.ledgers.of(seen.table)
    if ledger is None:
        raise unknown()
    if caller.role == "analyst":
        return _own_told(ledger.own_statement(table, caller.person))
    if seen.account is None:
        raise unknown()
    found = Statement.of(seen.account, ledger.reservations(table), ledger.entries(table))
    return {**found.to_dict(), "text": str(found)}


def _own_told(statement: OwnStatement) -> dict[str, Any]:
    """Tell an analyst of charges without their hashes, which are in the receipts of released answers.

    A charge is there before its answer is released. Who had its hash then could have receipts of all likely
    answers verified, until one of them is right.
    """
    told = {**statement.to_dict(), "text": str(statement)}
    told["charges"] = [
        {name: item for name, item in charge.items() if name != "charge"} for charge in told["charges"]
    ]
    return told


def _line(seen: Seen) -> dict[str, Any]:
    answer = known_answer(seen)
    kept = ("job", "number", "question", "asks", "query", "charged", "content")
    found = {name: answer[name] for name in kept if name in answer}
    erased = {"erased": True} if "forgotten" in seen.result else {}
    return {**found, "person": seen.job.person, "asked_at": shown.moment(seen.job.created_at), **erased}


def in_parts(reading: BinaryIO) -> Iterator[bytes]:
    """Yield an open file, and close it."""
    with reading:
        while part := reading.read(PART):
            yield part

# SPDX-License-Identifier: Apache-2.0
"""Jobs under way, and answers that were released: lists, words, pictures, downloads, receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from anonymaly.errors import InputError
from anonymaly.server.console.visit import ConsolePage, Moved, Outcome, Shown, Visit
from anonymaly.server.looking import answers_of, content_of, find_answer, in_parts
from anonymaly.server.problems import unknown
from anonymaly.server.released import Seen, look, wait
from anonymaly.server.shown import moment
from anonymaly.server.submitting import answer_of, describe
from anonymaly.server.verifying import verify_receipt

if TYPE_CHECKING:
    from anonymaly.ask.answer import Answer

WAIT_SECONDS = 3.0  # that a page waits for a release before it says that there is none yet
MOST = 50  # answers on a page


async def job_page(visit: Visit) -> Outcome:
    """Wait a little for a job; then show what came of it, or a page that looks again by itself."""
    services, caller = visit.services, visit.caller
    seen = await run_in_threadpool(look, services.state, visit.places["job"])
    if seen is None or seen.job.person != caller.person or seen.job.kind not in ("ask", "rehearse"):
        raise unknown()
    seen = await wait(services.state, seen, min(WAIT_SECONDS, services.settings.limits.wait))
    if seen.released and seen.job.state == "done" and seen.job.kind == "ask":
        return Moved(f"/answers/{seen.job.id}")
    return await run_in_threadpool(_job, visit, seen)


def _job(visit: Visit, seen: Seen) -> Shown:
    said = describe(visit.services, visit.caller, seen)
    data = {"job": said, "asks": seen.job.asks, "asked_at": moment(seen.job.created_at)}
    if said["state"] != "done":
        return Shown("job.html", data)
    # Imported when there is an answer: a web process starts without what it needs.
    from anonymaly.server.console.answer_words import read_rehearsed  # noqa: PLC0415

    with visit.services.at_once.of(visit.caller.person):
        answer = read_rehearsed(said["answer"])
        return _answer_page("rehearsal.html", {**data, "answer": said["answer"]}, answer)


def answers_page(visit: Visit) -> Shown:
    """List the answers about a table: an analyst's own; all for owner and auditor."""
    table, after = visit.places["table"], visit.query.get("after") or None
    if after is not None and not after.isprintable():
        raise unknown()
    answers = answers_of(visit.services, visit.caller, table, after, MOST)
    return Shown("answers.html", {"table": table, "later": after is not None, **answers})


def answer_page(visit: Visit) -> Shown:
    """Show an answer."""
    from anonymaly.server.console.answer_words import read_stored  # noqa: PLC0415

    services, caller = visit.services, visit.caller
    seen = find_answer(services, caller, visit.places["job"])
    told = answer_of(seen)
    data = {
        "answer": told,
        "table": seen.job.table_name,
        "person": seen.job.person,
        "asked_at": moment(seen.job.created_at),
        "content": seen.result["content"],
        "stands": _stands(visit, told),
    }
    with services.at_once.of(caller.person):
        return _answer_page("answer.html", data, read_stored(services, seen, told))


def answer_content(visit: Visit) -> Response:
    """Return the stored bytes of an answer."""
    return content_of(visit.services, find_answer(visit.services, visit.caller, visit.places["job"]))


def answer_csv(visit: Visit) -> Response:
    """Return an answer that is a table as CSV."""
    from anonymaly.server.console.answer_table import open_csv, table_of  # noqa: PLC0415
    from anonymaly.server.console.answer_words import read_stored  # noqa: PLC0415

    services, caller = visit.services, visit.caller
    seen = find_answer(services, caller, visit.places["job"])
    with services.at_once.of(caller.person):
        answer = read_stored(services, seen, answer_of(seen))
        table = None if answer is None else table_of(answer.value)
        if table is None:
            raise unknown()
        reading = open_csv(table)
    headers = {"Content-Disposition": "attachment"}
    return StreamingResponse(in_parts(reading), media_type="text/csv", headers=headers)


def _answer_page(template: str, data: dict[str, Any], answer: Answer | None) -> Shown:
    from anonymaly.server.console.answer_words import pictures, words  # noqa: PLC0415

    said = None if answer is None else words(answer)
    return Shown(
        template, {**data, "words": said}, pictures={"drawn": [] if answer is None else pictures(answer)}
    )


def _stands(visit: Visit, told: dict[str, Any]) -> bool:
    """Say whether the ledger has the charge that the receipt is of."""
    try:
        return told["receipt"] is not None and verify_receipt(visit.services, visit.caller, told["receipt"])
    except InputError:
        return False


PAGES = (
    ConsolePage("GET", "/jobs/{job}", job_page),
    ConsolePage("GET", "/tables/{table}/answers", answers_page),
    ConsolePage("GET", "/answers/{job}", answer_page),
    ConsolePage("GET", "/answers/{job}/content", answer_content),
    ConsolePage("GET", "/answers/{job}/csv", answer_csv),
)

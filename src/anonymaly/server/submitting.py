# SPDX-License-Identifier: Apache-2.0
"""Jobs from the side of a web process: adding one, finding it again, waiting, and what is said of it."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anonymaly.core.value import canonical_json
from anonymaly.ledger.records import Grant
from anonymaly.server import jobs, shown
from anonymaly.server.authentication import Caller
from anonymaly.server.jobs import Job, Kind
from anonymaly.server.keys import unseal
from anonymaly.server.once import SEALED, take
from anonymaly.server.problems import Problem, failed, internal, not_ready, of_result
from anonymaly.server.published import Published
from anonymaly.server.released import Seen, look, under_way, wait
from anonymaly.server.replies import reply
from anonymaly.server.services import Services
from anonymaly.server.slots import SHORTEST

OWNERS_WAIT = 30.0  # seconds that an owner's request waits for its job
_WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])")


def preferred_wait(prefer: str | None, most: int) -> int:
    """Return the seconds that a client would wait (RFC 7240), at most as many as are allowed.

    Examples
    --------
    >>> preferred_wait("respond-async, wait=5", 60), preferred_wait("wait=900", 60), preferred_wait(None, 60)
    (5, 60, 0)
    """
    found = _WAIT.search(prefer or "")
    return 0 if found is None else min(int(found[1]), most)


def stored_idempotency(person: str, key: str) -> str:
    """Return what is kept of an idempotency key: it tells neither the key nor that another has the same."""
    return hashlib.sha256(f"{len(person)}:{person}\0{key}".encode()).hexdigest()


def request_digest(key: str, asked: Any) -> str:
    """Return what is kept of what was asked under a key: without the key, no question can be tried."""
    return hmac.new(key.encode(), canonical_json(asked).encode(), hashlib.sha256).hexdigest()


def refuse_if_busy(services: Services, caller: Caller) -> None:
    """Refuse one more job than a person, or all together, may have under way."""
    limits = services.settings.limits
    for person, most, whose in (
        (caller.person, limits.jobs_of_person, "of yours"),
        (None, limits.jobs, "in all"),
    ):
        if under_way(services.state, person) >= most:
            raise Problem(
                429,
                f"{most} jobs {whose} are under way, the most at a time",
                field="jobs",
                next_step="Wait until one is released.",
                headers={"Retry-After": "1"},
            )


def submit(
    services: Services,
    caller: Caller,
    kind: Kind,
    table: Published | None,
    payload: Mapping[str, Any],
    **more: Any,
) -> Job:
    """Add a job in the caller's name; refuse if no worker is ready for its table."""
    if table is not None and not table.ready:
        raise not_ready(table.name)
    return jobs.submit(
        services.state,
        kind,
        table=None if table is None else table.name,
        person=caller.person,
        key_id=caller.key.id,
        signing=caller.key.signing,
        payload=payload,
        **more,
    )


async def answer_with(
    services: Services, caller: Caller, job: Job, seconds: float, *, again: bool = False, status: int = 200
) -> Response:
    """Wait for a job and say how it stands: 200 once it is released, 202 before; 409 if it is not new."""
    seen = await run_in_threadpool(look, services.state, job.id)
    if seen is None:
        raise internal()
    seen = await wait(services.state, seen, seconds)
    place = {"Location": f"/v1/jobs/{job.id}"}
    if again and not seen.released and seconds <= 0:
        raise Problem(
            409,
            "the same question with this key is still running",
            field="Idempotency-Key",
            next_step=f"Look at /v1/jobs/{job.id}, or send 'Prefer: wait=10'.",
            headers=place,
        )
    return job_reply(
        await run_in_threadpool(describe, services, caller, seen), status if seen.released else 202, place
    )


def job_reply(said: Mapping[str, Any], status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return what is said of a job, in a size that tells no more than its class."""
    return reply(said, status, headers=headers, pad=True)


def describe(services: Services, caller: Caller, seen: Seen) -> dict[str, Any]:
    """Say what may be seen of a job."""
    job = seen.job
    said: dict[str, Any] = {"job": job.id, "kind": job.kind, "table": job.table_name}
    if not seen.released:
        return {**said, "state": "running", "release_after": round(max(seen.until_next, 0.0), 3)}
    said["state"] = job.state
    if job.state == "failed":
        return {**said, "problem": failed().to_dict()}
    if job.state == "refused":
        return {**said, "problem": of_result(seen.result["problem"]).to_dict()}
    if job.kind in ("ask", "rehearse"):
        return {**said, "answer": answer_of(seen)}
    return {**said, "result": _shown_result(services, caller, seen)}


def answer_of(seen: Seen) -> dict[str, Any]:
    """Return a released answer; a value that is too large for it is behind its link."""
    found = seen.result["answer"]
    answer = {**shown.answer(found), "receipt": shown.receipt(found.get("receipt"))}
    if seen.job.kind == "ask":
        answer |= {"job": seen.job.id, "content": f"/v1/answers/{seen.job.id}/content"}
    return answer


def done(said: Mapping[str, Any], status: int = 200) -> Response:
    """Return what came of an owner's job; where to look if it is still running."""
    place = {"Location": f"/v1/jobs/{said['job']}"}
    waits = said["state"] == "running" or "proposal" in said.get("result", {})
    return job_reply(said, 202 if waits else status, place)


async def have_done(
    services: Services, caller: Caller, kind: Kind, table: Published | None, payload: Mapping[str, Any]
) -> dict[str, Any]:
    """Have an owner's job done and say what came of it; raise the problem that it was refused with."""
    await run_in_threadpool(refuse_if_busy, services, caller)
    job = await run_in_threadpool(submit, services, caller, kind, table, payload, slot=SHORTEST)
    seen = await run_in_threadpool(look, services.state, job.id)
    if seen is None:
        raise internal()
    seen = await wait(services.state, seen, OWNERS_WAIT)
    if seen.released and seen.job.state == "refused":
        raise of_result(seen.result["problem"])
    if seen.released and seen.job.state == "failed":
        raise internal()
    return await run_in_threadpool(describe, services, caller, seen)


def _shown_result(services: Services, caller: Caller, seen: Seen) -> dict[str, Any]:
    """Return what came of an owner's job; the text of a new key is there once, for the key that made it."""
    result = seen.result
    if "grant" in result:
        return {"grant": shown.grant(Grant(**result["grant"]))}
    if "account" in result:
        return {"account": shown.account(result["account"])}
    sealed = result.pop(SEALED, None)
    text = None if sealed is None else unseal(caller.key.signing, seen.job.id, sealed)
    if text is not None and take(services.state, seen.job.id):
        result["text"] = text
    return result | ({"expires_at": shown.moment(result["expires_at"])} if "expires_at" in result else {})

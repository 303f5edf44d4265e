# SPDX-License-Identifier: Apache-2.0
"""Jobs: how one stands, for the person whose it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.problems import unknown
from anonymaly.server.released import look, wait
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Route
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.submitting import describe, job_reply

Wait = Annotated[int, Query(ge=0, le=600, description="The most seconds to wait for its release")]


async def get_job(
    request: Request, job: route.JobId, wait_seconds: Annotated[Wait, Query(alias="wait")] = 0
) -> Response:
    """Say how a job stands; what it ended in shows at its slot."""
    services, caller = services_of(request), caller_of(request)
    seen = await run_in_threadpool(look, services.state, job)
    if seen is None or seen.job.person != caller.person:
        raise unknown()
    seen = await wait(services.state, seen, min(wait_seconds, services.settings.limits.wait))
    return job_reply(await run_in_threadpool(describe, services, caller, seen), 200)


ROUTES = (Route("GET", "/v1/jobs/{job}", get_job, JobReply),)

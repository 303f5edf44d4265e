# SPDX-License-Identifier: Apache-2.0
"""What an owner does with an account: raise its budget, pause and resume it."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Body, Epsilon, Reason, Route
from anonymaly.server.services import caller_of, services_of, view
from anonymaly.server.submitting import carry_out


class BudgetBody(Body):
    """The new budget."""

    to: Epsilon
    reason: Reason


class ReasonBody(Body):
    """Why."""

    reason: Reason


async def raise_budget(request: Request, table: route.Table, body: BudgetBody) -> Response:
    """Raise a table's budget; the ledger keeps when, to what and why."""
    seen = await run_in_threadpool(view, services_of(request), caller_of(request), table)
    to = to_nano(body.to, field="to", largest=LARGEST_TOTAL)
    return await carry_out(request, "raise", seen.table, {"to": to, "reason": body.reason})


async def pause(request: Request, table: route.Table, body: ReasonBody) -> Response:
    """Charge nothing more until the table is resumed."""
    seen = await run_in_threadpool(view, services_of(request), caller_of(request), table)
    return await carry_out(request, "pause", seen.table, {"reason": body.reason})


async def resume(request: Request, table: route.Table, body: ReasonBody) -> Response:
    """Let questions be charged again."""
    seen = await run_in_threadpool(view, services_of(request), caller_of(request), table)
    return await carry_out(request, "resume", seen.table, {"reason": body.reason})


ROUTES = (
    Route("POST", "/v1/tables/{table}/budget", raise_budget, JobReply, 200, (202,)),
    Route("POST", "/v1/tables/{table}/pause", pause, JobReply, 200, (202,)),
    Route("POST", "/v1/tables/{table}/resume", resume, JobReply, 200, (202,)),
)

# SPDX-License-Identifier: Apache-2.0
"""What an owner does with an account: raise its budget, pause and resume it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from anonymaly.core.epsilon import LARGEST_TOTAL, to_nano
from anonymaly.server import owning
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Body, Epsilon, Reason, Route
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.submitting import done


class BudgetBody(Body):
    """The new budget."""

    to: Epsilon
    reason: Reason


class ReasonBody(Body):
    """Why."""

    reason: Reason


def budget_of(body: BudgetBody) -> int:
    """Return the new budget in nano-ε."""
    return to_nano(body.to, field="to", largest=LARGEST_TOTAL)


async def raise_budget(request: Request, table: route.Table, body: BudgetBody) -> Response:
    """Raise a table's budget; the ledger keeps when, to what and why."""
    services, caller, to = services_of(request), caller_of(request), budget_of(body)
    return done(await owning.raise_budget(services, caller, table, to, body.reason))


async def pause(request: Request, table: route.Table, body: ReasonBody) -> Response:
    """Charge nothing more until the table is resumed."""
    return done(await owning.pause(services_of(request), caller_of(request), table, body.reason))


async def resume(request: Request, table: route.Table, body: ReasonBody) -> Response:
    """Let questions be charged again."""
    return done(await owning.resume(services_of(request), caller_of(request), table, body.reason))


ROUTES = (
    Route("POST", "/v1/tables/{table}/budget", raise_budget, JobReply, 200, (202,)),
    Route("POST", "/v1/tables/{table}/pause", pause, JobReply, 200, (202,)),
    Route("POST", "/v1/tables/{table}/resume", resume, JobReply, 200, (202,)),
)

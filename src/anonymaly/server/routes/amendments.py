# SPDX-License-Identifier: Apache-2.0
"""Amendments: what another declaration would change, and proposing it to the host."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictInt
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server import owning
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Body, Reason, Reply, Route
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.submitting import done

Changed = Annotated[
    dict[str, Any],
    Field(description="columns, rules, key and rows as a manifest has them; what is left out stays as it is"),
]

Replaces = Annotated[
    StrictInt | None,
    Field(description="the entry that the preview named: refused if another declaration is in force by now"),
]


class AmendmentBody(Body):
    """What is to be declared."""

    declaration: Changed


class ProposedBody(AmendmentBody):
    """What is to be declared, why, and whether that was learned by looking at rows."""

    reason: Reason
    learned_from_rows: bool = False
    replaces: Replaces = None


class AmendmentReply(Reply):
    """What differs, what that means for whom rules protect, and which columns and rules stay as they are."""

    account: str
    replaces: int
    differences: list[str]
    rules: list[str]
    stays: list[str]
    declaration: dict[str, Any]


def preview_amendment(request: Request, table: route.Table, body: AmendmentBody) -> Response:
    """Say what another declaration would change, and whom changed rules leave unprotected."""
    found = owning.amendment_of(services_of(request), caller_of(request), table, body.declaration)
    return reply(found.to_dict())


async def propose_amendment(request: Request, table: route.Table, body: ProposedBody) -> Response:
    """Propose another declaration; it always waits until the host confirms it."""
    said = {"reason": body.reason, "learned_from_rows": body.learned_from_rows}
    services, caller = services_of(request), caller_of(request)
    return done(await owning.amend(services, caller, table, body.declaration, said, body.replaces))


ROUTES = (
    Route("POST", "/v1/tables/{table}/amendment/preview", preview_amendment, AmendmentReply),
    Route("POST", "/v1/tables/{table}/amendment", propose_amendment, JobReply, 200, (202,)),
)

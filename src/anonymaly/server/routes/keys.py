# SPDX-License-Identifier: Apache-2.0
"""Keys: who has which, new ones, and revocation. The text of a new key is shown once."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path
from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server import owning
from anonymaly.server.bookkeeping import keys_of
from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Body, Name, Page, Route, one_line
from anonymaly.server.services import caller_of, services_of
from anonymaly.server.submitting import done

KeyId = Annotated[str, Path(description="The public part of a key")]
MOST_DAYS = 3650


class KeyBody(Body):
    """Whose key, and for what."""

    person: Name
    role: Literal["owner", "analyst", "auditor"]
    label: Annotated[str, Field(max_length=100), AfterValidator(one_line)] = ""
    expires_in_days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None = 90


def list_keys(request: Request, after: route.After = None, limit: route.Most = 50) -> Response:
    """List keys by their public parts; nothing here lets anybody in."""
    return reply(keys_of(services_of(request).state, after, limit))


async def make_key(request: Request, body: KeyBody) -> Response:
    """Make a key; its text is in this answer, and nowhere afterwards."""
    wanted = body.model_dump()
    return done(await owning.make_key(services_of(request), caller_of(request), wanted), 201)


async def revoke_key(request: Request, key: KeyId) -> Response:
    """Revoke a key for good."""
    return done(await owning.revoke_key(services_of(request), caller_of(request), key))


ROUTES = (
    Route("GET", "/v1/keys", list_keys, Page),
    Route("POST", "/v1/keys", make_key, JobReply, 201, (202,)),
    Route("DELETE", "/v1/keys/{key}", revoke_key, JobReply, 200, (202,)),
)

# SPDX-License-Identifier: Apache-2.0
"""Keys: who has which, new ones, and revocation. The text of a new key is shown once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Path
from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.replies import reply
from anonymaly.server.routes import route
from anonymaly.server.routes.questions import JobReply
from anonymaly.server.routes.route import Body, Name, Page, Route, one_line
from anonymaly.server.services import services_of
from anonymaly.server.shown import moment
from anonymaly.server.state import keys, uses
from anonymaly.server.submitting import carry_out

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
    state = services_of(request).state
    of = sa.select(keys, uses.c.used_at).select_from(keys.outerjoin(uses, uses.c.id == keys.c.id))
    if after is not None:
        of = of.where(keys.c.id > after)
    with state.read() as connection:
        rows = connection.execute(of.order_by(keys.c.id).limit(limit + 1)).all()
    items = [_line(row) for row in rows[:limit]]
    return reply({"items": items, "next": items[-1]["id"] if len(rows) > limit else None})


async def make_key(request: Request, body: KeyBody) -> Response:
    """Make a key; its text is in this answer, and nowhere afterwards."""
    return await carry_out(request, "key", None, body.model_dump(), status=201)


async def revoke_key(request: Request, key: KeyId) -> Response:
    """Revoke a key for good."""
    return await carry_out(request, "revoke-key", None, {"id": key})


def _line(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "person": row.person,
        "role": row.role,
        "label": row.label,
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "revoked_at": moment(row.revoked_at),
        "used_at": moment(row.used_at),
    }


ROUTES = (
    Route("GET", "/v1/keys", list_keys, Page),
    Route("POST", "/v1/keys", make_key, JobReply, 201, (202,)),
    Route("DELETE", "/v1/keys/{key}", revoke_key, JobReply, 200, (202,)),
)

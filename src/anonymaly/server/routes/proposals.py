# SPDX-License-Identifier: Apache-2.0
"""Proposals: what waits for the host, and what became of it. Nothing here confirms one."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.proposals import list_proposals as listed
from anonymaly.server.replies import reply
from anonymaly.server.routes.route import Reply, Route
from anonymaly.server.services import services_of


class ProposalsReply(Reply):
    """The newest proposals, those that wait among them."""

    items: list[dict[str, Any]]


def list_proposals(request: Request) -> Response:
    """List what waits to be confirmed on the host, and what became of earlier proposals, newest first."""
    return reply({"items": listed(services_of(request).state)})


ROUTES = (Route("GET", "/v1/proposals", list_proposals, ProposalsReply),)

# SPDX-License-Identifier: Apache-2.0
"""What whoever runs a server watches: that it lives, that it is ready, and its numbers."""

from __future__ import annotations

import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.alive import all_ready
from anonymaly.server.metrics import MEDIA_TYPE, render
from anonymaly.server.replies import reply
from anonymaly.server.routes.route import Reply, Route
from anonymaly.server.services import services_of


class Health(Reply):
    """That the web process lives."""

    healthy: bool


class Readiness(Reply):
    """Whether every table can be asked."""

    ready: bool


def health() -> Response:
    """Say that the web process lives; it looks at nothing else."""
    return reply({"healthy": True})


def ready(request: Request) -> Response:
    """Say whether the shared tables can be read and every table has a worker that can read it."""
    try:
        found = all_ready(services_of(request).state)
    except sa.exc.SQLAlchemyError:
        found = False
    return reply({"ready": found}, 200 if found else 503)


def metrics(request: Request) -> Response:
    """Return numbers about the server in the text format of Prometheus."""
    return Response(render(services_of(request)), media_type=MEDIA_TYPE)


ROUTES = (
    Route("GET", "/health", health, Health),
    Route("GET", "/ready", ready, Readiness, 200, (503,)),
    Route("GET", "/metrics", metrics, None),
)

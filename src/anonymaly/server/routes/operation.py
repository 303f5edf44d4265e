# SPDX-License-Identifier: Apache-2.0
"""What whoever runs a server watches: that it lives, that it is ready, and its numbers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from anonymaly.server.metrics import MEDIA_TYPE, render
from anonymaly.server.problems import unknown
from anonymaly.server.replies import reply
from anonymaly.server.routes.route import Reply, Route
from anonymaly.server.security_txt import render as render_security_txt
from anonymaly.server.services import services_of


class HealthReply(Reply):
    """That the web process lives."""

    healthy: bool


class ReadyReply(Reply):
    """Whether every table can be asked."""

    ready: bool


def health() -> Response:
    """Say that the web process lives; it looks at nothing else."""
    return reply({"healthy": True})


def ready(request: Request) -> Response:
    """Say whether every table has a worker that can read it, and ledgers and shared tables can be read."""
    found = services_of(request).is_ready()
    return reply({"ready": found}, 200 if found else 503)


def metrics(request: Request) -> Response:
    """Return numbers about the server in the text format of Prometheus."""
    return Response(render(services_of(request)), media_type=MEDIA_TYPE)


def security_txt(request: Request) -> Response:
    """Return whom somebody tells who found a weakness (RFC 9116)."""
    settings = services_of(request).settings
    text = render_security_txt(settings.security_contact, settings.security_expires)
    if text is None:
        raise unknown()
    return Response(text, media_type="text/plain; charset=utf-8")


ROUTES = (
    Route("GET", "/health", health, HealthReply),
    Route("GET", "/ready", ready, ReadyReply, 200, (503,)),
    Route("GET", "/metrics", metrics, None),
    Route("GET", "/.well-known/security.txt", security_txt, None),
)

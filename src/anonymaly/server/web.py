# SPDX-License-Identifier: Apache-2.0
"""The web process: it knows declarations, ledgers and jobs, and has no way to rows, secrets or stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from anonymaly.errors import AnonymalyError
from anonymaly.server.admission import Admission
from anonymaly.server.console.gate import ConsoleGate
from anonymaly.server.console.make import console_of
from anonymaly.server.headers import Outermost
from anonymaly.server.permissions import PERMISSIONS
from anonymaly.server.problems import Problem, internal, of_error, unknown
from anonymaly.server.routes import ALL
from anonymaly.server.routes.route import Reply, Route
from anonymaly.server.services import Services
from anonymaly.server.settings import WebSettings
from anonymaly.server.unusable import unusable
from anonymaly.version import __version__

# Newer FastAPI would hand requests to whatever telemetry the environment names.
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


class ProblemReply(Reply):
    """An error: what is wrong, with which field, and the next step (RFC 9457)."""

    type: str
    title: str
    status: int
    field: str | None
    problem: str
    next_step: str | None


class _StrictRequest(Request):
    """A request whose JSON was read at the gate."""

    async def json(self) -> Any:
        return self.state.json


class _StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return handle


class Application(FastAPI):
    """The routes and their document."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, with the form of errors and of keys."""
        if self.openapi_schema is None:
            document = super().openapi()
            parts = document.setdefault("components", {})
            parts["schemas"]["ProblemReply"] = ProblemReply.model_json_schema()
            scheme = {"type": "http", "scheme": "bearer", "description": "A key: anm_…"}
            parts["securitySchemes"] = {"key": scheme}
            self.openapi_schema = document
        return self.openapi_schema


def make_app(settings: WebSettings) -> FastAPI:
    """Return the application of one web process.

    Parameters
    ----------
    settings : WebSettings
        Where the shared tables, the outbox and the ledgers are, and what is refused at once.
    """
    services = Services(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        services.close()

    app = make_document(lifespan=lifespan)
    app.state.services = services
    routes = [route for route in app.router.routes if isinstance(route, APIRoute)]
    app.add_middleware(Admission, services=services, routes=routes)
    app.add_middleware(ConsoleGate, **console_of(services))
    app.add_middleware(Outermost, counts=services.counts)
    return app


def make_document(**options: Any) -> Application:
    """Return the application's routes without anything behind them: enough for the OpenAPI document."""
    app = Application(
        title="anonymaly",
        version=__version__,
        summary="Questions about tables that charge an account first, and keep a proved promise.",
        openapi_url=None,  # served by a route of ours, with the headers of all others
        docs_url=None,  # loads scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
        **options,
    )
    app.router.route_class = _StrictRoute
    for route in ALL:
        _add(app, route)
    for kind in (Problem, AnonymalyError, HTTPException, RequestValidationError, RecursionError):
        app.add_exception_handler(kind, _respond)
    return app


def _add(app: FastAPI, route: Route) -> None:
    name = route.endpoint.__name__
    permission = PERMISSIONS[name]  # or it is no route
    extra: dict[str, Any] = {"x-roles": list(permission.roles), "x-needs": permission.needs}
    app.add_api_route(
        route.path,
        route.endpoint,
        methods=[route.method],
        operation_id=name,
        name=name,
        status_code=route.status,
        response_model=None,
        response_class=Response,
        responses=_responses(route),
        openapi_extra=extra | ({} if permission.anyone else {"security": [{"key": []}]}),
    )


def _responses(route: Route) -> dict[int | str, dict[str, Any]]:
    problem = {
        "description": "A problem",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemReply"}}},
    }
    if route.gives is None:
        content: dict[str, Any] = {"content": {"*/*": {"schema": {}}}}  # bytes of any kind
    else:
        content = {"model": route.gives}
    words = {200: "Done", 201: "Made", 202: "Still running", 503: "Not now"}
    given: dict[int | str, dict[str, Any]] = {
        status: {"description": words[status], **content} for status in (route.status, *route.also)
    }
    return {**given, "default": problem}


async def _respond(request: Request, error: Exception) -> Response:
    return _problem(request, error).response()


def _problem(request: Request, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, AnonymalyError):
        return of_error(error)
    if isinstance(error, RequestValidationError):
        return unusable(error.errors(), request.scope["endpoint"])
    if isinstance(error, RecursionError):
        return Problem(422, "is nested too deeply", field="query", next_step="Write a simpler question.")
    missing = isinstance(error, HTTPException) and error.status_code == 404
    return unknown() if missing else internal()

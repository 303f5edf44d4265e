# SPDX-License-Identifier: Apache-2.0
"""Errors over HTTP: problem+json (RFC 9457), each with its field, its numbers and the next step.

| status | when |
|---|---|
| 400 | the body is no JSON |
| 401 | no key, or one that is malformed, unknown, expired or revoked: one answer for all |
| 402 | more than remains of the limit |
| 403 | not granted, or not allowed by a rule |
| 404 | unknown or forbidden: one answer for both |
| 405 | another method |
| 408 | the body did not arrive in time |
| 409 | still running, or the declaration was amended meanwhile |
| 410 | the owner erased the answer |
| 413, 415 | the body is too large; it is compressed, or no JSON by its type |
| 422 | a field that cannot be used |
| 429 | too many requests, or jobs that have not ended |
| 503 | no worker is ready for the table, or the ledger cannot be read |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from anonymaly.core.value import canonical_json
from anonymaly.errors import (
    AnonymalyError,
    AnswerForgotten,
    BudgetExceeded,
    DeclarationChanged,
    InputError,
    LedgerError,
    Refused,
)

MEDIA_TYPE = "application/problem+json"
BUSY = (429, 503)  # too much is under way, or no worker is ready: it is as well to try again
TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    402: "Limit exceeded",
    403: "Refused",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    409: "Conflict",
    410: "Gone",
    413: "Content too large",
    415: "Unsupported media type",
    422: "Unusable input",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
}
# From the most special to the most general.
_STATUS: tuple[tuple[type[AnonymalyError], int], ...] = (
    (BudgetExceeded, 402),
    (DeclarationChanged, 409),
    (AnswerForgotten, 410),
    (Refused, 403),
    (InputError, 422),
    (LedgerError, 503),
)


class Problem(Exception):
    """What ends a request with an error."""

    def __init__(
        self,
        status: int,
        problem: str,
        *,
        field: str | None = None,
        next_step: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(problem)
        self.status = status
        self.problem = problem
        self.field = field
        self.next_step = next_step
        self.headers = dict(headers or {})

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data."""
        title = TITLES[self.status]
        return {
            "type": f"urn:anonymaly:problem:{title.lower().replace(' ', '-')}",
            "title": title,
            "status": self.status,
            "field": self.field,
            "problem": self.problem,
            "next_step": self.next_step,
        }

    def response(self) -> Response:
        """Return the problem as a response."""
        text = canonical_json(self.to_dict())
        return Response(text, self.status, media_type=MEDIA_TYPE, headers=self.headers)


def unknown() -> Problem:
    """Return the one answer for what is unknown and what is forbidden."""
    return Problem(
        404,
        "there is nothing here that this key may see",
        next_step="Check the address and whose key it is: analysts need a grant, and auditors ask nothing.",
    )


def unauthorized() -> Problem:
    """Return the one answer for a key that is missing, malformed, unknown, expired or revoked."""
    return Problem(
        401,
        "needs a key that is valid",
        field="Authorization",
        next_step="Send the header 'Authorization: Bearer anm_…'; the owner gives out keys.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def internal() -> Problem:
    """Return the one answer for what should not happen."""
    return Problem(500, "something went wrong", next_step="The owner's log says what.")


def failed() -> Problem:
    """Return the one thing that is said of a job that has no answer, wherever it was when it failed."""
    return Problem(
        500,
        "no answer came of it; if it was charged, the charge stands",
        next_step="The statement has your charges. repeat= asks again at a new charge.",
    )


def not_ready(table: str) -> Problem:
    """Return the answer while no worker says that it could read the table."""
    return Problem(
        503,
        f"no worker is ready for {table}; nothing was charged",
        field="table",
        next_step="Try again in a minute, or tell the owner.",
        headers={"Retry-After": "15"},
    )


def of_error(error: AnonymalyError) -> Problem:
    """Return an error of the package as a problem."""
    status = next((number for kind, number in _STATUS if isinstance(error, kind)), 500)
    if isinstance(error, LedgerError):
        # Its words name places on the server.
        return Problem(503, "the ledger cannot be read", field="ledger", next_step="Tell the owner.")
    if status == 500:
        return internal()
    return Problem(status, error.problem, field=error.field, next_step=error.next_step)


def of_result(problem: Mapping[str, Any]) -> Problem:
    """Return what a job was refused with (`AnonymalyError.to_dict`) as a problem."""
    by_name = {kind.__name__: number for kind, number in _STATUS}
    others = {
        "RuleNotDeclared": 403,
        "ExpressionError": 422,
        "SchemaError": 422,
        "NotReady": 503,
        "ProviderAway": 503,
    }
    status = (by_name | others).get(str(problem.get("error")), 403)
    return Problem(
        status, str(problem["problem"]), field=problem.get("field"), next_step=problem.get("next_step")
    )

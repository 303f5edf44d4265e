# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a request that does not fit its route: the field, the reason and the next step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_type_hints

from pydantic_core import ErrorDetails

from anonymaly.core.mistakes import describe_errors, reason_of
from anonymaly.server.problems import Problem

LONGEST_FIELD = 200
DOCUMENT = "Look at /v1/openapi.json for what it takes."


def unusable(errors: Sequence[ErrorDetails], endpoint: Callable[..., Any]) -> Problem:
    """Return the problem of a request, by FastAPI's list of errors and the function of its route."""
    hints = get_type_hints(endpoint, include_extras=True)
    part = errors[0]["loc"][0]
    found = [error for error in errors if error["loc"][0] == part]
    return _of_body(found, hints) if part == "body" else _of_parameter(found[0], hints)


def _of_body(errors: Sequence[ErrorDetails], hints: dict[str, Any]) -> Problem:
    kind = hints["body"]
    inside: list[ErrorDetails] = [{**error, "loc": error["loc"][1:]} for error in errors]
    said = describe_errors(inside, kind)
    if said.field is None:  # there is none, or it is another kind of JSON
        return Problem(422, "must be a JSON object", field="body", next_step=said.next_step)
    return Problem(422, said.problem, field=said.field[:LONGEST_FIELD], next_step=said.next_step)


def _of_parameter(error: ErrorDetails, hints: dict[str, Any]) -> Problem:
    """Return the problem with a header, or with a part of the address."""
    part, name = (str(item) for item in error["loc"][:2])
    described = next(
        (
            item.description
            for item in getattr(hints.get(name.replace("-", "_")), "__metadata__", ())
            if getattr(item, "description", None)
        ),
        None,
    )
    field = name.title() if part == "header" else name
    give = "Send the header" if part == "header" else "Give"
    step = (
        DOCUMENT
        if described is None
        else f"{give} {field}: {described[:1].lower()}{described[1:].rstrip('.')}."
    )
    return Problem(422, reason_of(error, "the request"), field=field[:LONGEST_FIELD], next_step=step)

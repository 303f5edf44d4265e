# SPDX-License-Identifier: Apache-2.0
"""Errors about the fields of a value, in our own words: the field, the reason, the next step."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from anonymaly.core.suggestions import guess
from anonymaly.errors import InputError

REQUIRED = "is required"
# pydantic's kinds of mistake → our words; what stands in braces is in its context.
_WORDS = {
    "missing": REQUIRED,
    "string_type": "must be text",
    "string_sub_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be finite, not NaN or infinity",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "none_required": "must be left out",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be names with values",
    "mapping_type": "must be names with values",
    "model_type": "must be {class_name}",
    "model_attributes_type": "must be {class_name}",
    "literal_error": "must be {expected}",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have at most {max_length}",
    "date_type": "must be a date",
    "datetime_type": "must be a moment",
}
_FALLBACK = "does not fit"


def describe_mistake(problem: ValidationError, kind: type[BaseModel]) -> InputError:
    """Say what is wrong with a value; never what was given, which may be about a person."""
    return describe_errors(problem.errors(include_url=False, include_input=False), kind)


def describe_errors(found: Iterable[ErrorDetails], kind: type[BaseModel]) -> InputError:
    """Say what is wrong with a value by pydantic's list."""
    # A name that is not a field is reported first: it is often why another one is missing.
    errors = sorted(found, key=lambda error: error["type"] != "extra_forbidden")
    places = [_place(error) for error in errors]
    first = places[0][:1]
    # Of the forms that a field may have, the one that fits farthest is the one that was meant.
    depth = max(len(place) for place in places if place[:1] == first)
    chosen = next(place for place in places if place[:1] == first and len(place) == depth)
    reasons = [
        reason_of(error, kind.__name__)
        for error, place in zip(errors, places, strict=True)
        if place == chosen
    ]
    others = {place[0] for place in places if place[:1] not in (first, ())}
    missing = {
        place[0]
        for error, place in zip(errors, places, strict=True)
        if error["type"] == "missing" and len(place) == 1
    }
    also = [
        f"also {what}: {', '.join(sorted(names))}"
        for what, names in (("missing", others & missing), ("wrong", others - missing))
        if names
    ]
    reason = _joined(reasons) + (f" ({'; '.join(also)})" if also else "")
    next_step = _next_step(chosen[0] if chosen else None, kind, reasons[0])
    return InputError(reason, field=".".join(chosen) or None, next_step=next_step)


def _place(error: ErrorDetails) -> tuple[str, ...]:
    """Return where a mistake is, without the tags by which pydantic tells the forms of a field apart."""
    field, *inside = [str(part) for part in error["loc"]] or [""]
    return (field, *(part for part in inside if not _FORM.match(part))) if field else ()


_FORM = re.compile(
    r"(str|int|float|bool|tuple|list|dict|none|nullable|Bins|Dates)$"
    r"|(function|constrained|lax|strict|json|literal|is-instance|tuple|list|dict)[-\[]"
)


def reason_of(error: ErrorDetails, kind: str) -> str:
    """Say what is wrong with one field."""
    if error["type"] == "extra_forbidden":
        return f"is not a field of {kind}"
    if error["type"] in ("value_error", "assertion_error"):  # our own validators' words
        text = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
        return text[:1].lower() + text[1:]
    context = _Known(error.get("ctx", {}))
    if error["type"] == "string_too_short" and context["min_length"] != 1:
        return f"must have at least {context['min_length']} characters"
    return _WORDS.get(error["type"], _FALLBACK).format_map(context)


class _Known(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "something else"


def _joined(reasons: list[str]) -> str:
    """Return one sentence: a field that may be text or Bins must be the one or the other."""
    distinct = list(dict.fromkeys(reasons))
    if len(distinct) > 1 and all(reason.startswith("must be ") for reason in distinct):
        return "must be " + " or ".join(reason.removeprefix("must be ") for reason in distinct)
    return distinct[0]


def _next_step(field: str | None, kind: type[BaseModel], reason: str) -> str:
    fields = [name for name in kind.model_fields if name != "type"]
    if field not in kind.model_fields:
        return f"{guess(field or '', fields)}{kind.__name__} takes {', '.join(fields) or 'no fields'}."
    if reason == _WORDS["tuple_type"]:
        return f"Put it in brackets, as in {field}=[…]."
    described = kind.model_fields[field].description
    if described is None:
        return f"{kind.__name__} takes {', '.join(fields)}."
    return f"Give {field}: {described[:1].lower()}{described[1:].rstrip('.')}."

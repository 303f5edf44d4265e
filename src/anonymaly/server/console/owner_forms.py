# SPDX-License-Identifier: Apache-2.0
"""An owner's forms: read into the bodies that /v1 takes, with problems at the fields that people see."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from anonymaly.core.mistakes import REQUIRED, describe_mistake
from anonymaly.server.console.forms import Sent
from anonymaly.server.problems import Problem

Read = TypeVar("Read", bound=BaseModel)
ALLOTTED = "allotted."  # + a rule: how many questions under it
# What /v1 and the ledger call a field → the field of the form, the longest first.
FIELDS: Mapping[str, str] = {
    "period.epsilon": "each_period",
    "period.every": "every",
    "period.from": "begins",
    "period": "each_period",
    "question_limit": "question_limit",
    "questions": "questions",
    "rules": "rules",
    "budget": "to",
    "limit": "total",
    "total": "total",
    "until": "until",
    "id": "key",
}


def read_body(kind: type[Read], data: Mapping[str, Any]) -> Read:
    """Read what a form says as /v1 reads a request; the problem names the first field that does not fit."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        said = describe_mistake(error, kind)
    empty = data.get(str(said.field)) == "" or said.problem.startswith(REQUIRED)
    words = "must be filled in" if empty else said.problem
    raise Problem(422, words, field=said.field, next_step="Correct it, and send it again.")


def at_field(problem: Problem) -> dict[str, Any]:
    """Return a problem as the template shows it: at the field of the form that it is about."""
    field = (problem.field or "").removeprefix("body.").removeprefix("terms.")
    found = next((name for known, name in FIELDS.items() if f"{field}.".startswith(f"{known}.")), field)
    return {**problem.to_dict(), "field": found or None}


def grant_data(form: Sent) -> dict[str, Any]:
    """Return what a grant's form says, as /v1 takes it; what is left empty is left out."""
    data: dict[str, Any] = {"total": form.get("total"), "reason": form.get("reason")}
    if form.get("each_period") or form.get("every"):
        today = datetime.now(UTC).date().isoformat()
        period = {"epsilon": form.get("each_period"), "every": form.get("every")}
        data["period"] = {**_said(period), "from": form.get("begins") or today}
    data |= _said({"question_limit": form.get("question_limit"), "until": form.get("until")})
    if form.all("questions"):
        data["questions"] = form.all("questions")
    rules: dict[str, Any] = {name: _number(form, name) for name in form.all("rules")}
    if form.has("any_rule"):
        rules["any"] = True
    return (
        data | ({"rules": rules} if rules else {}) | ({"overcommit": True} if form.has("overcommit") else {})
    )


def key_data(form: Sent) -> dict[str, Any]:
    """Return what the form of a new key says, as /v1 takes it."""
    days = form.get("expires_in_days")
    return {
        "person": form.get("person"),
        "role": form.get("role"),
        "label": form.get("label"),
        "expires_in_days": int(days) if days.isascii() and days.isdecimal() and len(days) < 10 else days,
    }


def kept(form: Sent) -> list[tuple[str, str]]:
    """Return all that a form says but its token and buttons, to be sent once more from a second page."""
    left_out = ("csrf", "confirmed", "change")
    return [(name, text) for name, texts in form.texts.items() if name not in left_out for text in texts]


def _number(form: Sent, rule: str) -> int | None:
    text = form.get(ALLOTTED + rule)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise Problem(
            422,
            f"must be a whole number of questions under {rule}",
            field="rules",
            next_step="Leave it empty for any number.",
        )
    return int(text)


def _said(data: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in data.items() if text}

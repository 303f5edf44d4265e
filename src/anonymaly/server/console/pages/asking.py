# SPDX-License-Identifier: Apache-2.0
"""Asking: the form of a question, its preview, a rehearsal, and the question itself."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

from markupsafe import Markup

from anonymaly.ask.catalogue import load
from anonymaly.ask.plan import Plan
from anonymaly.ask.query import Query
from anonymaly.ask.seen import SeenPreview
from anonymaly.core.value import canonical_json
from anonymaly.core.value import digest as digest_of
from anonymaly.errors import AnonymalyError, InputError, Refused
from anonymaly.server import asking
from anonymaly.server.console.error_curve import error_curve
from anonymaly.server.console.forms import Sent
from anonymaly.server.console.question_form import fields_of, query_of, says
from anonymaly.server.console.visit import ConsolePage, Moved, Outcome, Shown, Visit
from anonymaly.server.looking import own_of
from anonymaly.server.problems import Problem, of_error, unknown
from anonymaly.server.services import View, view

LARGEST_REPEAT = 2**53
CHANGED = Problem(
    422,
    "the question is another one than that of the preview; nothing was charged",
    next_step="Look at the preview below. If you want to ask that, press the button there again.",
)


def ask_page(visit: Visit) -> Shown:
    """Show the form of a question; what the address holds is filled in."""
    seen, kind = _asked(visit)
    return _form(visit, seen, kind, visit.query if visit.query.texts else None)


def send_question(visit: Visit) -> Outcome:
    """Do what the button says: preview, rehearse or ask."""
    seen, kind = _asked(visit)
    table, services, caller = seen.table.name, visit.services, visit.caller
    try:
        query = query_of(kind, seen.table.declaration, visit.form)
        repeat = _repeat(visit.form)
        found = asking.previews(services, caller, table, [query])[0]
        shown = _preview(visit, seen, found, query, repeat)
        match visit.form.get("do"):
            case "rehearse":
                return Moved(f"/jobs/{asking.rehearse(services, caller, table, query).id}")
            case "ask" if visit.form.get("previewed") == shown["digest"]:
                key = _once(visit.form, query, repeat)
                job, _ = asking.ask(services, caller, table, query, idempotency_key=key, repeat=repeat)
                return Moved(f"/jobs/{job.id}")
            case "ask":
                return _form(visit, seen, kind, visit.form, preview=shown, problem=CHANGED)
            case _:
                return _form(visit, seen, kind, visit.form, preview=shown)
    except Problem as problem:
        return _form(visit, seen, kind, visit.form, problem=problem)
    except AnonymalyError as error:
        return _form(visit, seen, kind, visit.form, problem=of_error(error))


def _asked(visit: Visit) -> tuple[View, type[Query]]:
    seen = view(visit.services, visit.caller, visit.places["table"])
    if visit.places["question"] not in seen.table.questions:
        raise unknown()
    kind: type[Query] = load(visit.places["question"])
    return seen, kind


def _form(
    visit: Visit,
    seen: View,
    kind: type[Query],
    sent: Sent | None,
    *,
    preview: dict[str, Any] | None = None,
    problem: Problem | None = None,
) -> Shown:
    fields = fields_of(kind, seen.table.declaration, sent)
    plan = None if preview is None else preview.pop("picture")
    data = {
        "table": seen.table.name,
        "ready": seen.table.ready,
        "paused": seen.paused,
        "own": own_of(seen),
        "question": {"name": kind.question, "is": says(kind)},
        "fields": fields,
        "labels": {field["name"]: field["label"] for field in fields},
        "repeat": "0" if sent is None else sent.get("repeat", "0"),
        "once": (sent.get("once") if sent is not None else "") or secrets.token_hex(16),
        "preview": preview,
        "problem": None if problem is None else _at_field(problem.to_dict()),
    }
    status = 200 if problem is None else problem.status
    return Shown("ask.html", data, status, {"picture": plan})


def _at_field(problem: dict[str, Any]) -> dict[str, Any]:
    """Name the field of the form, not the part of it that is wrong."""
    return {**problem, "field": problem["field"] and str(problem["field"]).partition(".")[0]}


def _preview(
    visit: Visit, seen: View, found: SeenPreview, query: dict[str, Any], repeat: int
) -> dict[str, Any]:
    relation, plan = found.guarantee.relation, _plan(visit, seen, query)
    return {
        **found.to_dict(),
        "warning": found.warning,
        "factor": str(found.guarantee.factor),
        "protected": relation.protects(),
        "not_protected": relation.does_not_protect(),
        "digest": digest_of([query, repeat]),
        "seconds": seen.table.slot(found.query.question),
        "plan": None if plan is None else plan.to_dict(),
        "picture": None if plan is None else _picture(plan),
    }


def _plan(visit: Visit, seen: View, query: dict[str, Any]) -> Plan | None:
    """Return the error over ε, where it is one number."""
    try:
        return asking.plan(visit.services, visit.caller, seen.table.name, query, None)
    except (InputError, Refused):
        return None


def _picture(plan: Plan) -> Markup:
    points = [(line.epsilon, line.error) for line in plan.lines if line.error is not None]
    return error_curve(points, float(plan.epsilon), plan.measure.unit)


def _repeat(form: Sent) -> int:
    text = form.get("repeat") or "0"
    if not (text.isascii() and text.isdigit()) or int(text[:17]) > LARGEST_REPEAT:
        raise InputError(
            "must be a whole number from 0 on",
            field="repeat",
            next_step="Leave 0, unless you want a fresh draw.",
        )
    return int(text[:17])


def _once(form: Sent, query: dict[str, Any], repeat: int) -> str:
    """Return the idempotency key: a form that is sent twice asks once, and one that was changed asks anew."""
    once = form.get("once")[:64] or secrets.token_hex(16)
    return hmac.new(once.encode(), canonical_json([query, repeat]).encode(), "sha256").hexdigest()


PAGES = (
    ConsolePage("GET", "/tables/{table}/ask/{question}", ask_page),
    ConsolePage("POST", "/tables/{table}/ask/{question}", send_question),
)

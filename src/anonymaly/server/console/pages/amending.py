# SPDX-License-Identifier: Apache-2.0
"""Proposing to amend a declaration: its text, what would change for whom, and the proposal to the host."""

from __future__ import annotations

from typing import Any

import yaml
from starlette.concurrency import run_in_threadpool

from anonymaly.declare.manifest import LARGEST_FILE, parse_yaml
from anonymaly.errors import InputError
from anonymaly.server import owning
from anonymaly.server.amending import fields_of, refuse_amended_since
from anonymaly.server.console.doing import Checked, moved, try_twice
from anonymaly.server.console.owner_forms import read_body
from anonymaly.server.console.rendering import segment
from anonymaly.server.console.table_head import head_of, seen_by
from anonymaly.server.console.visit import ConsolePage, Outcome, Shown, Visit
from anonymaly.server.proposals import list_proposals
from anonymaly.server.routes.amendments import ProposedBody
from anonymaly.server.services import View

FIELD = "declaration"
BESIDE = "replaces"  # the entry of the declaration that the change is shown beside
ON_HOST = "It is put in force on the host, which shows what it changes. Until then nothing changes."
LOOSENS = ": from now on"  # in what is said of a rule or column that protects fewer
LEARNED = "Learned from rows: what it shows of them is outside of every promise, and statements say so."
NOT_LEARNED = "Not learned from rows, as you say."
STAYS = "Budget and charges stay, and answers stay under the declaration that they were asked under."


def amend_page(visit: Visit) -> Shown:
    """Show the declaration in force, to be changed."""
    return _form(visit, seen_by(visit), {}, None, None)


async def amend_form(visit: Visit) -> Outcome:
    """Say what a changed declaration would do, and propose it from a second page."""
    table, form = visit.places["table"], visit.form
    seen = await run_in_threadpool(seen_by, visit)
    said = {FIELD: form.get(FIELD), "reason": form.get("reason"), "learned": form.has("learned")}

    def check() -> Checked:
        given = {FIELD: _read(form.get(FIELD)), "reason": form.get("reason")}
        body = read_body(ProposedBody, {**given, "learned_from_rows": form.has("learned")})
        found = owning.amendment_of(visit.services, visit.caller, table, body.declaration)
        if form.has("confirmed"):  # what is proposed must be what was shown
            refuse_amended_since(str(found.amendment.replaces), form.get(BESIDE))
        amendment, why = found.amendment, {**given, "learned_from_rows": body.learned_from_rows}
        del why[FIELD]
        loosens = [line for line in found.rules if LOOSENS in line]
        return Checked(
            f"What would change in {table}",
            [
                *found.differences,
                *(line for line in found.rules if line not in loosens),
                *_stays(found.stays),
                LEARNED if body.learned_from_rows else NOT_LEARNED,
                ON_HOST,
            ],
            body.reason,
            "Propose it to the host",
            lambda: owning.amend(
                visit.services, visit.caller, table, body.declaration, why, amendment.replaces
            ),
            ("This leaves people unprotected", *loosens) if loosens else None,
            {BESIDE: str(amendment.replaces)},
        )

    tried = await try_twice(visit, check)
    if tried.done is not None:
        return moved(f"/tables/{segment(table)}/rules", tried.done, "running")
    return await run_in_threadpool(_form, visit, seen, said, tried.problem, tried.checked, tried.status)


def _read(text: str) -> dict[str, Any]:
    if len(text) > LARGEST_FILE:
        raise InputError(
            f"has more than {LARGEST_FILE:,} characters", field=FIELD, next_step="Amend it on the host."
        )
    return dict(parse_yaml(text, "the text", "Correct it, and look again."))


def _stays(names: tuple[str, ...]) -> list[str]:
    """Say which questions are still the same: what they use did not change."""
    same = "Questions that use nothing else are the same: what was charged for them is not charged again."
    return [*([f"As it was: {', '.join(names)}. {same}"] if names else []), STAYS]


def _form(
    visit: Visit,
    seen: View,
    said: dict[str, Any],
    problem: dict[str, Any] | None,
    checked: dict[str, Any] | None,
    status: int = 200,
) -> Shown:
    now = {name: item for name, item in fields_of(seen.table.declaration).items() if item not in (None, {})}
    text = yaml.safe_dump(now, sort_keys=False, allow_unicode=True, default_flow_style=None, width=76)
    data = {
        "table": head_of(seen),
        "said": {FIELD: text, "reason": "", "learned": False, **said},
        "problem": None if problem is None else _in_form(problem),
        "checked": checked,
        "waiting": list_proposals(visit.services.state, table=seen.table.name, waiting=True),
    }
    return Shown("amend.html", data, status)


def _in_form(problem: dict[str, Any]) -> dict[str, Any]:
    """Return a problem at its field of the form: all but why is in the text, and is named in words."""
    field = problem["field"]
    if field in ("reason", FIELD, None):
        return {**problem, "field": field or FIELD}
    return {**problem, "field": FIELD, "problem": f"{field}: {problem['problem']}"}


PAGES = (
    ConsolePage("GET", "/tables/{table}/amend", amend_page),
    ConsolePage("POST", "/tables/{table}/amend", amend_form),
)
